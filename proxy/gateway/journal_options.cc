#include "proxy/gateway/journal_options.h"

#include <algorithm>

namespace armgate {

journal::Journal::Options journal_options(const Config& config) {
  journal::Journal::Options options;
  options.file = config.journal.file;
  options.durability = config.journal.durability;
  options.write_max = config.journal.write_max;
  options.records_max = config.journal.records_max;
  options.recent = std::max(config.history.observation_age, config.history.repeat_keep);
  return options;
}

}  // namespace armgate
