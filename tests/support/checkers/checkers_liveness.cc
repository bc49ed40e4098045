#include "tests/support/checkers/checkers_liveness.h"

#include <fmt/format.h>

#include <utility>

#include "sim/machine/address.h"
#include "tests/support/world/trace.h"

namespace armgate::world {
namespace {

std::string key_of(std::string_view target) { return sim::address_key(sim::parse_id(arm::path_of(target))); }

std::optional<uint64_t> serial_in(const std::vector<sim::Seen>& seen, const std::string& key) {
  for (const sim::Seen& one : seen) {
    if (one.key == key) return one.serial;
  }
  return std::nullopt;
}

bool is_gone(const sim::State& state) { return state.version.empty(); }

}  // namespace

std::string_view to_text(Law law) {
  switch (law) {
    case Law::L1: return "L1";
    case Law::L2: return "L2";
    case Law::L3: return "L3";
    case Law::L4: return "L4";
    case Law::L4Total: return "L4-total";
  }
  return {};
}

void LivenessChecker::asked(Asked request) {
  last_asked_ = request.at;
  Try attempt;
  attempt.key = key_of(request.target);
  if (request.method == arm::Method::Put || request.method == arm::Method::Patch || request.method == arm::Method::Delete)
    writers_[attempt.key].insert(request.client);
  if (request.method == arm::Method::Put) {
    Audience& audience = audiences_[{request.name, attempt.key}];
    audience.clients.insert(request.client);
    for (const uint64_t id : open_) {
      const Try& other = tries_.at(id);
      const bool beside = other.asked.method == arm::Method::Put && other.key == attempt.key &&
                          other.asked.name == request.name && other.asked.body != request.body;
      if (beside) audience.doubted_until = request.at + options_.think_max + kThinkSlack;
    }
    const auto [pursuit, is_first] = pursuits_.try_emplace({request.client, attempt.key});
    if (is_first) pursuit->second.began = request.at;
    pursuit->second.name = request.name;
  }
  const uint64_t exchange = request.exchange;
  attempt.asked = std::move(request);
  tries_.emplace(exchange, std::move(attempt));
  open_.insert(exchange);
}

void LivenessChecker::handled(uint64_t exchange, const std::vector<sim::Seen>& seen, bool took_effect, bool late) {
  const auto found = tries_.find(exchange);
  if (found == tries_.end()) return;
  Try& attempt = found->second;
  attempt.seen = seen;
  for (const sim::Seen& one : seen) {
    auto& audience = audiences_[{attempt.asked.name, one.key}];
    audience.clients.insert(attempt.asked.client);
    audience.shown.push_back({attempt.asked.at, kNever, one.serial});
    if (took_effect && late) late_.insert(one.serial);
  }
  if (!took_effect || attempt.asked.method != arm::Method::Put) return;
  attempt.took_effect = true;
  effects_.insert(attempt.asked.write_id);
  const bool untold = !open_.contains(exchange) && !attempt.acknowledged && untold_.insert(attempt.asked.write_id).second;
  Pursuit& pursuit = pursuits_[{attempt.asked.client, attempt.key}];
  if (untold) ++pursuit.faults;
  if (untold) ++pursuit.faults_open;
}

void LivenessChecker::answered(const Answered& answer) {
  const auto found = tries_.find(answer.exchange);
  if (found == tries_.end()) return;
  Try& attempt = found->second;
  open_.erase(answer.exchange);
  const bool good = answer.delivered && answer.status >= 200 && answer.status < 300;
  const bool tells = answer.delivered && (good || answer.status == 404);
  for (const sim::Seen& one : attempt.seen) {
    if (!tells) break;
    audiences_[{attempt.asked.name, one.key}].shown.push_back({attempt.asked.at, answer.at, one.serial});
    const auto pursuit = pursuits_.try_emplace({attempt.asked.client, one.key}).first;
    if (pursuit->second.began == TimePoint{}) pursuit->second.began = attempt.asked.at;
    if (attempt.asked.method == arm::Method::Get) pursuit->second.read = Reading{attempt.asked.at, answer.at, one.serial};
  }
  if (attempt.asked.method != arm::Method::Put) return;
  Pursuit& pursuit = pursuits_[{attempt.asked.client, attempt.key}];
  attempt.acknowledged = good;
  if (good) {
    end_row(pursuit);
    pursuit.refused.reset();
    pursuit.faults_open = 0;
    pursuit.taken_back_in_a_row = pursuit.on_one_state = 0;
    pursuit.change_seen_stale.clear();
    if (!attempt.asked.base_version.empty()) ++counts_["writes with a known base"];
  } else if (effects_.contains(attempt.asked.write_id) && untold_.insert(attempt.asked.write_id).second) {
    ++pursuit.faults;
    ++pursuit.faults_open;
  }
  if (answer.delivered && answer.status == 412) refused(attempt, answer);
}

ClientKind LivenessChecker::kind_of(const Case& one) const {
  const auto declared = options_.kinds.find(one.attempt.asked.name);
  if (declared == options_.kinds.end()) return ClientKind::Unknown;
  const bool doubted = declared->second == ClientKind::Single && one.attempt.asked.at < one.audience.doubted_until;
  return doubted ? ClientKind::Unknown : declared->second;
}

// What the client's name was shown, and what was superseded for it not long ago.
std::vector<Leaves> LivenessChecker::older_states(const Case& one) const {
  const TimePoint recently = one.attempt.asked.at - options_.think_max - kThinkSlack;
  std::set<uint64_t> serials;
  std::vector<Leaves> older;
  for (const Reading& shown : one.audience.shown) {
    const sim::State* state = sim::state_with(one.states, shown.serial);
    if (state == nullptr || state == one.there || is_gone(*state) || !serials.insert(state->serial).second) continue;
    TimePoint superseded = kNever;
    for (const Reading& newer : one.audience.shown) {
      const sim::State* other = sim::state_with(one.states, newer.serial);
      if (other != nullptr && other->serial > state->serial) superseded = std::min(superseded, newer.at);
    }
    if (superseded >= recently) older.push_back(sim::leaves_of(*state->content));
  }
  return older;
}

LivenessChecker::Case LivenessChecker::look_at(const Try& attempt, const Answered& answer) {
  const Asked& asked = attempt.asked;
  Pursuit& pursuit = pursuits_[{asked.client, attempt.key}];
  Case one{attempt, answer, pursuit, audiences_[{asked.name, attempt.key}], world_.states_of(attempt.key)};
  one.there = sim::state_throughout(one.states, asked.at, answer.begun);
  const bool known = !asked.base_version.empty() && asked.base_read;
  const bool deleted = known && std::any_of(one.states.begin(), one.states.end(), [&](const sim::State& state) {
                         return is_gone(state) && state.since > *asked.base_read;
                       });
  const bool same = known && one.there != nullptr && one.there->version == asked.base_version;
  one.undeserved = same && !deleted && !effects_.contains(asked.write_id);
  if (one.undeserved) {
    const Leaves there = sim::leaves_of(*one.there->content);
    const Leaves wanted = sim::wanted_leaves(asked.target, asked.body);
    one.looks_stale = sim::looks_stale(wanted, there, older_states(one));
    one.change = sim::change_between(there, wanted);
  }
  const auto& read = pursuit.read;
  one.reread = one.undeserved && pursuit.refused && read && read->asked > pursuit.refused->at && *asked.base_read >= read->at &&
               sim::state_with(one.states, read->serial) == one.there;
  return one;
}

void LivenessChecker::broken(Law law, const Case& one, std::string_view why) {
  const Asked& asked = one.attempt.asked;
  world_.broken(law, fmt::format("#{} PUT {} of {} (as {}) was refused: {}", asked.exchange, short_path(asked.target),
                                 asked.client, asked.name, why));
}

// A refusal that others or the client itself brought about, which no turn could have spared it, proves nothing against L4.
bool LivenessChecker::could_have_been_spared(const Case& one) const {
  const Asked& asked = one.attempt.asked;
  const auto& read = one.pursuit.read;
  const auto& refused = one.pursuit.refused;
  if (!built_on_last_read(one) || asked.at - read->asked > kTurnUsed) return false;
  if (refused && (read->asked <= refused->at || read->asked - refused->begun > kTurnUsed)) return false;
  if (read->at - read->asked > kSlowNetwork) return false;  // the read, or the write, may have come when the turn was over
  const std::set<std::string>& writers = writers_.at(one.attempt.key);
  return std::all_of(one.states.begin(), one.states.end(), [&](const sim::State& state) {
    const bool between = state.serial > read->serial && state.since <= one.answer.begun;
    return !between || (writers.contains(state.by) && !late_.contains(state.serial));
  });
}

// And that read was not behind what was there when it was asked for.
bool LivenessChecker::built_on_last_read(const Case& one) {
  const auto& read = one.pursuit.read;
  if (!read || !one.attempt.asked.base_read || *one.attempt.asked.base_read < read->at) return false;
  const sim::State* shown = sim::state_with(one.states, read->serial);
  const sim::State* then = sim::state_at(one.states, read->asked);
  return shown != nullptr && (then == nullptr || then->serial <= shown->serial);
}

bool LivenessChecker::is_lone(const Case& one) const {
  const Asked& asked = one.attempt.asked;
  if (one.audience.clients.size() > 1 || writers_.at(one.attempt.key).size() > 1) return false;
  return std::all_of(one.states.begin(), one.states.end(),
                     [&](const sim::State& state) { return state.since < one.pursuit.began || state.by == asked.client; });
}

void LivenessChecker::judge_lone(Case& one) {
  const ClientKind kind = kind_of(one);
  const bool knows_nothing = !one.attempt.asked.base_read && !one.pursuit.read;
  if (kind == ClientKind::Many || !(one.undeserved || knows_nothing) || !is_lone(one)) return;
  if (one.pursuit.faults_open > 0) {
    --one.pursuit.faults_open;
    ++counts_["L1 excused: a write of its own took effect, and it was not told"];
    return;
  }
  const bool takes_back = kind == ClientKind::Unknown && one.looks_stale;
  if (takes_back && ++one.pursuit.taken_back_in_a_row <= kTakenBackRefusalsMax) return;
  broken(Law::L1, one, takes_back ? "it is alone, and was refused for taking back before" : "it is alone");
}

void LivenessChecker::judge_reread(Case& one) {
  const ClientKind kind = kind_of(one);
  if (!one.reread || kind == ClientKind::Many) return;
  if (kind == ClientKind::Unknown && one.looks_stale && one.change != one.pursuit.change_seen_stale) {
    one.pursuit.change_seen_stale = one.change;
    ++counts_["L3 allowed: it looks stale"];
    return;
  }
  broken(Law::L3, one, "it has read what is there after a refusal");
}

void LivenessChecker::judge_state(Case& one) {
  int& times = one.pursuit.on_one_state;
  if (!one.undeserved) {
    times = 0;
    return;
  }
  const bool once_more = one.reread && one.pursuit.refused->serial == one.there->serial;
  times = once_more ? times + 1 : 1;
  if (times <= kRefusedOnOneStateMax) return;
  // Of what an earlier life showed only the journal tells, which stays a possible base for as long.
  const TimePoint since = std::max(one.there->since, life_began_);
  const bool long_ago = one.attempt.asked.at - since > options_.think_max + kThinkSlack;
  if (kind_of(one) != ClientKind::Many || long_ago)
    broken(Law::L2, one, fmt::format("for the {}th time on one state, and it reads it each time", times));
}

void LivenessChecker::judge_row(Case& one) {
  if (kind_of(one) == ClientKind::Many || !could_have_been_spared(one)) return;
  const int most = one.audience.clients.size() > 1 ? kHiddenInARowMax : kRefusedInARowMax;
  if (++one.pursuit.in_a_row == most + 1) broken(Law::L4, one, fmt::format("{} times in a row", most + 1));
}

void LivenessChecker::refused(const Try& attempt, const Answered& answer) {
  Case one = look_at(attempt, answer);
  Pursuit& pursuit = one.pursuit;
  const bool built_anew = attempt.asked.base_read && (!pursuit.refused || *attempt.asked.base_read > pursuit.refused->at);
  ++pursuit.refusals;
  ++counts_["refusals"];
  if (!attempt.asked.base_version.empty()) ++counts_["writes with a known base"];
  if (one.undeserved) ++counts_["U1"];
  if (one.undeserved && one.looks_stale) ++counts_["U1, but the write looks stale"];
  judge_lone(one);
  judge_reread(one);
  judge_state(one);
  judge_row(one);
  const bool behind = built_anew && !one.undeserved && pursuit.read && !built_on_last_read(one);
  if (!built_anew || behind || (one.undeserved && one.looks_stale && kind_of(one) == ClientKind::Unknown)) ++pursuit.allowed;
  pursuit.refused = Refused{answer.begun, answer.at, one.there == nullptr ? 0 : one.there->serial};
}

void LivenessChecker::end_row(Pursuit& pursuit) {
  const int row = pursuit.in_a_row;
  if (row >= 2)
    ++counts_[fmt::format("refused {} times in a row", row < 4 ? fmt::format("{}", row) : row < 13 ? "4-12" : "13-")];
  pursuit.in_a_row = 0;
}

void LivenessChecker::life_ended() {
  life_began_ = last_asked_;
  for (const uint64_t exchange : open_) {
    const std::string& write = tries_.at(exchange).asked.write_id;
    if (effects_.contains(write)) untold_.insert(write);
  }
  open_.clear();
  for (auto& [who, pursuit] : pursuits_) {
    end_row(pursuit);
    pursuit.refused.reset();
    pursuit.faults += kLifeRefusalsMax;
    ++pursuit.faults_open;
  }
}

void LivenessChecker::settled() {
  for (auto& [who, pursuit] : pursuits_) {
    end_row(pursuit);
    const auto& [client, key] = who;
    const auto declared = options_.kinds.find(pursuit.name);
    if (declared != options_.kinds.end() && declared->second == ClientKind::Many) continue;
    uint64_t by_others = 0;
    for (const sim::State& state : world_.states_of(key)) by_others += state.since >= pursuit.began && state.by != client;
    const uint64_t counted = pursuit.refusals - pursuit.allowed;
    if (counted <= by_others + pursuit.faults) continue;
    world_.broken(Law::L4Total, fmt::format("{} was refused {} times on {}, where others made {} changes and it {} faults",
                                            client, counted, short_path(key), by_others, pursuit.faults));
  }
}

std::string LivenessChecker::version_shown(uint64_t exchange, const std::string& path) const {
  const auto found = tries_.find(exchange);
  if (found == tries_.end()) return {};
  const auto serial = serial_in(found->second.seen, key_of(path));
  if (!serial) return {};
  const sim::States states = world_.states_of(key_of(path));
  const sim::State* state = sim::state_with(states, *serial);
  return state == nullptr ? std::string() : state->version;
}

}  // namespace armgate::world
