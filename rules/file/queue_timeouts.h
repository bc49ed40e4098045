// queue_timeouts.h – how long which clients can be kept waiting, as data (conf/rules/queue-timeouts.json;
// docs/design.md, "Waiting").
//
// Why: a client that gives up while its write waits has lost its answer, and one that is sent away too early asks again and
// again. How long each waits is its own constant, and its User-Agent is the only thing that tells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "rules/file/json_reader.h"
#include "rules/rule.h"

namespace armgate::rules {

struct QueueTimeout {
  SourceLine place;
  std::string user_agent;  // a part of the field's value, without case
  Duration wait_max{};
};

class QueueTimeouts {
 public:
  QueueTimeouts() = default;
  explicit QueueTimeouts(std::vector<QueueTimeout> rules);

  // The first entry whose part the User-Agent contains; null if none fits.
  const QueueTimeout* find(std::string_view user_agent) const;

 private:
  std::vector<QueueTimeout> rules_;
  std::vector<std::string> lowered_;  // what each looks for
};

// Everything that an entry can say, bound to `rule`.
SettingTable settings_of(QueueTimeout& rule);

// Complains of entries that an earlier one takes everything from.
void check_order(const std::vector<QueueTimeout>& rules, FaultList& faults);

}  // namespace armgate::rules
