#include "tests/support/checkers/checkers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "arm/url.h"
#include "base/text.h"
#include "json/tree.h"

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

std::optional<TimePoint> moment_in(std::string_view text) {
  int64_t nanoseconds = 0;
  const auto end = text.data() + text.size();
  if (text.empty() || std::from_chars(text.data(), end, nanoseconds).ptr != end) return std::nullopt;
  return TimePoint(Duration(nanoseconds));
}

void drop_what_only_arm_writes(nlohmann::json& json) {
  if (json.is_object()) {
    json.erase("etag");
    json.erase("provisioningState");
  }
  if (json.is_structured()) {
    for (auto& part : json) drop_what_only_arm_writes(part);
  }
}

// What a body asks for: not the ETag and the progress of what it was built from.
std::string asked_content(const std::string& body) {
  auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) return body;
  drop_what_only_arm_writes(json);
  return json.dump();
}

}  // namespace

bool Checkers::is_armgates(const arm::Response& answer) { return answer.body.find(R"("code":"Armgate)") != std::string::npos; }

bool Checkers::is_armgate_field(const arm::Field& field) {
  return starts_with_ignoring_case(field.name, "x-armgate-") || equal_ignoring_case(field.name, "Repeatability-Result");
}

Checkers::Checkers(SimClock& clock, sim::SimArm& arm, Rules rules, Trace& trace, Promised promised)
    : clock_(clock),
      arm_(arm),
      rules_(std::move(rules)),
      trace_(trace),
      promised_(std::move(promised)),
      liveness_({promised_.kinds, promised_.think_max},
                {[this](const std::string& path) { return arm_.states_of(path); },
                 [this](Law law, std::string what) { law_broken(law, std::move(what)); }}),
      sick_(promised_.sick),
      budgets_(promised_.budgets, [this](std::string what) { violated("budget", std::move(what)); }) {}

void Checkers::law_broken(Law law, std::string what) {
  if (promised_.mode != rules::Mode::Protect) return;
  if (promised_.liveness.value_or(promise_of(law)) == Liveness::Forbidden)
    return violated(std::string(to_text(law)), std::move(what));
  trace_.add(clock_.now(), "counted {}: {}", to_text(law), what);
  ++laws_broken_[law];
}

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
  record.life = life_;
  record.method = head.method;
  record.target = head.target;
  const auto request_id = head.fields.get("x-ms-client-request-id");
  record.has_id = !request_id.empty();
  record.asked =
      fmt::format("{} {} {} {} {}", link.known_as, request_id, head.method_token, head.target, link.exchange.request.body);
  record.body = link.exchange.request.body;
  const auto name = head.fields.get("Repeatability-Request-ID");
  if (!name.empty()) record.name = fmt::format("{} {}", link.known_as, name);
  record.rules = rules_;
  record.base_read = moment_in(head.fields.get("x-sim-base-read-at"));
  record.base_etag = head.fields.get("x-sim-base-etag");
  record.says_changes = head.fields.has("x-sim-changes");
  record.base_version = head.fields.get("x-sim-base-version");
  record.what = fmt::format("#{} {} {}", record.id, head.method_token, short_path(head.target));
  record.write_id = head.fields.get("x-sim-write-id");
  record.sent_as = link.known_as;
  record.sent_by = head.fields.get("x-sim-client");
  clients_.insert(record.sent_by);
  record.is_read = head.method == arm::Method::Get;
  record.entity = entity_of(head.target);
  record.served = clock_.now();
  record.link = &link;
  const bool observed = promised_.mode == rules::Mode::Observe;
  if (observed) record.as_served = link.exchange.request;
  const auto plan = rules::make_plan(*rules_, rules::Mode::Protect, head.method, head.target);
  if (!observed && plan && plan->kind == PlanKind::Write) {
    record.is_write = true;
    record.is_guarded = plan->guarded && !head.fields.has("If-Match") && !promised_.rules_differ;
    for (const auto& key : plan->keys) record.keys.push_back(key.id);
  }
  record.same_bytes =
      fmt::format("{} {} {} {} {}", link.known_as, head.method_token, head.host, head.target, link.exchange.request.body);
  redeem_reservation(record);
  for (const auto& key : record.keys) queues_[key].push_back(record.id);
  if (!record.write_id.empty()) {
    const std::string content = asked_content(link.exchange.request.body);
    wanted_by_id_[record.write_id] = {record.sent_by, fmt::format("{} {}", arm::path_of(head.target), content)};
  }
  trace_.add(clock_.now(), "{} by {} {}", record.what, link.known_as, record.write_id);
  if (record.is_read) budgets_.came({record.id, record.sent_as, record.what}, head, clock_.now());
  liveness_.asked({record.id, record.sent_by, record.sent_as, record.method, record.target, link.exchange.request.body,
                   record.write_id, std::string(head.fields.get("x-sim-base-version")), record.base_read, clock_.now()});
  Record& kept = records_.emplace(record.id, std::move(record)).first->second;
  by_bytes_[kept.same_bytes].push_back(&kept);
}

