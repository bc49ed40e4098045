// journal_options.h – what the configuration says about the journal.
#pragma once

#include "proxy/config/config.h"
#include "proxy/journal/journal.h"

namespace armgate {

journal::Journal::Options journal_options(const Config& config);

}  // namespace armgate
