#include "rules/file/rule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "arm/early_end.h"
#include "arm/operation.h"
#include "base/text.h"
#include "json/select.h"
#include "rules/facts/imported_facts.h"
#include "rules/facts/type_name.h"
#include "rules/file/body_settings.h"
#include "rules/file/editor_schema.h"
#include "rules/idle_keys.h"
#include "rules/match.h"
#include "rules/type_index.h"

namespace armgate::rules {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::optional<std::string> check_action(std::string& action) {
  action = lower_text(action);
  if (action.empty() || !std::all_of(action.begin(), action.end(), is_type_character)) {
    return "is not the name of a POST action such as \"restart\"";
  }
  const arm::Target target{arm::TargetKind::Action, {}, action, {}};
  if (arm::operation_kind(arm::Method::Post, target) == arm::OperationKind::ReadAction) {
    return "only reads and never waits; remove it";
  }
  if (arm::ends_an_operation(action)) {
    return "must be able to pass the operation that it ends; remove it";
  }
  return std::nullopt;
}

std::optional<std::string> check_name(std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c != '\x7f'; });
  if (plain && !name.empty() && name.size() <= 100) return std::nullopt;
  return "is not a name of 1 to 100 characters on one line";
}

void check_references(const Rule& rule, const std::string& pointer, const JsonPositions& positions, FaultList& faults) {
  const auto& references = rule.lock.references;
  for (size_t i = 0; i < references.size(); ++i) {
    const auto& types = references[i].types;
    for (size_t j = 0; j < references[i].parents.size() && !types.empty(); ++j) {
      const std::string& parent = references[i].parents[j];
      if (can_be_parent(parent, types)) continue;
      const std::string place = fmt::format("{}/lock/references/{}/parents/{}", pointer, i, j);
      faults.push_back({rule.place.file, positions.line_of(place), place,
                        fmt::format("\"{}\" is not the type of an ancestor of the types that this reference counts", parent)});
    }
  }
}

void check_rule(const Rule& rule, const std::string& pointer, const JsonPositions& positions, FaultList& faults) {
  const auto fault = [&](const std::string& below, std::string message) {
    const std::string place = pointer + below;
    faults.push_back({rule.place.file, positions.line_of(place), place, std::move(message)});
  };
  const Match& match = rule.match;
  if (!match.api_version_to.empty() && match.api_version_from > match.api_version_to) {
    fault("/match/api_version", fmt::format("\"from\" ({}) is later than \"to\" ({}); no request would match",
                                            match.api_version_from, match.api_version_to));
  }
  if (match.types.size() > 1 && std::count(match.types.begin(), match.types.end(), kAnyType) > 0) {
    fault("/match/types", "has \"*\" beside other types, which decides after all others; give it a rule of its own");
  }
  for (size_t i = 0; i < rule.lock.parents.size(); ++i) {
    if (can_be_parent(rule.lock.parents[i], match.types)) continue;
    fault(fmt::format("/lock/parents/{}", i),
          fmt::format("\"{}\" is not the type of an ancestor of the types that this rule matches", rule.lock.parents[i]));
  }
  check_references(rule, pointer, positions, faults);
  check_body(rule.body.declared, rule.place.file, pointer, positions, faults);
  if (rule.guard.kind == GuardKind::None && rule.guard.creates != CreateGuard::None) {
    fault("/guard/creates",
          "needs another \"kind\" than \"none\": with \"none\" armgate does not remember who was told "
          "that something is absent");
  }
  if (rule.guard.star == Star::Strengthen && !sends_etags(rule.guard.kind)) {
    fault("/guard/star", "needs \"kind\" \"etag\" or \"verify\": with the others no ETag goes along");
  }
  const auto& methods = rule.guard.methods;
  if (rule.guard.patches == Patches::Send && std::ranges::find(methods, arm::OperationKind::Patch) != methods.end()) {
    fault("/guard/patch", "\"send\" says that a PATCH goes as it is, and \"methods\" that it is guarded; remove one of them");
  }
  const auto deletes = std::find(methods.begin(), methods.end(), arm::OperationKind::Delete);
  const bool compares = rule.guard.kind == GuardKind::Verify || rule.guard.kind == GuardKind::Auto;
  if (compares && deletes != methods.end()) {
    fault(fmt::format("/guard/methods/{}", deletes - methods.begin()),
          "only \"etag\" can guard DELETE: a delete asks for no state that could be compared; remove it");
  }
  if (rule.lease.max > rule.lease.cap) fault("/lease", "\"max\" is longer than \"cap\"; raise \"cap\" or lower \"max\"");
  if (rule.busy.base > rule.busy.max) {
    fault("/retry/busy", "\"base\" is longer than \"max\"; raise \"max\" or lower \"base\"");
  }
  if (rule.late.backoff.base > rule.late.backoff.max) {
    fault("/retry/operation", "\"base\" is longer than \"max\"; raise \"max\" or lower \"base\"");
  }
}

