// Goal: the histories by which the rules were chosen (docs/design.md, "What was tried") come out as they must, those that are
// accepted holes too.
// Method: each is a line of steps, played on the modelled gateway for each kind of client, with ETags and without.
//
//   A0:G        actor 0 of client A reads     Gl: the connection breaks   Gu: complete, never read   Gs: it lags
//   A0:inc=ok   it writes what it makes of its state; =412, =? (either); l and u as above; "again" sends the same bytes again
//   ~+z         around the gateway; ~del, ~new, ~svc (the service alone writes)
//   restart     the process
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/proxy/policy/gate_actors.h"

namespace armgate::policy {
namespace {

enum class Ids { Without, With };

struct History_ {
  const char* name;
  const char* steps;
  std::vector<Actors> kinds;
  std::map<std::string, int> ends{};  // "capacity", or a tag that is there (1) or not (0)
  Ids ids = Ids::Without;
};

const std::vector<Actors> kAll{Actors::Single, Actors::Unknown, Actors::Many};
const std::vector<Actors> kTurning{Actors::Single, Actors::Unknown};  // those for whom the laws of liveness hold
const std::vector<Actors> kDoubting{Actors::Unknown, Actors::Many};
const std::vector<Actors> kSingle{Actors::Single};
const std::vector<Actors> kUnknown{Actors::Unknown};
const std::vector<Actors> kMany{Actors::Many};

const std::vector<History_> kNumbered{
    {"1 stale by a change around", "A0:G ~inc A0:inc=412", kAll},
    {"2 two actors count", "A0:G A1:G A0:inc=ok A1:inc=412", kDoubting},
    {"3 another's tag stays", "A0:G ~+z A0:+x=412 A0:-x=?", kAll, {{"z", 1}}},
    {"4 a read that was lost", "A0:Gl A0:G A0:inc=ok A0:inc=ok", kSingle, {{"capacity", 7}}},
    {"5 read again after a change around", "A0:G A0:inc=ok ~+z A0:G A0:inc=ok", kTurning, {{"capacity", 7}, {"z", 1}}},
    {"6 a tag of the other actor stays", "A0:G A1:G A0:+x=ok A0:G A1:+y=?", kDoubting, {{"x", 1}}},
    {"7 deleted and made anew", "A0:G ~del A0:inc=412 ~new A0:G A0:inc=ok", kTurning, {{"capacity", 6}}},
    {"8 sent again after another's write", "A0:G A0:inc=ok A0:inc=okl B1:G B1:inc=ok A0:again=ok", kTurning, {{"capacity", 8}}},
    {"8 the same, of many", "A0:G A0:inc=okl B1:G B1:inc=ok A0:again=ok", kMany, {{"capacity", 7}}},
    {"9 refused, and again", "A0:G A1:G A0:+x=ok A1:+y=? A0:-x=? A1:G A1:+y=ok", kTurning, {{"y", 1}}},
    {"10 a lost 412", "B1:G A0:file=ok B1:inc=412l B1:again=412", kAll, {{"capacity", 3}}},
    {"11 the same bytes as a lost answer's, after a read",
     "A0:G A0:+x=ok A0:-x=ok A0:+x=okl A0:G A0:-x=ok A0:+x=ok",
     kSingle,
     {{"x", 1}}},
    {"12 no right survives a delete", "A0:G A0:+x=ok A1:G A2:G ~del A1:+y=412 ~new A1:G A2:+z=412", kDoubting},
    {"13 there and back: the right is that of the entry, not of its content",
     "A0:G A1:G C3:G C3:inc=ok A0:inc=412 A1:G B4:G B4:=5=ok A0:again=412",
     kDoubting,
     {{"capacity", 5}}},
    {"15 accepted hole: an actor that reads no more sees no difference",
     "A0:G A1:G A0:=10=ok A1:inc=ok",
     kUnknown,
     {{"capacity", 6}}},
    {"16 accepted hole: a file after a broken answer is its re-send", "A0:file=okl A0:again=ok", kAll, {{"f", 1}}},
    {"17 accepted hole: a read that was complete and never seen",
     "A0:G A0:+x=ok B1:G B1:+y=ok A0:Gu A0:-x=ok",
     kSingle,
     {{"y", 0}}},
    {"18 of many, another actor has no right",
     "A0:G A1:G B2:G B2:inc=ok A0:inc=412 A1:G A0:again=412",
     kMany,
     {{"capacity", 6}}},
};

const std::vector<History_> kRestartsAndLosses{
    {"14 accepted hole: wrongly declared single", "A0:G A1:G A0:+x=ok A1:+y=ok", kSingle, {{"x", 0}}},
    {"restart: the journal knows another: once", "A0:G B1:G B1:+x=ok restart A0:+y=412 A0:again=ok", kTurning},
    {"restart: stale, then read again", "A0:G B1:G B1:+x=ok restart A0:+y=412 A0:G A0:+y=ok", kTurning, {{"x", 1}, {"y", 1}}},
    {"restart: only its own writes", "A0:G A0:+x=ok restart A0:+y=ok", kTurning, {{"x", 1}}},
    {"restart: a hidden actor reads after it", "A0:G B1:G B1:inc=ok restart A2:G A0:inc=412", kDoubting, {{"capacity", 6}}},
    {"a read that lags, then a write on it", "A0:G A0:+x=ok A0:Gs A0:+y=?", kAll, {{"x", 1}}},
    {"a read that lacks another's write", "A0:G B1:G B1:inc=ok A0:G A0:Gs A0:inc=412", kAll, {{"capacity", 6}}},
    {"a nightly file, others in between", "A0:file=ok B1:G B1:+x=ok A0:file=412 A0:again=ok", kAll},
    {"an answer that was never seen, the same id", "A0:G A0:inc=oku A0:again=ok", kAll, {{"capacity", 6}}, Ids::With},
    {"the same with another's write", "A0:G A0:inc=oku B1:G B1:inc=ok A0:again=ok", kAll, {{"capacity", 7}}, Ids::With},
    {"a broken answer, and a namesake reads", "A0:G A0:inc=okl B1:G B1:inc=ok A2:G A0:again=?", kDoubting, {{"capacity", 7}}},
    {"a broken answer, and it reads itself", "A0:G A0:inc=okl B1:G B1:inc=ok A0:G A0:inc=ok", kTurning, {{"capacity", 8}}},
    {"the service alone wrote", "A0:G ~svc A0:inc=ok", kTurning, {{"capacity", 6}}},
    {"two rights, one read of what is there",
     "A0:G A1:G B2:G B2:inc=ok A0:inc=412 A1:inc=412 A0:G A0:inc=ok A1:again=412",
     kUnknown,
     {{"capacity", 7}}},
};

class Played {
 public:
  Played(const History_& history, Actors kind, bool etags) : gate_({kind, etags}), with_ids_(history.ids == Ids::With) {
    std::istringstream steps(history.steps);
    for (std::string step; steps >> step;) {
      gate_.tick();
      take(step);
    }
    for (const auto& [leaf, value] : history.ends) check_end(leaf, value);
  }
  const std::string& wrong() const { return wrong_; }