void Checkers::left(const SimLink& link) {
  Record& record = records_.at(exchange_of(link.exchange.request));
  trace_.add(clock_.now(), "{} left", record.what);
  if (!record.left) record.left = clock_.now();
}

void Checkers::cut(const SimLink& link) { records_.at(exchange_of(link.exchange.request)).link = nullptr; }

void Checkers::answered(const SimLink& link) {
  Record& record = records_.at(exchange_of(link.exchange.request));
  record.link = nullptr;
  record.answered = clock_.now();
  // What was accepted and cannot be recorded yet: its answer is kept, and this one only says so.
  const bool is_kept_back = link.exchange.report.reason == "cluster-unavailable";
  const bool has_happened = record.took_effect || accepted_ids_.contains(record.write_id);
  record.delivered = link.complete() && !(is_kept_back && has_happened);
  record.left_undecided = link.exchange.report.reason == "client-left-while-verifying";
  for (const auto& key : record.keys) std::erase(queues_[key], record.id);
  if (record.is_read) budgets_.ended(record.id, clock_.now());
  reserve_position(record, link.exchange.report);
  const auto& answer = link.answer();
  trace_.add(clock_.now(), "{} -> {} {} guard={} reason={}", record.what, answer.head.status,
             link.complete() ? "" : "undelivered", link.exchange.report.guard, link.exchange.report.reason);
  const bool kept_away =
      link.exchange.report.reason == "resource-sick";  // its own business: nobody else's write was in the way
  if (kept_away) {
    if (const auto wrong = sick_.refused(record.entity, record.method, record.served))
      violated("breaker", record.what + ": " + *wrong);
  }
  if (link.exchange.status == 412 && !kept_away)
    refusals_[{record.sent_as, record.entity}] += 1;  // also one that does not arrive
  if (record.is_write && arm::is_success(link.exchange.status) && record.sent_as == record.sent_by) {
    refusals_.erase({record.sent_as, record.entity});
  }
  liveness_.answered({record.id, kept_away ? 503 : answer.head.status, link.complete(), link.begun(), clock_.now()});
  if (link.heads_written() > 1 || link.ends_written() > 1) violated("P5", record.what + " was answered twice");
  if (!link.complete()) {
    const bool nobody_there = link.gone() || link.heads_written() == 1;
    if (!nobody_there) violated("P5", record.what + " was not answered");
    return;
  }
  if (answer.head.status == 412 && !kept_away) record.refused = clock_.now();
  if (!link.body_fits()) violated("P5", record.what + " got a body of another length than declared");
  check_unaltered(record, link);
  if (link.exchange.report.replayed && !is_kept_back) check_repeated(record);
  if (promised_.mode == rules::Mode::Observe) check_own_answer(record, link);
  if (is_armgates(answer) && answer.head.status != 503 && answer.head.fields.has("Retry-After")) {
    violated("P5", record.what + " was refused for good with a Retry-After");
  }
}