// The elements of lists with something wrong in them: what stands in them is not all that was meant.
class Unsound {
 public:
  Unsound(const FaultList& faults, size_t begin) {
    for (size_t i = begin; i < faults.size(); ++i) {
      const std::string& pointer = faults[i].pointer;
      places_.insert(pointer.substr(0, pointer.find('/', pointer.find('/', 1) + 1)));
    }
  }

  // By the list's pointer: "/rules".
  std::vector<bool> of(std::string_view list, size_t count) const {
    std::vector<bool> all(count);
    for (size_t i = 0; i < count; ++i) all[i] = places_.contains(fmt::format("{}/{}", list, i));
    return all;
  }

 private:
  std::unordered_set<std::string> places_;
};

// Complains of types that an earlier rule takes for all the api-versions of a later one.
void check_order(const std::vector<Rule>& rules, const std::vector<bool>& unsound, FaultList& faults) {
  TypeIndex before;
  for (size_t i = 0; i < rules.size(); ++i) {
    if (unsound[i]) continue;
    const Rule& rule = rules[i];
    for (const std::string& type : rule.match.types) {
      const auto earlier = before.first_taker(type, [&](size_t at) { return covers_versions(rules[at].match, rule.match); });
      if (!earlier) continue;
      faults.push_back(
          {rule.place.file, rule.place.line, "",
           fmt::format(
               "rule \"{}\" can never match \"{}\": rule \"{}\" on line {} takes it first; put this rule before that one, or remove it",
               rule.name, type, rules[*earlier].name, rules[*earlier].place.line)});
    }
    before.add_all(rule.match.types, i);
  }
}

template <class Element>
std::vector<Element> sound_ones(const std::vector<Element>& all, const std::vector<bool>& unsound) {
  std::vector<Element> sound;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!unsound[i]) sound.push_back(all[i]);
  }
  return sound;
}

// What no single key's bounds can say.
void check_book(RuleBook& book, const Unsound& unsound, const JsonPositions& positions, FaultList& faults) {
  const auto unsound_rules = unsound.of("/rules", book.rules.size());
  for (size_t i = 0; i < book.rules.size(); ++i) {
    Rule& rule = book.rules[i];
    Lock& locked = rule.lock;
    std::vector<std::string> pointers;
    for (const Reference& reference : locked.references) pointers.push_back(reference.pointer);
    locked.referred = StringSelection(pointers);
    if (!rule.body.declared.empty()) {
      rule.body.facts = {std::make_shared<const arm::BodyFacts>(rule.body.declared), FactStrength::Declared};
    }
    if (!unsound_rules[i]) check_rule(rule, fmt::format("/rules/{}", i), positions, faults);
  }
  const auto unsound_facts = unsound.of("/facts", book.facts.size());
  for (size_t i = 0; i < book.facts.size(); ++i) {
    if (unsound_facts[i]) book.facts[i] = {book.facts[i].place, {}, {}};  // of what is left of it nothing could be said
  }
  check_facts(book.facts, positions, faults);
  const auto unsound_errors = unsound.of("/errors", book.errors.size());
  for (size_t i = 0; i < book.errors.size(); ++i) {
    if (!unsound_errors[i]) check_error_rule(book.errors[i], fmt::format("/errors/{}", i), positions, faults);
  }
  check_order(book.rules, unsound_rules, faults);
  const auto unsound_timeouts = unsound.of("/queue_timeouts", book.queue_timeouts.size());
  check_order(sound_ones(book.queue_timeouts, unsound_timeouts), faults);
}

