// gate_model.h – one resource behind the pure core: what the gateway's stages do with history, bases and outcome, without anything
// that waits, locks or speaks HTTP.
//
// Why: the laws (docs/design.md, "Getting through") are about long and odd histories of one resource. Here one is a few hundred
// nanoseconds for each step, so that they can be tried by the million. What the model knows of a request is what the gateway
// knows: a name, bytes, a request id and times, never the actor.
//
// What stands for what
//   states()   ARM's own log of the resource. An ETag, if the type has them, is new with each state, also if the service alone wrote.
//   arrive()   coalesce and find_bases: the write is on its way, and waits for its lock.
//   process()  guard, forward, recover, settle, close_write: nothing comes between T being read and ARM's answer.
// Merging and turns are not in it: what would be merged is refused.
// Of the sending ledger (proxy/state, with tests of its own) it has what one resource and lost answers need.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "proxy/policy/bases.h"
#include "proxy/policy/history.h"
#include "proxy/policy/verdict.h"

namespace armgate::policy {

struct Content {
  int capacity = 5;
  std::set<std::string> tags{"a"};
  friend bool operator==(const Content&, const Content&) = default;
};
using State = std::optional<Content>;  // nothing: there is no such resource

// What a client asks for, or ARM shows: `stamp` is what the service wrote by itself; none in a client's body.
std::string body_of(const Content& content, std::optional<int> stamp = std::nullopt);

enum class Link {
  Holds,   // whatever was written to it counts as read from the client's next request on
  Breaks,  // and the gateway sees it
};

class GateModel {
 public:
  struct Options {
    Actors actors = Actors::Unknown;
    bool etags = true;
    Duration think_max = std::chrono::hours(11);
    Duration lag_max = std::chrono::seconds(60);
  };
  static constexpr char kAround = '~';  // who writes around the gateway

  struct ArmState {
    State state;
    char writer = 0;  // 0: it was there from the beginning
    int stamp = 0;    // the service's own part
  };
  // A write's end.
  struct Answer {
    bool done = false;      // else 412
    bool replayed = false;  // with the answer to an earlier sending
    bool by_right = false;  // because it was refused and has read again
    State shown;
  };

  explicit GateModel(Options options);

  const std::vector<ArmState>& states() const { return states_; }
  const State& there() const { return states_.back().state; }
  size_t current() const;  // which state set the content that is there
  const History& history() const { return history_; }

  void tick() { now_ += std::chrono::seconds(1); }
  // A change that does not pass through; equal content: the service wrote something of its own.
  void around(State state);
  // The process begins anew; of the past only the journal is left.
  void restart();

  enum class Reads { Now, Lagging };  // lagging: without the last change of content
  State read(char client, Link link, Reads what = Reads::Now);

  // A write comes in; gives its number.
  uint64_t arrive(char client, const Content& wanted, std::string id = {});
  Answer process(uint64_t write, Link link);
  bool waits(char client) const;  // whether one of its writes is on its way

 private:
  struct Write {
    uint64_t number = 0;
    char client = 0;
    Content wanted;
    std::string json;
    Hash128 request_hash{};
    std::string id;
    uint64_t sending = 0;
    bool is_replay = false;
    WriteFacts facts;
    Bases bases;
    bool is_forced = false;
  };
  // A write as its client means it, until its final answer has arrived.
  struct Sending {
    uint64_t number = 0;
    char client = 0;
    Hash128 request_hash{};
    std::string id;
    Moment arrived;
    enum class End { None, Refused, Accepted } end = End::None;
    bool had_base = false;
    bool maybe_applied = false;
    bool lost = false;   // its answer was
    uint64_t ended = 0;  // order
    size_t state = 0;    // Accepted: what was answered
  };
  struct There {
    bool absent = false;
    std::string etag;
    std::string json;
  };
  enum class Fate { Sent, Refused, FoundDone };
  struct Judged {
    Fate fate = Fate::Refused;
    bool saw_state = false;  // what is there was read
    bool by_right = false;
  };

  Moment next() { return {++order_, now_}; }
  static Hash128 key_of(char client) { return {static_cast<uint64_t>(client), 1}; }
  Hash128 write_key_of(const Write& write) const;
  There shown_by(size_t state) const;
  policy::StateShown shown_to(char client, size_t state) const;
  void show_answer(const Write& write, size_t state, Link link);
  Sending* sending_of(const Write& write);
  void confirm(char client, const Hash128& except_bytes, std::string_view except_id);
  void match(Write& write);
  void find_bases(Write& write);
  bool lags(const There& there) const;
  There look();
  bool others_wrote_since(const Write& write, uint64_t order) const;
  bool is_own_effect(const Write& write, uint64_t since, const There& there) const;
  bool conflicts_unseen(const Write& write) const;
  Verdict reconcile(const Write& write, const There& there);
  Judged judge(const Write& write);
  Judged judge_unconditional(const Write& write);
  Judged compare(const Write& write, const There& there);
  Answer accept(const Write& write, Link link);
  Answer refuse(const Write& write, Link link, bool saw_state);
  Answer replay(const Write& write, Link link);

  const Options options_;
  HistoryLimits limits_;
  std::vector<ArmState> states_;
  History history_;
  std::vector<Write> under_way_;
  std::vector<Sending> ledger_;
  std::vector<WriteAccepted> journal_;
  uint64_t order_ = 0;
  uint64_t numbers_ = 0;
  TimePoint now_{std::chrono::hours(100)};
  TimePoint known_from_{};
  uint64_t former_ = 0;
};

}  // namespace armgate::policy
