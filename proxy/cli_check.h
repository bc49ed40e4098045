// cli_check.h – what `armgate check` looks at besides the text of the configuration: the files that its options name.
//
// Why: a service that does not start is noticed when it is needed. Nothing is made, opened for writing or changed here.
#pragma once

#include "proxy/config.h"

namespace armgate {

// The options whose files armgate could not use now, as this user.
rules::FaultList faults_of_files(const Config& config);

}  // namespace armgate