template <class Entry>
void warn_of_idle_keys_in(std::string_view list, const std::vector<Entry>& entries, const JsonPositions& positions,
                          FaultList& warnings) {
  for (size_t i = 0; i < entries.size(); ++i)
    warn_of_idle_keys(entries[i], fmt::format("/{}/{}", list, i), positions, warnings);
}

void sort_by_line(FaultList::iterator begin, FaultList::iterator end) {
  std::stable_sort(begin, end, [](const Fault& a, const Fault& b) { return a.line < b.line; });
}

SettingTable settings_of(Reference& reference) {
  return {
      {"/pointer", Text{&reference.pointer, check_pointer}, "where in the body the ids stand; \"*\": every element",
       Need::Required},
      {"/types", TextList{&reference.types, check_exact_type, 1}, "the types of resources that count; left out: all"},
      {"/parents", TextList{&reference.parents, check_exact_type, 1}, "the types of their ancestors that are locked as well"},
      {"/mode", choice(&reference.mode, {{"shared", LockMode::Shared}, {"exclusive", LockMode::Exclusive}}),
       "whether those who refer to one resource wait for each other"},
      {"/until", choice(&reference.until, {{"request", LeaseUntil::Request}, {"operation", LeaseUntil::Operation}}),
       "whether it is locked until ARM's answer or until the long-running operation ends"},
  };
}

}  // namespace

