// status.h – what a running service answers (answer.h), for people.
#pragma once

#include <string>
#include <string_view>

#include "cli/view/answer.h"

namespace armgate {

std::string status_text(const ShownStatus& status);

// The resources whose operations keep failing, or that never reach a final state.
std::string sick_text(const ShownStatus& status);
std::string sick_json(const ShownStatus& status);

// The queues: which write waits for which. With a resource (its canonical id) only those in which it or what is below it is
// wanted, each as a whole: the write in the way may be about something else.
std::string queue_text(const ShownStatus& status, std::string_view resource);
// The same as JSON.
std::string queue_json(const ShownStatus& status, std::string_view resource);

std::string unlocked_text(const ShownUnlock& unlock);

}  // namespace armgate