// The newest sending of a write that ARM answered, whichever of the client's requests it belonged to. Of what passed without a record
// nothing can be given again.
const Checkers::Record* Checkers::sending_of(const Record& record) const {
  const Record* newest = nullptr;
  for (const auto& [id, other] : records_) {
    if (other.write_id == record.write_id && other.last_answer && !other.is_unrecorded) newest = &other;
  }
  return newest;
}

// Without request ids a new write cannot be told from the re-send of one whose answer its client never got: whether this is such
// a one's answer.
bool Checkers::answers_an_undelivered(const Record& record, const arm::Response& answer) const {
  return std::any_of(records_.begin(), records_.end(), [&](const auto& entry) {
    const Record& other = entry.second;
    const bool listens = other.link != nullptr && !other.link->gone();
    const bool undelivered = other.last_answer && (!other.delivered || other.left) && !listens;
    const bool before = other.id != record.id && other.served <= record.served;
    return undelivered && before && !record.has_id && other.asked == record.asked && is_the_same(answer, *other.last_answer);
  });
}

// But for the fields that tell what armgate did, and the operation URLs that are its own.
bool Checkers::is_the_same(const arm::Response& answer, const arm::Response& arms) {
  std::vector<arm::Field> fields;
  std::copy_if(answer.head.fields.begin(), answer.head.fields.end(), std::back_inserter(fields),
               [](const arm::Field& field) { return !is_armgate_field(field); });
  const auto is_the_same_field = [](const arm::Field& given, const arm::Field& arms_own) {
    const bool own_url = given.value.find("/armgate-operations/") != given.value.npos;
    return given.name == arms_own.name && (own_url || given.value == arms_own.value);
  };
  const bool same_fields =
      std::equal(fields.begin(), fields.end(), arms.head.fields.begin(), arms.head.fields.end(), is_the_same_field);
  return answer.head.status == arms.head.status && answer.body == arms.body && same_fields;
}

void Checkers::check_unaltered(const Record& record, const SimLink& link) {
  const auto& answer = link.answer();
  if (is_owned_poll(record)) return check_owned_poll(record, answer);
  const auto& reason = link.exchange.report.reason;
  if (is_armgates(answer) || reason == "answer-recovered-by-reading" || reason == "answered-as-recorded") return;
  if (reason == "verify-failed" && answer.head.status == 401) return;  // ARM's, to armgate's look with its client's token
  if (record.is_write) note_owned(record, answer);
  const bool replayed = link.exchange.report.replayed;
  const Record* answered = replayed ? sending_of(record) : &record;
  const bool has_answer = answered != nullptr && answered->last_answer.has_value();
  if (has_answer && is_the_same(answer, *answered->last_answer)) return;
  if (replayed && answers_an_undelivered(record, answer)) {
    accepted_ids_.insert(record.write_id);
    ++excused_["new writes taken for the re-send of an undelivered write"];
    return;
  }
  if (replayed && may_be_told_again(record, answer)) {
    accepted_ids_.insert(record.write_id);
    return;
  }
  if (!has_answer) return violated("P5", record.what + " got an answer that ARM never gave");
  violated("P5", fmt::format("{}: ARM's answer {} was altered", record.what, answered->last_answer->head.status));
}

void Checkers::acknowledged(const std::string& write_id) {
  const bool spans = std::any_of(records_.begin(), records_.end(), [&](const auto& entry) {
    const Record& record = entry.second;
    if (record.write_id != write_id || !record.base_read) return false;
    return *record.base_read <= life_began_ || given_back_unseen(record);
  });
  acknowledged_ids_.emplace(write_id, spans);
}

void Checkers::life_ended() {
  ++life_;
  liveness_.life_ended();
  sick_.life_ended(clock_.now(), promised_.journal ? SickChecker::Journal::Yes : SickChecker::Journal::No);
  budgets_.life_ended();
  of_this_life_.clear();
  life_began_ = clock_.now();
  for (auto& [id, record] : records_) record.link = nullptr;
  queues_.clear();
  rules_replaced_ = false;
}

void Checkers::use_rules(Rules rules) {
  rules_ = std::move(rules);
  rules_replaced_ = true;
}

}  // namespace armgate::world
