// What passes while nothing can be recorded (cluster.when_away "fenced", docs/cluster.md): only what ARM itself would refuse if its
// client had missed anything. It stands in no line, holds nothing, and must be known to all once something can be recorded again.
#include <fmt/format.h>

#include "base/text.h"
#include "tests/support/checkers/checkers.h"

namespace armgate::world {
namespace {

bool names_its_base(const arm::Request& request) {
  const auto match = trim(request.head.fields.get("If-Match"));
  return (!match.empty() && match != "*") || trim(request.head.fields.get("If-None-Match")) == "*";
}

bool changes_a_state(arm::Method method) {
  return method == arm::Method::Put || method == arm::Method::Patch || method == arm::Method::Delete;
}

}  // namespace

// Armgate says of which it is so; whether it may be is judged here.
bool Checkers::goes_unrecorded(const Record& record, const arm::Request& request) {
  if (record.link == nullptr || record.link->exchange.report.reason != "sent-without-a-record") return false;
  const auto plan = rules::make_plan(*record.rules, rules::Mode::Protect, record.method, record.target);
  const bool heeds_etags = plan && plan->rule && plan->rule->guard.kind == rules::GuardKind::Etag;
  const auto wrong = [&](std::string_view why) {
    violated("P2", fmt::format("{} went without a record {}", record.what, why));
  };
  if (!promised_.is_out_of_reach || !promised_.is_out_of_reach(record.served))
    wrong("though it could have been recorded");
  else if (!changes_a_state(record.method) || !heeds_etags || !names_its_base(request) || !record.name.empty())
    wrong("though ARM would not refuse it if its client had missed anything");
  else if (request.body != record.body)
    wrong("and with another body than its client's");
  return true;
}

void Checkers::note_unrecorded(const Record& record) {
  const Exchange& exchange = record.link->exchange;
  unrecorded_.emplace(record.id, Unrecorded{exchange.client, exchange.planned.plan->resource_key, record.what});
}

// Of those that did something.
std::vector<Checkers::Unrecorded> Checkers::unrecorded() const {
  std::vector<Unrecorded> done;
  for (const auto& [id, one] : unrecorded_) {
    if (records_.at(id).took_effect) done.push_back(one);
  }
  return done;
}

}  // namespace armgate::world