SettingTable settings_of(Rule& rule) {
  using Kind = arm::OperationKind;
  Match& match = rule.match;
  Backoff& busy = rule.busy;
  Backoff& late = rule.late.backoff;
  SettingTable table{
      {"/name", Text{&rule.name, check_name}, "what messages and headers call the rule", Need::Required},
      {"/match/types", TextList{&match.types, check_type, 1},
       "the resource types it applies to, \"Microsoft.Network/*\" for every depth below, \"*\" for all that no other rule is for",
       Need::Required},
      {"/match/api_version/from", Text{&match.api_version_from, check_api_version}, "the first api-version it applies to"},
      {"/match/api_version/to", Text{&match.api_version_to, check_api_version}, "the last api-version it applies to"},
      {"/match/actions", TextList{&match.actions, check_action}, "POST actions that are queued like writes"},
      {"/mode",
       choice<std::optional<Mode>>(&rule.mode, {{"protect", Mode::Protect}, {"observe", Mode::Observe}, {"off", Mode::Off}}),
       "\"observe\" tells what would be done about these types and does nothing; \"off\" passes them through unchanged"},
      {"/guard/kind",
       choice(&rule.guard.kind,
              {{"auto", GuardKind::Auto}, {"etag", GuardKind::Etag}, {"verify", GuardKind::Verify}, {"none", GuardKind::None}}),
       "whether ARM compares what a write was built from with what is there (\"etag\"), or armgate does (\"verify\"; \"auto\": if it may read)"},
      {"/guard/etag_covers",
       choice(&rule.guard.etag_covers, {{"everything", EtagCovers::Everything}, {"own-members", EtagCovers::OwnMembers}}),
       "whether the ETag also moves when a child changes that stands in the body; with \"own-members\" the resource is read as well"},
      {"/guard/methods", choices(&rule.guard.methods, {{"PUT", Kind::Put}, {"PATCH", Kind::Patch}, {"DELETE", Kind::Delete}}),
       "the methods that are guarded"},
      {"/guard/creates",
       choice(&rule.guard.creates, {{"none", CreateGuard::None}, {"if-none-match", CreateGuard::IfNoneMatch}}),
       "whether a PUT of what its client was told is absent carries \"If-None-Match: *\"; for types that honour it"},
      {"/guard/merge", choice(&rule.guard.merging, {{"on", Merging::On}, {"maps", Merging::Maps}, {"off", Merging::Off}}),
       "whether a full write and the changes that others made since its client read the resource are merged, if they touch different "
       "places: \"maps\": only in tags and the like; \"off\": such a write is refused"},
      {"/guard/patch", choice(&rule.guard.patches, {{"compare", Patches::Compare}, {"send", Patches::Send}}),
       "whether a PATCH is compared where it replaces what its client has read, or always goes as it is"},
      {"/guard/star", choice(&rule.guard.star, {{"keep", Star::Keep}, {"strengthen", Star::Strengthen}}),
       "whether a client's \"If-Match: *\" becomes the ETag of what it was shown"},
      {"/guard/read_only",
       Removed{"write \"body\": {\"read_only\": [...]} beside \"guard\", with a JSON pointer such as "
               "\"/properties/instanceView\" for each place where such a member stands"},
       ""},
      {"/hold", Renamed{"lease"}, ""},
      {"/reenter", Renamed{"reentrant"}, ""},
      {"/blind_after_wait", Renamed{"unconditional_after_wait"}, ""},
      {"/lock/parents", TextList{&rule.lock.parents, check_parent}, "the types of ancestors that a write locks too"},
      {"/lock/references", Items{[&rule](int) { return settings_of(rule.lock.references.emplace_back()); }},
       "where the body names resources that must stand still meanwhile"},
      {"/lease/until",
       choice(
           &rule.lease.until,
           {{"operation", LeaseUntil::Operation}, {"request", LeaseUntil::Request}, {"provisioned", LeaseUntil::Provisioned}}),
       "whether the lock is held until the request, the long-running operation, or also the parents' own work ends"},
      {"/reentrant", choice(&rule.reentrant, {{"nobody", Reentrant::Nobody}, {"holder", Reentrant::Holder}}),
       "whether a client's next PUT or PATCH may pass its own accepted one that still runs, if nobody else waits"},
      {"/shown/consecutive", WholeNumber{&rule.shown.consecutive, 0, 20},
       "how many reads in a row must find what a PUT made before its answer goes to the client; 0: none is made"},
      {"/shown/every", TimeSpan{&rule.shown.every, milliseconds(100), minutes(1)}, "the pause between these reads"},
      {"/lease/max", TimeSpan{&rule.lease.max, seconds(1), hours(168)},
       "the age at which an operation lease is released if its operation is not seen running"},
      {"/lease/cap", TimeSpan{&rule.lease.cap, seconds(1), hours(720)},
       "the age at which an operation lease is released even if its operation is seen running"},
      {"/retry/busy/base", TimeSpan{&busy.base, milliseconds(10), minutes(5)}, "the first delay at most"},
      {"/retry/busy/factor", Number{&busy.factor, 1, 10}, "how much each further delay may be longer"},
      {"/retry/busy/max", TimeSpan{&busy.max, milliseconds(10), hours(1)}, "the longest delay"},
      {"/retry/busy/attempts", WholeNumber{&busy.attempts, 1, 1000}, "sendings in all, the first included"},
      {"/retry/busy/deadline", TimeSpan{&busy.deadline, seconds(1), hours(24)}, "when retrying ends at the latest"},
      {"/retry/operation/attempts", WholeNumber{&late.attempts, 1, 20},
       "sendings in all of a PUT or PATCH that ARM takes and whose operation then fails for a passing reason, without a partial "
       "effect; 1: it is not sent again. Above 1 its client polls an operation URL of armgate's own"},
      {"/retry/operation/base", TimeSpan{&late.base, milliseconds(10), minutes(5)}, "the first delay before that at most"},
      {"/retry/operation/factor", Number{&late.factor, 1, 10}, "how much each further delay may be longer"},
      {"/retry/operation/max", TimeSpan{&late.max, milliseconds(10), hours(1)}, "the longest delay"},
      {"/retry/operation/deadline", TimeSpan{&late.deadline, seconds(1), hours(24)},
       "how long after ARM took the first sending such a write may go again"},
      {"/retry/operation/polled_within", TimeSpan{&rule.late.polled_within, seconds(1), hours(1)},
       "it goes again only if its client has polled the operation within this time"},
      {"/breaker/mode",
       choice(&rule.breaker.mode, {{"off", Mode::Off}, {"observe", Mode::Observe}, {"protect", Mode::Protect}}),
       "whether writes to a resource are refused while its operations keep failing with the same error (\"observe\": only told)"},
      {"/breaker/probe_every", TimeSpan{&rule.breaker.probe_every, seconds(1), hours(24)},
       "how often one write goes all the same, to see whether it is over"},
      {"/once/window", TimeSpan{&rule.once.window, seconds(0), hours(24)},
       "for how long the same PUT or action again gets the answer of the first instead of being sent, if nothing else was accepted; 0s: it is sent"},
      {"/unconditional_after_wait",
       choice(&rule.unconditional_after_wait,
              {{"refuse", UnconditionalAfterWait::Refuse}, {"send", UnconditionalAfterWait::Send}}),
       "what becomes of a full write that was built on no delivered state when another write came before it"},
  };
  SettingTable body = body_settings(rule.body.declared);
  const auto after_guard =
      std::find_if(table.begin(), table.end(), [](const Setting& s) { return s.pointer == "/lock/parents"; });
  table.insert(after_guard, std::make_move_iterator(body.begin()), std::make_move_iterator(body.end()));
  return table;
}

