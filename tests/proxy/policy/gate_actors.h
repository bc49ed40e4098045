// gate_actors.h – clients of the modelled gateway: read-modify-write loops that can lose answers, and the judge of what became of
// them.
//
// Why a judge of its own: safety and liveness are judged by what the clients know and what ARM did, never by the gateway's reasons.
//
// What is counted
//   lost        an accepted write changed a leaf whose value its actor had not seen
//   twice       one intention changed its leaf twice; twice_unseen: after an answer that was complete and never read, of which the
//               gateway cannot know
//   not_done    acknowledged, without effect
//   undeserved  a 412 although the actor's state is what is there; deserved: it is not
//   again       a 412 to the re-send of what had been done
//   law3        an undeserved 412 to who had read what is there after an earlier one (the second of them for `unknown`)
//   livelock    three undeserved ones in a row for one intention
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/proxy/policy/gate_model.h"

namespace armgate::policy {

// What an intention makes of a state: "inc", "+tag", "-tag", "=10", or "file" (always the same).
Content apply_op(const std::string& op, const Content& to);

struct Counts {
  int writes = 0;
  int lost = 0;
  int twice = 0;
  int twice_unseen = 0;
  int not_done = 0;
  int refused = 0;
  int undeserved = 0;
  int deserved = 0;
  int again = 0;
  int law3 = 0;
  int livelock = 0;
  int most_in_a_row = 0;             // 412s that one actor got
  int most_undeserved_in_a_row = 0;  // of them for one intention
  void add(const Counts& other);
};

enum class Habit {
  Get,    // reads before each write
  Chain,  // goes on with its write's answer
  Poll,   // reads twice more after each write
};

struct Actor {
  char name = 'A';
  std::vector<std::string> ops;
  Habit habit = Habit::Get;
};

// Which of `width` possible steps comes next.
using Pick = std::function<size_t(size_t width)>;

struct Disturbances {
  int losses = 0;                     // answers that do not arrive
  std::vector<std::string> around{};  // changes that bypass the gateway: ops, "del", "new"
  int service = 0;                    // writes of the service alone
  int restarts = 0;
  int lags = 0;          // reads that lack the last write
  bool overlap = false;  // a write can wait while others read
  bool ids = false;      // writes have request ids that stay when they are sent again
};

class GateActors {
 public:
  GateActors(GateModel::Options options, const std::vector<Actor>& actors, Disturbances disturbances);

  // Until all are done, or `steps` are over.
  void run(const Pick& pick, int steps);

  const Counts& counts() const { return counts_; }
  // "A0:GET A1:inc->ok ~+x", with the judge's findings as "!lost".
  const std::string& log() const { return log_; }

 private:
  struct Flight {
    uint64_t number = 0;
    Content wanted;
    bool again = false;
  };
  struct Hand {
    Actor is;
    size_t index = 0;
    State view;  // what it builds on
    size_t view_state = 0;
    size_t op = 0;
    bool must_read = true;
    int polls = 0;
    std::optional<Flight> flight;
    std::optional<Content> resend;  // an answer did not come
    int written = 0;
    int intentions = 0;
    std::string id;
    int applied = 0;  // changes that this intention has made
    bool unseen = false;
    int in_a_row = 0;
    int undeserved = 0;
    enum class Since { Nothing, Refused, Read } since = Since::Nothing;
    int misses = 0;
    std::optional<std::pair<Content, Content>> change;  // of the last undeserved refusal
    bool is_done() const { return op >= is.ops.size(); }
    const std::string& doing() const { return is.ops[op]; }
  };
  enum class Loss { None, Broken, Unseen, Lagging };
  struct Step {
    enum class Kind { Read, Write, SendAgain, Process, Around, Service, Restart } kind = Kind::Read;
    size_t actor = 0;
    Loss loss = Loss::None;
  };

  std::vector<Step> possible() const;
  void add_losses(std::vector<Step>& steps, Step step) const;
  bool is_free(const Hand& hand) const;
  void take(const Step& step);
  void disturb(Step::Kind kind);
  void read(Hand& hand, Loss loss);
  void write(Hand& hand, const Step& step);
  void finish(Hand& hand, Loss loss);
  void judge_done(Hand& hand, const GateModel::Answer& answer, const State& before, Loss loss);
  void judge_refused(Hand& hand, const Flight& flight, const State& before, Loss loss);
  void go_on(Hand& hand);
  void note(const std::string& what) { log_ += (log_.empty() ? "" : " ") + what; }
  void find(int& counter, const char* what);

  GateModel gate_;
  const Actors kind_;
  std::vector<Hand> hands_;
  std::vector<size_t> queue_;  // writes that wait, by actor
  Disturbances left_;
  Counts counts_;
  std::string log_;
};

// Every schedule, the shortest choices first: calls `run` with each in turn, at most `most` of them.
void for_each_schedule(const std::function<void(const Pick&)>& run, size_t most);

}  // namespace armgate::policy
