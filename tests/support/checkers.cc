#include "tests/support/checkers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "arm/url.h"
#include "base/text.h"

namespace armgate::world {
namespace {

using rules::PlanKind;

// What ARM takes one write for at a time: a virtual network with its subnets, a resource with its tags.
std::string entity_of(std::string_view target) {
  std::string path = lower_text(arm::path_of(target));
  for (const char* below : {"/subnets/", "/providers/microsoft.resources/tags/"}) {
    if (const size_t at = path.find(below); at != path.npos) path.resize(at);
  }
  return path;
}

std::string operation_url(const arm::Response& answer) {
  const auto status = answer.head.fields.get("Azure-AsyncOperation");
  return std::string(status.empty() ? answer.head.fields.get("Location") : status);
}

bool is_armgates(const arm::Response& answer) { return answer.body.find(R"("code":"Armgate)") != std::string::npos; }

bool is_armgate_field(const arm::Field& field) { return starts_with_ignoring_case(field.name, "x-armgate-"); }

}  // namespace

Checkers::Checkers(SimClock& clock, sim::SimArm& arm, std::shared_ptr<const rules::Ruleset> rules, Trace& trace)
    : clock_(clock), arm_(arm), rules_(std::move(rules)), trace_(trace) {}

void Checkers::violated(std::string promise, std::string what) {
  trace_.add(clock_.now(), "VIOLATED {}: {}", promise, what);
  violations_.push_back({std::move(promise), std::move(what)});
}

uint64_t Checkers::exchange_of(const arm::Request& request) {
  const auto text = request.head.fields.get("x-sim-exchange");
  uint64_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id);
  return id;
}

void Checkers::served(const SimLink& link) {
  const auto& head = link.exchange.request.head;
  Record record;
  record.id = exchange_of(link.exchange.request);
  record.what = fmt::format("#{} {} {}", record.id, head.method_token, short_path(head.target));
  record.write_id = head.fields.get("x-sim-write-id");
  record.is_read = head.method == arm::Method::Get;
  record.entity = entity_of(head.target);
  record.served = clock_.now();
  record.link = &link;
  const auto plan = rules::make_plan(*rules_, rules::Mode::Protect, head.method, head.target);
  if (plan && plan->kind == PlanKind::Write) {
    record.is_write = true;
    for (const auto& key : plan->keys) {
      record.keys.push_back(key.id);
      queues_[key.id].push_back(record.id);
    }
  }
  trace_.add(clock_.now(), "{} by {} {}", record.what, link.exchange.from.proxy_user, record.write_id);
  records_.emplace(record.id, std::move(record));
}

void Checkers::left(const SimLink& link) {
  Record& record = records_.at(exchange_of(link.exchange.request));
  trace_.add(clock_.now(), "{} left", record.what);
  if (!record.left) record.left = clock_.now();
}

void Checkers::answered(const SimLink& link) {
  Record& record = records_.at(exchange_of(link.exchange.request));
  record.link = nullptr;
  for (const auto& key : record.keys) std::erase(queues_[key], record.id);
  const auto& answer = link.answer();
  trace_.add(clock_.now(), "{} -> {} {} guard={} reason={}", record.what, answer.head.status,
             link.complete() ? "" : "undelivered", link.exchange.report.guard, link.exchange.report.reason);
  if (link.heads_written() > 1 || link.ends_written() > 1) violated("P5", record.what + " was answered twice");
  if (!link.complete()) {
    const bool nobody_there = link.gone() || link.heads_written() == 1;
    if (!nobody_there) violated("P5", record.what + " was not answered");
    return;
  }
  if (!link.body_fits()) violated("P5", record.what + " got a body of another length than declared");
  check_unaltered(record, link);
  if (is_armgates(answer) && answer.head.status != 503 && answer.head.fields.has("Retry-After")) {
    violated("P5", record.what + " was refused for good with a Retry-After");
  }
}

// The newest sending of a write that ARM answered, whichever of the client's requests it belonged to.
const Checkers::Record* Checkers::sending_of(const std::string& write_id) const {
  const Record* newest = nullptr;
  for (const auto& [id, record] : records_) {
    if (record.write_id == write_id && record.last_answer) newest = &record;
  }
  return newest;
}

void Checkers::check_unaltered(const Record& record, const SimLink& link) {
  const auto& answer = link.answer();
  if (is_armgates(answer) || link.exchange.report.reason == "answer-recovered-by-reading") return;
  const Record* answered = &record;
  if (link.exchange.report.replayed) answered = sending_of(record.write_id);
  if (answered == nullptr || !answered->last_answer) {
    violated("P5", record.what + " got an answer that ARM never gave");
    return;
  }
  const auto& arms = *answered->last_answer;
  std::vector<arm::Field> fields;
  std::copy_if(answer.head.fields.begin(), answer.head.fields.end(), std::back_inserter(fields),
               [](const arm::Field& field) { return !is_armgate_field(field); });
  const bool same_fields = std::equal(fields.begin(), fields.end(), arms.head.fields.begin(), arms.head.fields.end(),
                                      [](const auto& a, const auto& b) { return a.name == b.name && a.value == b.value; });
  if (answer.head.status != arms.head.status || answer.body != arms.body || !same_fields) {
    violated("P5", fmt::format("{}: ARM's answer {} was altered", record.what, arms.head.status));
  }
}

void Checkers::acknowledged(const std::string& write_id) { acknowledged_ids_.insert(write_id); }

void Checkers::sending(const arm::Request& request) {
  const auto found = records_.find(exchange_of(request));
  if (found == records_.end()) {
    if (request.head.method != arm::Method::Get) violated("P4", "armgate made up a " + request.head.method_token);
    return;
  }
  Record& record = found->second;
  if (record.is_read && record.sends == 0 && clock_.now() != record.served) {
    violated("P6", record.what + " waited before it was sent");
  }
  if (record.is_write) {
    check_order(record);
    check_alone(record, request);
  }
  if (record.sends > 0) check_proof(record, request);
  ++record.sends;
  record.in_flight = true;
  record.last_how.reset();
  record.last_if_match = request.head.fields.get("If-Match");
}

// Whether it waits for the answer of an earlier sending of the same write instead of its turn.
bool Checkers::waits_for_own(const Record& record) const {
  return std::any_of(records_.begin(), records_.end(), [&](const auto& entry) {
    return entry.second.write_id == record.write_id && entry.second.id < record.id && entry.second.sends > 0;
  });
}

void Checkers::check_order(const Record& record) {
  if (record.sends > 0) return;
  if (record.left && *record.left < clock_.now()) violated("P3", record.what + " was sent although its client had left");
  for (const auto& key : record.keys) {
    for (const uint64_t earlier : queues_[key]) {
      if (earlier == record.id) break;
      const Record& before = records_.at(earlier);
      const bool being_answered = before.link != nullptr && before.link->heads_written() > 0;
      if (before.sends == 0 && !before.left && !being_answered && !waits_for_own(before)) {
        violated("P3", fmt::format("{} overtook {} on {}", record.what, before.what, key));
      }
    }
  }
}

// ARM must have proved that the sending before had no effect, or a second one must be harmless.
void Checkers::check_proof(const Record& record, const arm::Request& request) {
  if (record.is_read || !record.last_how) return;
  const int status = record.last_answer ? record.last_answer->head.status : 0;
  bool harmless = false;
  switch (*record.last_how) {
    case How::NotSent: harmless = true; break;
    case How::Answered: harmless = status == 409 || status == 404 || status == 412; break;
    case How::Lost: {
      const auto if_match = request.head.fields.get("If-Match");
      const bool guarded = request.head.method == arm::Method::Put && !if_match.empty() && if_match == record.last_if_match;
      harmless = guarded || request.head.method == arm::Method::Delete;
      break;
    }
  }
  if (!harmless) violated("P4", fmt::format("{} was sent again after {}", record.what, status == 0 ? "a loss" : "an answer"));
}

bool Checkers::still_runs(const Accepted& write) {
  const auto url = arm::parse_url(write.url);
  if (!url) return false;
  arm::Request poll;
  poll.head.host = url->host;
  poll.head.target = url->target;
  const auto seen = arm_.handle(poll, clock_.now()).response;
  return seen.head.status == 202 || seen.body.find(R"("status":"InProgress")") != std::string::npos;
}

void Checkers::check_alone(const Record& record, const arm::Request&) {
  for (const auto& [id, other] : records_) {
    if (id != record.id && other.in_flight && other.is_write && other.entity == record.entity) {
      violated("P2", fmt::format("{} was sent while {} was on its way", record.what, other.what));
    }
  }
  auto& running = accepted_[record.entity];
  std::erase_if(running, [&](const Accepted& write) { return !still_runs(write); });
  for (const auto& write : running) {
    if (write.write_id == record.write_id) continue;  // its own earlier sending
    violated("P2", fmt::format("{} was sent while the operation of {} ran", record.what, write.what));
  }
}

void Checkers::applied(const arm::Request& request, const arm::Response& answer, bool late) {
  const auto found = records_.find(exchange_of(request));
  if (found == records_.end() || found->second.is_read || !arm::is_success(answer.head.status)) return;
  const Record& record = found->second;
  const bool again = !accepted_ids_.insert(record.write_id).second;
  hear_judge();
  // The client's own second sending of a create finds what its first one made.
  const bool overwrote = !again && answer.head.status == 200 && request.head.method == arm::Method::Put &&
                         request.head.fields.get("x-sim-base") == "absent";
  if (overwrote) violated("P1", record.what + " was a create and overwrote what had been created meanwhile");
  if (!late && record.is_write && !operation_url(answer).empty()) {
    accepted_[record.entity].push_back({record.id, record.write_id, record.what, operation_url(answer)});
  }
}

// Tells what ARM's judge found when it happens, not when all is over.
void Checkers::hear_judge() {
  const sim::Report report = arm_.report();
  for (; findings_heard_ < report.findings.size(); ++findings_heard_) {
    trace_.add(clock_.now(), "  judge: {}", short_path(report.findings[findings_heard_]));
  }
}

void Checkers::returned(const arm::Request& request, How how, const arm::Response* answer) {
  const auto found = records_.find(exchange_of(request));
  if (found == records_.end()) return;
  found->second.in_flight = false;
  found->second.last_how = how;
  if (answer != nullptr) {
    found->second.last_answer = *answer;
  } else {
    found->second.last_answer.reset();
  }
}

uint64_t Checkers::at_rest(Harms harms) {
  const sim::Report report = arm_.report();
  uint64_t counted = 0;
  const auto none = [&](uint64_t count, std::string_view what) {
    if (harms == Harms::Counted) counted += count;
    else if (count != 0) violated("P1", fmt::format("{} {}", count, what));
  };
  none(report.lost_updates, "lost updates");
  none(report.vanished, "members were wiped out");
  none(report.lost_increments, "lost increments");
  none(report.overcounted_increments, "increments that nobody declared");
  none(report.stale_writes_accepted, "writes were accepted that were built from an older state");
  if (report.bad_signatures != 0) violated("P7", "an operation URL was changed on its way");
  for (const auto& id : acknowledged_ids_) {
    if (!accepted_ids_.contains(id)) violated("P1", fmt::format("{} was acknowledged, but never took effect", id));
  }
  return counted;
}

}  // namespace armgate::world