 private:
  void take(const std::string& step) {
    if (step == "restart") return gate_.restart();
    if (step[0] == '~') return around(step.substr(1));
    const auto what = step.substr(step.find(':') + 1);
    what[0] == 'G' ? read(step, what) : write(step, what);
  }

  void around(const std::string& op) {
    if (op == "del") return gate_.around(std::nullopt);
    if (op == "new") return gate_.around(Content{});
    gate_.around(op == "svc" ? *gate_.there() : apply_op(op, *gate_.there()));
  }

  void read(const std::string& step, const std::string& how) {
    const auto what = how == "Gs" ? GateModel::Reads::Lagging : GateModel::Reads::Now;
    const State seen = gate_.read(step[0], how == "Gl" ? Link::Breaks : Link::Holds, what);
    if (how != "Gl" && how != "Gu") view_[actor(step)] = seen;
  }

  void write(const std::string& step, const std::string& what) {
    const auto equals = what.find('=', 1);
    const std::string op = what.substr(0, equals);
    const std::string want = what.substr(equals + 1);
    const int who = actor(step);
    if (op != "again") {
      const State& view = view_[who];
      last_[who] = apply_op(op, view ? *view : Content{});
      if (with_ids_) id_[who] = step;
    }
    const char how = want.back();
    const uint64_t number = gate_.arrive(step[0], last_[who], id_[who]);
    gate_.tick();
    const auto answer = gate_.process(number, how == 'l' ? Link::Breaks : Link::Holds);
    if (answer.done && how != 'l' && how != 'u') view_[who] = answer.shown;
    const bool as_wanted = want[0] == '?' || (want[0] == 'o') == answer.done;
    if (!as_wanted) wrong_ += step + (answer.done ? " was ok; " : " was 412; ");
  }

  void check_end(const std::string& leaf, int value) {
    const Content there = gate_.there().value_or(Content{});
    const int is = leaf == "capacity" ? there.capacity : static_cast<int>(there.tags.count(leaf));
    if (is != value) wrong_ += "ends with " + leaf + " " + std::to_string(is);
  }

  static int actor(const std::string& step) { return step[1] - '0'; }

  GateModel gate_;
  const bool with_ids_;
  std::map<int, State> view_;
  std::map<int, Content> last_;
  std::map<int, std::string> id_;
  std::string wrong_;
};

void play(const std::vector<History_>& histories) {
  for (const History_& history : histories) {
    for (const Actors kind : history.kinds) {
      for (const bool etags : {true, false}) {
        const Played played(history, kind, etags);
        EXPECT_EQ(played.wrong(), "") << history.name << ": " << to_text(kind) << (etags ? "" : ", no ETags") << ": "
                                      << history.steps;
      }
    }
  }
}

TEST(GateHistories, TheNumberedOnesComeOutAsTheyMust) { play(kNumbered); }

TEST(GateHistories, SoDoThoseOfRestartsLagsAndLostAnswers) { play(kRestartsAndLosses); }

}  // namespace
}  // namespace armgate::policy
