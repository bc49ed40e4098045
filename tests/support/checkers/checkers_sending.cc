// What is checked at every sending: the base of its precondition (P1), that it is alone (P2), in order (P3), allowed to go
// again (P4) and, for reads, at once (P6).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "arm/etag.h"
#include "arm/url.h"
#include "json/tree.h"
#include "sim/json_text.h"
#include "sim/judge/leaves.h"
#include "sim/machine/address.h"
#include "tests/support/checkers/checkers.h"

namespace armgate::world {
namespace {

// Beyond it ARM has given a request up (docs/arm.md, "Limits and headers").
constexpr Duration kOnItsWayMax = std::chrono::seconds(60);
constexpr Duration kLateEffectMax = std::chrono::seconds(10);  // of what was lost

std::string operation_url(const arm::Response& answer) {
  const auto status = answer.head.fields.get("Azure-AsyncOperation");
  return std::string(status.empty() ? answer.head.fields.get("Location") : status);
}

bool is_lost(std::optional<UpstreamWatch::How> how) {
  return how == UpstreamWatch::How::Lost || how == UpstreamWatch::How::BrokenOff;
}

bool have_common(const std::vector<std::string>& some, const std::vector<std::string>& others) {
  return std::any_of(some.begin(), some.end(),
                     [&](const auto& key) { return std::find(others.begin(), others.end(), key) != others.end(); });
}

}  // namespace

void Checkers::sending(const arm::Request& request) {
  of_this_life_.insert(&request);
  const auto found = records_.find(exchange_of(request));
  if (found == records_.end()) {
    if (promised_.mode == rules::Mode::Observe) violated("P7", "armgate asked for itself: " + request.head.target);
    if (request.head.method != arm::Method::Get) violated("P4", "armgate made up a " + request.head.method_token);
    budgets_.armgate_asks(request.head, clock_.now());
    return;
  }
  Record& record = found->second;
  if (record.is_read && record.sends == 0) check_read(record);
  if (record.as_served) check_untouched(record, request);
  record.was_merged = record.is_write && request.body != record.body;
  if (record.is_write) {
    record.is_unrecorded = goes_unrecorded(record, request);
    if (record.is_unrecorded) note_unrecorded(record);
    if (!record.is_unrecorded) check_order(record);
    check_alone(record);
    check_base(record, request);
    if (record.was_merged) check_merged(record, request);
    in_flight_.insert(record.id);
  }
  const auto look = looks_.find(sim::address_key(sim::parse_id(arm::path_of(request.head.target))));
  if (record.is_write && look != looks_.end() && look->second.at >= record.served)
    record.looked_at.push_back(look->second.serial);
  if (record.sends > 0) check_proof(record, request);
  if (record.sends++ == 0) record.first_sent = clock_.now();
  record.sent = clock_.now();
  record.last_how.reset();
  record.last_if_match = request.head.fields.get("If-Match");
}

// At once, or after its share was granted where clients share a budget of ARM's.
void Checkers::check_read(const Record& record) {
  const bool takes_turns = promised_.budgets.fair && promised_.mode == rules::Mode::Protect;
  if (takes_turns) return budgets_.sent(record.id, clock_.now());
  // Which of ARM's operations a URL of armgate's own stands for, another process may be about to tell.
  const bool is_to_be_told = promised_.joining > Duration{} && record.target.find(kOwnOperations) != std::string::npos;
  if (is_to_be_told && clock_.now() <= record.served + promised_.joining) return;
  if (clock_.now() != record.served) violated("P6", record.what + " waited before it was sent");
}

// ARM must have proved that the sending before had no effect, or a second one must be harmless.
void Checkers::check_proof(const Record& record, const arm::Request& request) {
  if (record.is_read || !record.last_how) return;
  const auto& before = record.resent_answer ? record.resent_answer : record.last_answer;
  const int status = before ? before->head.status : 0;
  // The one before carries an ETag that is over, and ARM will not take it any more.
  const bool over = !record.last_if_match.empty() && etag_of(request.head.target) != record.last_if_match;
  bool harmless = false;
  switch (*record.last_how) {
    case How::NotSent: harmless = true; break;
    case How::Answered: {
      // An answer that came too late for armgate, of an operation that failed: what it had changed is gone. Or of a failure, and
      // nothing was done.
      const auto states = arm_.states_of(arm::path_of(request.head.target));
      const auto is_service = [](const sim::State& state) { return state.by.empty(); };
      const auto is_own = [&](const sim::State& state) { return state.by == record.sent_by; };
      const auto given_back = std::find_if(states.rbegin(), states.rend(), is_service);  // whoever has written after that
      const bool was_given_back =
          given_back != states.rend() && given_back < std::find_if(states.rbegin(), states.rend(), is_own);
      const bool taken_back = arm::is_success(status) && was_given_back;
      const bool undone = !arm::is_success(status) && over && !accepted_ids_.contains(record.write_id);
      harmless = status == 409 || status == 404 || status == 412 || taken_back || undone;
      break;
    }
    case How::BrokenOff:
    case How::Lost: {
      const auto if_match = request.head.fields.get("If-Match");
      const bool is_create = request.head.fields.get("If-None-Match") == "*";  // of which a second one is refused
      const bool has_base = !if_match.empty() && (if_match == record.last_if_match || over);
      const bool guarded = request.head.method == arm::Method::Put && (has_base || is_create);
      // It can take effect no more, and nobody else could write meanwhile.
      const bool is_settled = request.head.method != arm::Method::Post && clock_.now() - record.sent >= kLateEffectMax;
      harmless = guarded || is_settled || arm::was_refused(record.status_of_head);
      break;
    }
  }
  if (!harmless) violated("P4", fmt::format("{} was sent again after {}", record.what, status == 0 ? "a loss" : "an answer"));
}

// There is an ETag, and it is not newer than the state that the client says it has built on, unless the client itself made all
// that is newer, or ARM's judge knows what the write was meant to change.
void Checkers::check_base(const Record& record, const arm::Request& request) {
  if (!record.is_guarded || record.base_etag.empty()) return;
  const auto if_match = request.head.fields.get("If-Match");
  if (if_match.empty()) {
    if (arm_.is_current(record.target, record.base_etag)) return;  // nothing can be lost
    if (exists(record.target))
      harmed(record, if_match, record.what + " was sent without a precondition although its base was delivered");
  } else if (!record.says_changes && arm_.is_newer(record.target, if_match, record.base_etag, record.sent_by)) {
    harmed(record, if_match,
           fmt::format("{} was sent with the ETag {}, newer than its base {}", record.what, if_match, record.base_etag));
  }
}

// What is there stands in the order in which it stood, and each ETag in a body that armgate put together belongs to what is
// there: a type may judge by it (docs/arm.md, "ETags").
void Checkers::check_merged(const Record& record, const arm::Request& request) {
  const auto if_match = request.head.fields.get("If-Match");
  const std::string there = if_match.empty() ? etag_of(record.target) : std::string(if_match);
  const auto body = sim::json_value(request.body);
  const auto states = arm_.states_of(arm::path_of(record.target));
  const auto before = states.empty() ? nullptr : states.back().content;
  const bool is_over =
      !if_match.empty() && etag_of(record.target) != if_match;  // ARM will refuse it: its own late effect may be there
  if (before && !is_over && !sim::in_the_order_of(*before, body))
    violated("P1", record.what + " was merged into another order");
  for (const auto& [place, value] : sim::leaves_of(body)) {
    const bool is_etag = place.ends_with("/etag") && value != sim::json_text(there);
    if (is_etag) violated("P1", fmt::format("{} was merged, and {} in it is {}, not {}", record.what, place, value, there));
  }
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

// Whether the next one may go along with its client's own running operation.
bool Checkers::goes_along(const Record& running, const Record& next) const {
  const auto plan = rules::make_plan(*next.rules, rules::Mode::Protect, next.method, next.target);
  const auto moves_a_goal = [](arm::Method method) { return method == arm::Method::Put || method == arm::Method::Patch; };
  return plan && plan->rule->reentrant == rules::Reentrant::Holder && moves_a_goal(running.method) &&
         moves_a_goal(next.method) && running.sent_as == next.sent_as && running.entity == next.entity;
}

// By the rules that each was planned with; and while one of older rules is unfinished, the newer one obeys those too
// (docs/design.md, "Locks": plans take the keys of old and new rules until the old writes are finished).
bool Checkers::exclude_each_other(const Record& one, const Record& other) const {
  if (have_common(one.keys, other.keys)) return true;
  if (one.rules == other.rules) return false;
  // Planned when it came in, which slow sending may put off: its number says nothing.
  const bool in_order = std::pair(one.served, one.id) < std::pair(other.served, other.id);
  const Record& older = in_order ? one : other;
  const Record& newer = in_order ? other : one;
  const auto plan = rules::make_plan(*older.rules, rules::Mode::Protect, newer.method, newer.target);
  if (!plan) return false;
  std::vector<std::string> keys;
  for (const auto& key : plan->keys) keys.push_back(key.id);
  return have_common(older.keys, keys);
}

std::string Checkers::etag_of(const std::string& target) {
  arm::Request read;
  read.head.target = target;
  const arm::Response there = arm_.handle(read, clock_.now()).response;
  return arm::etag_of(there.head, there.body).value_or("");
}

bool Checkers::exists(const std::string& target) {
  arm::Request read;
  read.head.target = target;
  return arm_.handle(read, clock_.now()).response.head.status == 200;
}

// Its answer was lost, and then a write of the parent as a whole took away what it had made: nothing tells that it still runs.
bool Checkers::runs_unseen(const Record& running) {
  return running.method == arm::Method::Put && is_lost(running.last_how) && !exists(running.target);
}

void Checkers::check_pair(const Record& running, const Record& next, std::string_view how) {
  if (running.is_unrecorded || next.is_unrecorded) {
    ++excused_["P2 of what passed while nothing could be recorded"];
    return;
  }
  const bool spans_lives = running.life < life_;
  const bool too_long_on_its_way = running.took_effect.value_or(clock_.now()) - running.sent >= kOnItsWayMax;
  if (spans_lives && !promised_.journal) {
    ++excused_["P2 over the end of a life"];
  } else if (spans_lives && too_long_on_its_way) {
    ++excused_["P2 over the end of a life, of what was on its way for longer than a minute"];
  } else if (spans_lives && running.rules != next.rules) {
    ++excused_["P2 over the end of a life, under other rules"];
  } else {
    violated("P2", fmt::format("{} was sent while {} {}", next.what, running.what, how));
  }
}

void Checkers::check_alone(const Record& record) {
  for (const uint64_t id : in_flight_) {
    const Record& other = records_.at(id);
    if (id == record.id || !exclude_each_other(record, other)) continue;
    if (other.life < life_ && promised_.journal && other.took_effect)
      ++excused_["P2 over the end of a life, of what only its answer was missing of"];
    else
      check_pair(other, record, "was on its way");
  }
  std::erase_if(accepted_, [&](const Accepted& write) {
    const Record& other = records_.at(write.exchange);
    const bool own_earlier_sending = other.write_id == record.write_id;
    if (own_earlier_sending || !exclude_each_other(record, other) || goes_along(other, record)) return false;
    if (!still_runs(write)) return true;
    if (other.life == life_ && runs_unseen(other))
      ++excused_["P2 over what was wiped out while it was in doubt"];
    else
      check_pair(other, record, "was running");
    return false;
  });
}

// What is there was made by a create of the same client that was never told that it happened: what is lost is its own.
bool Checkers::made_by_its_own_undelivered(const Record& record) {
  const auto creator = created_by_.find(record.entity);
  if (creator == created_by_.end()) return false;
  const Record& create = records_.at(creator->second);
  if (create.sent_by != record.sent_by || acknowledged_ids_.contains(create.write_id)) return false;
  ++excused_["creates over what the same client had made without knowing"];
  return true;
}

void Checkers::applied(const arm::Request& request, const sim::SimAnswer& given, bool late) {
  const arm::Response& answer = given.response;
  const auto found = records_.find(exchange_of(request));
  if (found == records_.end()) {
    for (const sim::Seen& one : given.seen) looks_[one.key] = {clock_.now(), one.serial};
    return;
  }
  const bool took_effect = !found->second.is_read && arm::is_success(answer.head.status);
  liveness_.handled(found->first, given.seen, took_effect, late);
  Record& record = found->second;
  if (!took_effect && !record.is_read && agrees_with_what_is_there(request))
    accepted_wants_.insert(wanted_by_id_[record.write_id]);
  if (!took_effect) return;
  check_once(record);
  record.took_effect = clock_.now();
  const auto if_match = request.head.fields.get("If-Match");
  const bool again = !accepted_ids_.insert(record.write_id).second;
  accepted_wants_.insert(wanted_by_id_[record.write_id]);
  weigh(record, if_match, late ? Late::Yes : Late::No);
  if (request.head.method == arm::Method::Delete) deleted_[record.entity] = clock_.now();
  if (answer.head.status == 201) created_by_[record.entity] = record.id;
  // The client's own second sending of a create finds what its first one made.
  const bool overwrote = !again && answer.head.status == 200 && request.head.method == arm::Method::Put &&
                         request.head.fields.get("x-sim-base") == "absent";
  if (overwrote && !made_by_its_own_undelivered(record))
    harmed(record, if_match, record.what + " was a create and overwrote what had been created meanwhile");
  if (!late && record.is_write && !operation_url(answer).empty()) {
    accepted_.push_back({record.id, operation_url(answer)});
    newest_operation_[record.id] = operation_url(answer);
    if (told_ended_.contains(record.id)) violated("P5", record.what + " went again after its client was told how it ended");
  }
  if (record.life < life_) from_earlier_lives_[record.entity] = clock_.now();
}

void Checkers::check_breaker(const Record& record, const arm::Response* answer) {
  const auto plan = rules::make_plan(*record.rules, rules::Mode::Protect, record.method, record.target);
  const bool may_be_kept_away = plan && plan->rule && plan->rule->breaker.mode == rules::Mode::Protect &&
                                record.method != arm::Method::Delete && record.life == life_;
  const SickChecker::Write write{record.entity, record.same_bytes, record.first_sent,
                                 may_be_kept_away ? plan->rule->breaker.probe_every : Duration::zero()};
  if (const auto wrong = sick_.written(write, answer, clock_.now())) violated("breaker", record.what + ": " + *wrong);
}

void Checkers::returned(const arm::Request& request, How how, const arm::Response* heard) {
  const arm::Response* const answer = how == How::Answered ? heard : nullptr;
  const auto found = records_.find(exchange_of(request));
  // What a life that is over asked for tells the next one nothing.
  const bool is_heard = of_this_life_.erase(&request) > 0;
  if (request.head.method == arm::Method::Get && is_heard) {
    if (answer != nullptr) sick_.read(request.head.target, *answer, clock_.now());
    budgets_.told(request.head, answer, clock_.now());
  }
  if (found == records_.end()) return;
  if (found->second.is_write) check_breaker(found->second, answer);
  in_flight_.erase(found->first);
  // Whether it came to ARM or not, it has nothing to do there: to be told that it is done is true.
  if (is_lost(how) && found->second.is_write && agrees_with_what_is_there(request))
    accepted_wants_.insert(wanted_by_id_[found->second.write_id]);
  found->second.last_how = how;
  found->second.status_of_head = how == How::BrokenOff ? heard->head.status : 0;
  const bool by_armgate = found->second.is_write && found->second.answered;
  if (by_armgate) {
    found->second.resent_answer = answer != nullptr ? std::optional(*answer) : std::nullopt;
    const bool is_taken = heard != nullptr && arm::is_success(heard->head.status);
    if (is_lost(how) && !is_taken) newest_operation_.erase(found->first);
  } else if (answer != nullptr) {
    found->second.last_answer = *answer;
  } else {
    found->second.last_answer.reset();
  }
}

}  // namespace armgate::world
