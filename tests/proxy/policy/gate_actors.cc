#include "tests/proxy/policy/gate_actors.h"

#include <algorithm>
#include <utility>

namespace armgate::policy {
namespace {

using Leaves = std::map<std::string, int>;

Leaves leaves_of(const Content& content) {
  Leaves leaves{{"capacity", content.capacity}};
  for (const auto& tag : content.tags) leaves["tag " + tag] = 1;
  return leaves;
}

std::optional<int> value(const Leaves& leaves, const std::string& leaf) {
  const auto it = leaves.find(leaf);
  return it == leaves.end() ? std::nullopt : std::optional<int>(it->second);
}

// What changed, and into what; nothing: it is gone.
std::map<std::string, std::optional<int>> change_of(const Content& from, const Content& to) {
  const Leaves before = leaves_of(from);
  const Leaves after = leaves_of(to);
  std::map<std::string, std::optional<int>> change;
  for (const auto* both : {&before, &after}) {
    for (const auto& [leaf, ignored] : *both) {
      if (value(before, leaf) != value(after, leaf)) change[leaf] = value(after, leaf);
    }
  }
  return change;
}

bool sets_capacity(const std::string& op) { return op == "inc" || op[0] == '='; }

bool has_happened(const std::string& op, const Content& in, int applied) {
  if (op == "inc") return applied > 0;
  return apply_op(op, in) == in;
}

}  // namespace

Content apply_op(const std::string& op, const Content& to) {
  Content made = to;
  if (op == "inc") {
    ++made.capacity;
  } else if (op == "file") {
    made = {3, {"a", "f"}};
  } else if (op[0] == '+') {
    made.tags.insert(op.substr(1));
  } else if (op[0] == '-') {
    made.tags.erase(op.substr(1));
  } else {
    made.capacity = std::stoi(op.substr(1));
  }
  return made;
}

void Counts::add(const Counts& other) {
  writes += other.writes;
  lost += other.lost;
  twice += other.twice;
  twice_unseen += other.twice_unseen;
  not_done += other.not_done;
  refused += other.refused;
  undeserved += other.undeserved;
  deserved += other.deserved;
  again += other.again;
  law3 += other.law3;
  livelock += other.livelock;
  most_in_a_row = std::max(most_in_a_row, other.most_in_a_row);
  most_undeserved_in_a_row = std::max(most_undeserved_in_a_row, other.most_undeserved_in_a_row);
}

GateActors::GateActors(GateModel::Options options, const std::vector<Actor>& actors, Disturbances disturbances)
    : gate_(options), kind_(options.actors), left_(std::move(disturbances)) {
  for (const Actor& actor : actors) {
    Hand& hand = hands_.emplace_back();
    hand.is = actor;
    hand.index = hands_.size() - 1;
    hand.polls = actor.habit == Habit::Poll ? 2 : 0;
  }
}

void GateActors::find(int& counter, const char* what) {
  ++counter;
  note(std::string("!") + what);
}

void GateActors::run(const Pick& pick, int steps) {
  const auto all_done = [this] { return std::all_of(hands_.begin(), hands_.end(), [](const Hand& h) { return h.is_done(); }); };
  for (int n = 0; n < steps && !all_done(); ++n) {
    gate_.tick();
    const auto next = possible();
    if (!next.empty()) take(next[pick(next.size())]);
  }
}

// ---- what may happen next --------------------------------------------------------------------------------------------------------

bool GateActors::is_free(const Hand& hand) const { return queue_.empty() || hands_[queue_.front()].is.name == hand.is.name; }

void GateActors::add_losses(std::vector<Step>& steps, Step step) const {
  const bool has_answer = step.kind == Step::Kind::Read || step.kind == Step::Kind::Process || !left_.overlap;
  for (const Loss loss : {Loss::Broken, Loss::Unseen}) {
    step.loss = loss;
    if (has_answer && left_.losses > 0) steps.push_back(step);
  }
  const char writer = gate_.states()[gate_.current()].writer;
  step.loss = Loss::Lagging;
  if (left_.lags > 0 && step.kind == Step::Kind::Read && writer != 0 && writer != GateModel::kAround) steps.push_back(step);
}

std::vector<GateActors::Step> GateActors::possible() const {
  using Kind = Step::Kind;
  std::vector<Step> steps;
  for (const Hand& hand : hands_) {
    if (hand.is_done()) continue;
    std::vector<Kind> kinds;
    if (hand.flight) {
      kinds = {Kind::Process};
    } else if (hand.resend) {
      kinds = {Kind::SendAgain, Kind::Read};
    } else {
      kinds = {hand.must_read ? Kind::Read : Kind::Write};
    }
    for (const Kind kind : kinds) {
      const bool is_decided = kind == Kind::Process || (!left_.overlap && kind != Kind::Read);
      if (is_decided && !is_free(hand)) continue;
      steps.push_back({kind, hand.index, Loss::None});
      add_losses(steps, steps.back());
    }
  }
  if (!left_.around.empty()) steps.push_back({Kind::Around});
  if (left_.service > 0) steps.push_back({Kind::Service});
  if (left_.restarts > 0 && queue_.empty()) steps.push_back({Kind::Restart});
  return steps;
}

void GateActors::take(const Step& step) {
  using Kind = Step::Kind;
  if (step.kind == Kind::Around || step.kind == Kind::Service || step.kind == Kind::Restart) return disturb(step.kind);
  if (step.loss == Loss::Broken || step.loss == Loss::Unseen) --left_.losses;
  if (step.loss == Loss::Lagging) --left_.lags;
  Hand& hand = hands_[step.actor];
  switch (step.kind) {
    case Kind::Read: return read(hand, step.loss);
    case Kind::Process: return finish(hand, step.loss);
    default: return write(hand, step);
  }
}

void GateActors::disturb(Step::Kind kind) {
  const State before = gate_.there();
  if (kind == Step::Kind::Service) {
    --left_.service;
    gate_.around(before);
    return note("~service");
  }
  if (kind == Step::Kind::Restart) {
    --left_.restarts;
    gate_.restart();
    for (Hand& hand : hands_) hand.since = Hand::Since::Nothing;  // no right survives it
    return note("restart");
  }
  const std::string op = left_.around.front();
  left_.around.erase(left_.around.begin());
  if (op == "del") {
    gate_.around(std::nullopt);
  } else {
    gate_.around(op == "new" || !before ? Content{} : apply_op(op, *before));
  }
  note("~" + op);
}

// ---- an actor's steps ------------------------------------------------------------------------------------------------------------

void GateActors::go_on(Hand& hand) {
  ++hand.op;
  hand.applied = hand.undeserved = 0;
  hand.unseen = false;
  hand.resend.reset();
  hand.must_read |= hand.is.habit != Habit::Chain;
  if (hand.is.habit == Habit::Poll) hand.polls = 2;
}

void GateActors::read(Hand& hand, Loss loss) {
  const State body = gate_.read(hand.is.name, loss == Loss::Broken ? Link::Breaks : Link::Holds,
                                loss == Loss::Lagging ? GateModel::Reads::Lagging : GateModel::Reads::Now);
  static const char* const kHow[] = {"", "(broken)", "(unseen)", "(lagging)"};
  note(hand.is.name + std::to_string(hand.index) + ":GET" + kHow[static_cast<int>(loss)]);
  hand.unseen |= loss == Loss::Unseen;
  if (!body) hand.op = hand.is.ops.size();  // nothing to change any more
  if (!body || loss == Loss::Broken || loss == Loss::Unseen) return;
  hand.view_state = gate_.states().size() - 1;
  if (hand.since != Hand::Since::Nothing && loss == Loss::None) hand.since = Hand::Since::Read;
  hand.view = body;
  if (hand.polls > 0) {
    --hand.polls;
    return;
  }
  hand.must_read = false;
  if (hand.resend) {
    const bool it_was_done = hand.doing() == "inc" && body->capacity == hand.resend->capacity;
    if (it_was_done) return go_on(hand);
    hand.resend.reset();
    hand.applied = 0;
  }
  if (apply_op(hand.doing(), *body) == *body) go_on(hand);
}

void GateActors::write(Hand& hand, const Step& step) {
  const bool again = step.kind == Step::Kind::SendAgain;
  if (!again) hand.id = left_.ids ? std::to_string(hand.index) + "." + std::to_string(++hand.intentions) : "";
  Flight flight{0, again ? *hand.resend : apply_op(hand.doing(), *hand.view), again};
  flight.number = gate_.arrive(hand.is.name, flight.wanted, hand.id);
  hand.flight = std::move(flight);
  queue_.push_back(hand.index);
  if (!left_.overlap) return finish(hand, step.loss);
  note(hand.is.name + std::to_string(hand.index) + ":" + hand.doing() + (again ? "(again)" : "") + " arrives");
}

void GateActors::finish(Hand& hand, Loss loss) {
  const Flight flight = *std::exchange(hand.flight, std::nullopt);
  queue_.erase(std::find(queue_.begin(), queue_.end(), hand.index));
  const State before = gate_.there();
  gate_.tick();
  const auto answer = gate_.process(flight.number, loss == Loss::Broken ? Link::Breaks : Link::Holds);
  ++counts_.writes;
  note(hand.is.name + std::to_string(hand.index) + ":" + hand.doing() + (flight.again ? "(again)" : "") +
       (answer.done ? "->ok" : "->412") + (answer.replayed ? "(replayed)" : "") + (answer.by_right ? "(by right)" : "") +
       (loss == Loss::Broken   ? "(broken)"
        : loss == Loss::Unseen ? "(unseen)"
                               : ""));
  if (answer.done) {
    judge_done(hand, answer, before, loss);
  } else {
    judge_refused(hand, flight, before, loss);
    if (hand.is_done()) return;
  }
  if (loss != Loss::None) {
    hand.unseen |= loss == Loss::Unseen;
    hand.resend = flight.wanted;
    return;
  }
  if (!answer.done) {
    hand.must_read = true;
    hand.resend.reset();
    return;
  }
  hand.view = answer.shown;
  hand.view_state = gate_.states().size() - 1;
  go_on(hand);
  while (!hand.is_done() && !hand.must_read && apply_op(hand.doing(), *hand.view) == *hand.view) go_on(hand);
}

// ---- the judge -------------------------------------------------------------------------------------------------------------------

void GateActors::judge_done(Hand& hand, const GateModel::Answer& answer, const State& before, Loss loss) {
  hand.undeserved = hand.in_a_row = hand.misses = 0;
  hand.since = Hand::Since::Nothing;
  const std::string leaf = sets_capacity(hand.doing()) ? "capacity" : "tag " + hand.doing().substr(1);
  if (!before) {
    ++hand.applied;
  } else if (!answer.replayed) {
    const auto change = change_of(*before, *answer.shown);
    const Leaves known = leaves_of(*hand.view);
    const Leaves was = leaves_of(*before);
    const auto unseen = [&](const auto& one) { return value(known, one.first) != value(was, one.first); };
    if (std::any_of(change.begin(), change.end(), unseen)) find(counts_.lost, "lost");
    hand.applied += change.contains(leaf) ? 1 : 0;
    if (hand.applied > 1) hand.unseen ? find(counts_.twice_unseen, "twice_unseen") : find(counts_.twice, "twice");
  }
  const bool nothing_done = !has_happened(hand.doing(), *answer.shown, hand.applied) && hand.applied == 0;
  if (nothing_done && loss == Loss::None) find(counts_.not_done, "not_done");
}

void GateActors::judge_refused(Hand& hand, const Flight& flight, const State& before, Loss loss) {
  ++counts_.refused;
  counts_.most_in_a_row = std::max(counts_.most_in_a_row, ++hand.in_a_row);
  const auto& states = gate_.states();
  const auto since = states.begin() + static_cast<std::ptrdiff_t>(hand.view_state);
  const bool was_gone = std::any_of(since, states.end(), [](const auto& s) { return !s.state; });
  if (flight.again && hand.applied > 0) {
    ++counts_.again;
  } else if (was_gone || hand.view != before) {
    ++counts_.deserved;
  } else {
    find(counts_.undeserved, "undeserved");
    if (!flight.again) {
      ++hand.undeserved;
      const auto same = [&] { return change_of(hand.change->first, hand.change->second) == change_of(*before, flight.wanted); };
      if (!hand.change || !same()) hand.misses = 0;
      hand.change = {*before, flight.wanted};
      const bool has_read_this = hand.since == Hand::Since::Read && hand.view_state >= gate_.current();
      hand.misses += has_read_this ? 1 : 0;
      if (kind_ != Actors::Many && hand.misses > (kind_ == Actors::Unknown ? 1 : 0)) find(counts_.law3, "law3");
    }
  }
  if (hand.view == before) counts_.most_undeserved_in_a_row = std::max(counts_.most_undeserved_in_a_row, hand.undeserved);
  hand.since = loss == Loss::None ? Hand::Since::Refused : Hand::Since::Nothing;
  if (hand.undeserved < 3) return;
  find(counts_.livelock, "livelock");
  hand.op = hand.is.ops.size();
}

void for_each_schedule(const std::function<void(const Pick&)>& run, size_t most) {
  std::vector<size_t> choices;
  for (size_t n = 0; n < most; ++n) {
    std::vector<size_t> widths;
    run([&](size_t width) {
      if (widths.size() == choices.size()) choices.push_back(0);
      widths.push_back(width);
      return choices[widths.size() - 1];
    });
    choices.resize(widths.size());
    while (!choices.empty() && choices.back() + 1 >= widths[choices.size() - 1]) choices.pop_back();
    if (choices.empty()) return;
    ++choices.back();
  }
}

}  // namespace armgate::policy
