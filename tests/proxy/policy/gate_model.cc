#include "tests/proxy/policy/gate_model.h"

#include <algorithm>
#include <utility>

#include "arm/body/difference.h"

namespace armgate::policy {
namespace {

constexpr std::string_view kApiVersion = "2025-05-01";
const arm::BodyFacts& facts() { return *arm::BodyFacts::generic(); }

SharedBody kept(std::string json) {
  auto body = std::make_shared<KeptBody>();
  body->bytes = std::move(json);
  return body;
}

bool same_content(std::string_view a, std::string_view b) {
  const arm::ComparedBody bodies[] = {{a, arm::BodyKind::Whole}, {b, arm::BodyKind::Whole}};
  return arm::Difference(bodies, facts()).same(0, 1);
}

}  // namespace

std::string body_of(const Content& content, std::optional<int> stamp) {
  std::string text = "{\"properties\":{\"capacity\":" + std::to_string(content.capacity);
  if (stamp) text += ",\"resourceGuid\":\"" + std::to_string(*stamp) + "\"";
  text += "},\"tags\":{";
  for (const auto& tag : content.tags) text += (text.back() == '{' ? "\"" : ",\"") + tag + "\":\"1\"";
  return text + "}}";
}

GateModel::GateModel(Options options) : options_(options), states_{{Content{}, 0, 0}} {
  limits_.think_max = options.think_max;
  limits_.lag_max = options.lag_max;
}

size_t GateModel::current() const {
  size_t i = states_.size() - 1;
  while (i > 0 && states_[i].state == states_[i - 1].state) --i;
  return i;
}

void GateModel::around(State state) {
  const bool by_service = state == there();
  states_.push_back({std::move(state), kAround, states_.back().stamp + (by_service ? 1 : 0)});
}

// See restore.cc: what the journal has of writes that are over.
void GateModel::restart() {
  history_ = History();
  under_way_.clear();
  ledger_.clear();
  known_from_ = now_;
  for (const WriteAccepted& written : journal_) {
    WriteAccepted former = written;
    former.at = next();
    former.write_key = {};
    former.requested_body = nullptr;
    history_.apply(limits_, std::move(former));
    history_.apply(limits_, OperationEnded{written.request_hash, next()});
  }
  former_ = journal_.empty() ? 0 : next().order;
}

GateModel::There GateModel::shown_by(size_t state) const {
  const ArmState& is = states_[state];
  if (!is.state) return {true, {}, {}};
  return {false, options_.etags ? '"' + std::to_string(state) + '"' : "", body_of(*is.state, is.stamp)};
}

StateShown GateModel::shown_to(char client, size_t state) const {
  There there = shown_by(state);
  StateShown shown;
  shown.client = key_of(client);
  shown.absent = there.absent;
  shown.etag = std::move(there.etag);
  shown.rendering = {std::string(kApiVersion), there.absent ? nullptr : kept(std::move(there.json))};
  return shown;
}

State GateModel::read(char client, Link link, Reads what) {
  confirm(client, {}, {});
  const size_t state = what == Reads::Lagging ? current() - 1 : states_.size() - 1;
  StateShown shown = shown_to(client, state);
  shown.asked = next().order;
  shown.at = next();
  const uint64_t order = shown.at.order;
  history_.apply(limits_, std::move(shown));
  if (link == Link::Breaks) {
    history_.apply(limits_, AnswerLost{key_of(client), order});
  } else {
    // SendingLedger::resolve
    std::erase_if(ledger_, [&](const Sending& s) {
      return s.client == client && s.end != Sending::End::None && s.id.empty() && s.ended < order;
    });
  }
  return states_[state].state;
}

// ---- a write arrives -------------------------------------------------------------------------------------------------------------

GateModel::Sending* GateModel::sending_of(const Write& write) {
  const auto it = std::find_if(ledger_.begin(), ledger_.end(), [&](const Sending& s) { return s.number == write.sending; });
  return it == ledger_.end() ? nullptr : &*it;
}

Hash128 GateModel::write_key_of(const Write& write) const { return {write.sending, 2}; }

// Answers that were written whole have arrived, says the client's next request, unless that asks for the same again.
void GateModel::confirm(char client, const Hash128& except_bytes, std::string_view except_id) {
  std::erase_if(ledger_, [&](const Sending& s) {
    const bool same = !except_id.empty() && s.request_hash == except_bytes && s.id == except_id;
    return s.client == client && s.end != Sending::End::None && !s.lost && !same;
  });
}

// SendingLedger::match
void GateModel::match(Write& write) {
  for (auto it = ledger_.rbegin(); it != ledger_.rend(); ++it) {
    Sending& earlier = *it;
    const bool same = earlier.client == write.client && earlier.request_hash == write.request_hash && earlier.id == write.id;
    const bool has_id = same && !write.id.empty();
    if (!same || earlier.end == Sending::End::None || !(earlier.lost || has_id)) continue;
    const bool accepted = earlier.end == Sending::End::Accepted;
    write.sending = earlier.number;
    const bool overtaken = accepted && !has_id && !earlier.had_base && others_wrote_since(write, earlier.ended);
    write.is_replay = accepted && !overtaken;
    if (!write.is_replay) {
      if (!earlier.maybe_applied) write.facts.repeated = write.facts.arrived;
      write.facts.arrived = earlier.arrived;
      earlier.end = Sending::End::None;
    }
    earlier.lost = false;
    return;
  }
  std::erase_if(ledger_, [&](const Sending& s) {
    return s.client == write.client && s.request_hash != write.request_hash && s.id.empty() && s.lost &&
           s.end == Sending::End::Accepted;
  });
  write.sending = ++numbers_;
  ledger_.push_back({write.sending, write.client, write.request_hash, write.id, write.facts.arrived});
}

void GateModel::find_bases(Write& write) {
  write.facts.request_id = write.id;
  write.facts.api_version = kApiVersion;
  write.facts.deleted = history_.deleted();
  write.facts.deleted_by = history_.deleted_by();
  write.facts.known_from = known_from_;
  write.facts.former = former_;
  write.bases = possible_bases(history_, limits_, write.facts);
  write.is_forced = is_forced(history_, limits_, write.facts);
  narrow_down(write.bases, {write.json, kApiVersion}, facts());
  if (Sending* sending = sending_of(write)) sending->had_base |= !write.bases.possible.empty();
}

uint64_t GateModel::arrive(char client, const Content& wanted, std::string id) {
  Write& write = under_way_.emplace_back();
  write.number = ++numbers_;
  write.client = client;
  write.wanted = wanted;
  write.json = body_of(wanted);
  write.request_hash = Hasher(HashKey{1, 2}).hash(write.json);
  write.id = std::move(id);
  write.facts.client = key_of(client);
  write.facts.actors = options_.actors;
  write.facts.request_hash = write.request_hash;
  write.facts.arrived = next();
  confirm(client, write.request_hash, write.id);
  match(write);
  if (!write.is_replay) {
    history_.apply(limits_, WriteArrived{key_of(client), {write.number, write.request_hash, write.id}, now_});
    find_bases(write);
    write.facts.request_id = write.facts.api_version = {};  // the write moves
  }
  return write.number;
}

bool GateModel::waits(char client) const {
  return std::any_of(under_way_.begin(), under_way_.end(), [&](const Write& w) { return w.client == client; });
}

// ---- its lock is granted ---------------------------------------------------------------------------------------------------------

bool GateModel::others_wrote_since(const Write& write, uint64_t order) const {
  const Hash128 own = write_key_of(write);
  return history_.written_since(order, [&](const Entry& e) { return e.writer == key_of(write.client) && e.write_key == own; });
}

// reconcile.cc: a read that lacks a write, unless what that asked for is there.
bool GateModel::lags(const There& there) const {
  StateShown shown;
  shown.asked = order_ + 1;
  shown.at = {order_ + 2, now_};
  shown.absent = there.absent;
  shown.etag = there.etag;
  shown.rendering = {std::string(kApiVersion), there.absent ? nullptr : kept(there.json)};
  return history_.lags(limits_, shown, facts());
}

// Reads until what it sees can be believed.
GateModel::There GateModel::look() {
  There there = shown_by(states_.size() - 1);
  while (lags(there)) now_ += std::chrono::seconds(1);
  return there;
}

bool GateModel::is_own_effect(const Write& write, uint64_t since, const There& there) const {
  if (there.absent || others_wrote_since(write, since)) return false;
  return same_content(there.json, write.json);
}

// guard.cc, conflict_of
bool GateModel::conflicts_unseen(const Write& write) const {
  if (write.is_forced) return false;
  if (history_.written_since(write.facts.arrived.order, [&](const Entry& e) { return e.request_hash == write.request_hash; }))
    return true;
  if (write.bases.rule != BaseRule::Forgotten) return false;
  return history_.is_known_written_since(0, [&](const Entry& e) {
    return e.writer == key_of(write.client) && (options_.actors != Actors::Many || e.request_hash == write.request_hash);
  });
}

Verdict GateModel::reconcile(const Write& write, const There& there) {
  WriteFacts about = write.facts;
  about.request_id = write.id;
  about.api_version = kApiVersion;
  const Right right = right_of(history_, limits_, about, write.bases.rule);
  const ThereBody now{there.absent, there.etag, there.json, kApiVersion};
  const auto others = [&](uint64_t order) { return others_wrote_since(write, order); };
  Verdict verdict = decide(write.bases, {write.json, kApiVersion}, now, right, others, facts(), std::nullopt);
  if (verdict.by_right) history_.apply(limits_, RightUsed{key_of(write.client)});
  return verdict;
}

GateModel::Judged GateModel::compare(const Write& write, const There& there) {
  const Sending* sending = sending_of(write);
  const bool maybe_applied = sending != nullptr && sending->maybe_applied;
  if (maybe_applied && is_own_effect(write, write.bases.known_since(), there)) return {Fate::FoundDone, true, false};
  const Verdict verdict = reconcile(write, there);
  const bool means_it = write.is_forced && !there.absent;
  return {verdict.sends || means_it ? Fate::Sent : Fate::Refused, true, verdict.by_right};
}

GateModel::Judged GateModel::judge_unconditional(const Write& write) {
  if (conflicts_unseen(write)) return {};
  const Sending* sending = sending_of(write);
  if (sending != nullptr && sending->maybe_applied && is_own_effect(write, write.facts.arrived.order, look())) {
    return {Fate::FoundDone, true, false};
  }
  return {Fate::Sent, false, false};
}

// guard.cc; where ARM compares the ETag, and where it says 412 what is there decides (recover.cc).
GateModel::Judged GateModel::judge(const Write& write) {
  const Bases& bases = write.bases;
  if (bases.possible.empty()) return judge_unconditional(write);
  const BaseState& base = bases.possible.front();
  const There there = shown_by(states_.size() - 1);
  const bool etag_decides = bases.is_certain() && !base.gone && !base.absent && !base.etag.empty();
  if (etag_decides) return base.etag == there.etag ? Judged{Fate::Sent, false, false} : compare(write, there);
  const bool creates = bases.rule == BaseRule::Create && bases.is_certain();
  if (creates && !others_wrote_since(write, bases.known_since()))
    return {there.absent ? Fate::Sent : Fate::Refused, true, false};
  return compare(write, look());
}

// ---- its answer ------------------------------------------------------------------------------------------------------------------

void GateModel::show_answer(const Write& write, size_t state, Link link) {
  StateShown shown = shown_to(write.client, state);
  shown.as = ShownAs::OwnAnswer;
  shown.write_key = write_key_of(write);
  shown.at = next();
  shown.asked = shown.at.order;
  const uint64_t order = shown.at.order;
  history_.apply(limits_, std::move(shown));
  if (link == Link::Breaks) history_.apply(limits_, AnswerLost{key_of(write.client), order});
}

GateModel::Answer GateModel::accept(const Write& write, Link link) {
  states_.push_back({write.wanted, write.client, states_.back().stamp});
  WriteAccepted accepted{Cause::Written,      key_of(write.client), write.request_hash,
                         write_key_of(write), kept(write.json),     next()};
  journal_.push_back(accepted);
  history_.apply(limits_, std::move(accepted));
  history_.apply(limits_, OperationEnded{write.request_hash, next()});
  show_answer(write, states_.size() - 1, link);
  if (Sending* sending = sending_of(write)) {
    sending->end = Sending::End::Accepted;
    sending->maybe_applied = true;
    sending->state = states_.size() - 1;
    sending->ended = next().order;
    sending->lost = link == Link::Breaks;
  }
  return {true, false, false, there()};
}

GateModel::Answer GateModel::refuse(const Write& write, Link link, bool saw_state) {
  Refusal refusal;
  refusal.request_hash = write.request_hash;
  refusal.request_id = write.id;
  refusal.arrived = write.facts.arrived.order;
  refusal.told = next().order;
  const There found = shown_by(states_.size() - 1);
  if (saw_state && !found.absent) {
    refusal.requested_body = kept(write.json);
    refusal.found = kept(found.json);
  }
  const uint64_t told = refusal.told;
  history_.apply(limits_, Refused{key_of(write.client), std::move(refusal)});
  if (link == Link::Breaks) history_.apply(limits_, AnswerLost{key_of(write.client), told});
  if (Sending* sending = sending_of(write)) {
    sending->end = Sending::End::Refused;
    sending->ended = next().order;
    sending->lost = link == Link::Breaks;
  }
  return {};
}

GateModel::Answer GateModel::replay(const Write& write, Link link) {
  Sending& sending = *sending_of(write);
  sending.lost = link == Link::Breaks;
  show_answer(write, sending.state, link);
  return {true, true, false, states_[sending.state].state};
}

GateModel::Answer GateModel::process(uint64_t number, Link link) {
  const auto it = std::find_if(under_way_.begin(), under_way_.end(), [&](const Write& w) { return w.number == number; });
  const Write write = std::move(*it);
  under_way_.erase(it);
  if (write.is_replay) return replay(write, link);
  const Judged judged = judge(write);
  Answer answer;
  switch (judged.fate) {
    case Fate::Sent: answer = accept(write, link); break;
    case Fate::Refused: answer = refuse(write, link, judged.saw_state); break;
    case Fate::FoundDone: {
      Sending& sending = *sending_of(write);
      sending.end = Sending::End::Accepted;
      sending.state = states_.size() - 1;
      answer = replay(write, link);
      break;
    }
  }
  answer.by_right = judged.by_right;
  history_.apply(limits_, WriteLeft{key_of(write.client), write.number});
  return answer;
}

}  // namespace armgate::policy