void RuleBook::add(RuleBook more) {
  const auto append = [](auto& to, auto& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  append(rules, more.rules);
  append(facts, more.facts);
  append(errors, more.errors);
  append(queue_timeouts, more.queue_timeouts);
  append(warnings, more.warnings);
}

SettingTable settings_of(RuleDraft& draft, const std::string& file) {
  const auto add_to = [file](auto& list) {
    return [&list, file](int line) {
      auto& one = list.emplace_back();
      one.place = {file, line};
      return settings_of(one);
    };
  };
  return {
      {"/$schema", Text{&draft.schema, {}},
       "where editors find the JSON Schema of this file; armgate itself does not look at it"},
      {"/rules", Items{add_to(draft.book.rules)}, "the rules; the first that matches decides"},
      {"/facts", Items{add_to(draft.book.facts)},
       "what is known about the bodies of types, whatever rule decides about them; facts add up"},
      {"/errors", Items{add_to(draft.book.errors)}, "what ARM's error answers mean; the first entry that fits decides"},
      {"/queue_timeouts", Items{add_to(draft.book.queue_timeouts)},
       "how long which clients can be kept waiting; the first entry that fits decides"},
      {"/patience", Renamed{"queue_timeouts"}, ""},
      {"/cases", Items{add_to(draft.cases)}, "requests, and what the rules and facts of this file must make of them"},
  };
}

std::string rule_file_schema() {
  RuleDraft draft;
  return to_schema(
      settings_of(draft, ""), "Rule file of armgate",
      "Which resource types armgate protects and how, and which of ARM's errors it waits out. The manual is docs/rules.md.");
}

RuleBook read_rule_book(const std::string& file, std::string_view text, FaultList& faults, Cases cases) {
  if (is_imported(text)) {
    RuleBook imported;
    imported.facts = read_imported_facts(file, text, faults);
    return imported;
  }
  RuleDraft draft;
  RuleBook& book = draft.book;
  const size_t faults_before = faults.size();
  const auto positions = read_json(file, text, settings_of(draft, file), faults);
  if (!positions) return std::move(book);
  const bool is_read = faults.size() == faults_before;
  if (is_read && book.rules.empty() && book.facts.empty() && book.errors.empty() && book.queue_timeouts.empty()) {
    faults.push_back(
        {file, 1, "", "says nothing; add \"rules\", \"facts\", \"errors\" or \"queue_timeouts\", or remove the file"});
  }
  check_book(book, Unsound(faults, faults_before), *positions, faults);
  if (faults.size() == faults_before && cases == Cases::Try)
    check_cases(book.rules, book.facts, draft.cases, *positions, faults);
  sort_by_line(faults.begin() + static_cast<std::ptrdiff_t>(faults_before), faults.end());
  if (faults.size() == faults_before) {
    warn_of_idle_keys_in("rules", book.rules, *positions, book.warnings);
    warn_of_idle_keys_in("errors", book.errors, *positions, book.warnings);
    sort_by_line(book.warnings.begin(), book.warnings.end());
  }
  return std::move(book);
}

void check_names(const std::vector<Rule>& rules, FaultList& faults) {
  std::unordered_map<std::string, const Rule*> first;
  for (const Rule& rule : rules) {
    if (rule.name.empty()) continue;  // its absence is a fault already
    const auto [known, is_new] = first.try_emplace(rule.name, &rule);
    if (is_new) continue;
    const SourceLine& before = known->second->place;
    faults.push_back({rule.place.file, rule.place.line, "",
                      fmt::format("the rule name \"{}\" stands here and at {}:{}; rename one of them", rule.name, before.file,
                                  before.line)});
  }
}

}  // namespace armgate::rules
