// check.h – what `armgate check` looks at besides the text of the configuration: the files that its options name, and
// what an operator may not have meant.
//
// Why: a service that does not start is noticed when it is needed. Nothing is made, opened for writing, locked or changed here.
#pragma once

#include "base/time.h"
#include "proxy/config/config.h"

namespace armgate {

struct FileFindings {
  rules::FaultList faults;    // `armgate run` would not start
  rules::FaultList warnings;  // it would, but not for long, or not safely
  rules::FaultList notices;   // what could not be looked at here and now: it is still to be made, or is another user's
  bool is_partial = false;    // something is another user's: what is in it is not known
};

// The start's own tests of files, as far as they change nothing. Another user than the service's may look, and before there
// is an authority: neither is a fault.
FileFindings look_at_files(const Config& config, WallTime now);

// Options that are good, but with which the service does less, or is open to more, than may have been meant.
rules::FaultList warnings_about_options(const Config& config);

}  // namespace armgate
