// sending_ledger.h – what one client has asked to be written, and what became of it: is an arriving request a new write, or one
// that was here before?
//
// Why: a client whose connection broke, or that was told to come again, sends its bytes once more. Forwarded as a new write
// they would run a restart twice, or be taken for a change that was built on their own effect. One record for each intended
// write, from its first arrival until its final answer has arrived; one function matches a request against them.
//
// What is the same write. Method, host, target, body and credential must be equal (claims alone are unverified). Under one
// request id two requests are one by the client's own word; under two ids they never are. Without ids a request is an earlier
// one again if that one's client is gone without the answer, or was told to come again; while it listens, the same bytes are a
// second write (two actors may both count from 2 to 3).
//
// Once means once (Repeats). What ARM accepted outlives its answer's arrival where its client named the request (a
// repeatability id), where a rule says for how long the same request is one (unless its operation has failed), and for the PUT
// of one actor while its operation runs. Then the record stands for the answer: the same request gets it again. Under a
// repeatability id it is the id that makes two requests the same; one with another content is a misuse, and one of which the
// record may have been forgotten is not decided.
//
// When it is over. What ARM accepted: when its answer has arrived; without an id also with its client's next read or other
// write. What was refused: when the refusal was written as a whole, or without an id with a read, for a client that reads and
// comes again must not be judged by what it had read before. What is in doubt: with a read; an id outlives that. Of a client
// that is one actor, its next read or other write ends everything without an id: it has gone on.
//
// Threads   any; one short mutex. Waiters of those who share an answer are signalled under it, so that none can die meanwhile.
//           What match() asks is asked under it, too, and may lock the resource's history.
// Limits    Options. Beyond them records that nobody works on are forgotten: first those without effect, then those that are
//           done, those whose answers are given again, last those in doubt; of each kind the oldest first. A re-send is then a
//           new write, but for repeatability ids: it stays known that some were forgotten. The bytes of answers are dropped
//           before records are.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arm/http.h"
#include "arm/long_running.h"
#include "base/hash.h"
#include "base/time.h"
#include "proxy/async/frame_pool.h"
#include "proxy/async/mutex.h"
#include "proxy/async/waiter.h"
#include "proxy/seams/client_link.h"
#include "proxy/seams/store.h"

namespace armgate {

struct SendingEvent;

// Is told what changes the ledger, for other processes that keep the same ledger (proxy/cluster). Called under its mutex.
class SendingSink {
 public:
  virtual ~SendingSink() = default;
  virtual void tell(SendingEvent event) = 0;
};

class SendingLedger {
 public:
  struct Options {
    Duration keep = std::chrono::minutes(5);          // how long a re-send is waited for
    Duration in_doubt_max = std::chrono::minutes(5);  // how long a write of unknown outcome keeps its re-send from being sent
    Duration repeat_keep = std::chrono::hours(12);    // how long what has a repeatability id is remembered
    size_t sendings_max = 10'000;
    size_t bytes_max = 8u << 20;  // of the answers' bodies
    uint64_t first_id = 1;        // so that ledgers of one client in several processes give no number twice
    SendingSink* sink = nullptr;
  };

  // Which later requests get the answer again of one that ARM accepted.
  struct Repeats {
    bool by_id = false;     // those under its repeatability id
    Duration window{};      // the same request for so long, unless something else was accepted on the resource meanwhile
    Duration running{};     // the same while the operation of this one runs, likewise; at most for so long
    WallTime first_sent{};  // by_id: by its client's clock
    WallTime known_from{};  // by_id: what was first sent before may have reached a process of which nothing is known
    WallTime known_until{WallTime::max()};  // by_id: what was first sent after is by a clock that is not ours
    bool any() const { return by_id || window > Duration::zero() || running > Duration::zero(); }
  };

  // One request as it arrives.
  struct Arrival {
    Hash128 request{};       // keyed hash of all that makes two requests the same; under a repeatability id of that
    std::string request_id;  // may be empty
    Hash128 resource{};
    Moment at;
    std::shared_ptr<const Presence> asker;
    bool one_actor = false;  // its client is said to be one
    Hash128 content{};       // keyed hash of what it asks for
    Hash128 resend{};        // and of that with its credential
    Repeats repeats{};
  };

  // What outlives the answer itself, and the process.
  struct Recorded {
    int status = 0;
    std::string etag;
    arm::Tracking tracking;
    bool was_merged = false;  // with what others had changed: its client may not know of that
    // How its operation ended; nothing: nobody had to know when this was recorded, for `tracking` told.
    std::optional<OperationResult> ended{};
  };

  // The client that is to get the answer of a sending. It changes when the sending runs again, or when another takes the place
  // of a client that is gone: then it does not matter any more what became of the earlier answer.
  struct Asking {
    uint64_t sending = 0;
    uint64_t number = 0;
  };

  enum class Match {
    New,           // a write of its own
    Again,         // an earlier one that had no effect, or none that is known: it is carried out, as of its first arrival
    Shared,        // an earlier one that runs, or whose answer did not arrive: it gets that answer
    InDoubt,       // an earlier one whose outcome nobody knows: it must not be sent
    DoubtExpired,  // the same, for so long that it is sent; told once
    Misused,       // under the repeatability id of another request
    Forgotten,     // under a repeatability id that may have been here before
    Ahead,         // under one that nobody could tell from a new one, once it is forgotten
  };
  struct Matched {
    Match match = Match::New;
    Asking asking;             // InDoubt, Misused, Forgotten, Ahead: none
    Moment arrived;            // of its first sending
    bool as_recorded = false;  // Shared: it came with another credential, and must show what it may read
  };

  // What became of a sending.
  struct Ending {
    enum class Kind {
      Expected,  // no effect, and its client is to come again
      Refused,   // a final answer, without effect
      Accepted,
      InDoubt,  // it may have taken effect
    } kind = Kind::Refused;
    std::shared_ptr<const arm::Response> answer;  // null: not to be had again
    std::string reason;                           // what its headers say was done; empty if nothing was
    IntentId intent = 0;                          // its record in the store; 0: none
    std::shared_ptr<const Recorded> recorded{};   // of what ARM accepted; null: not kept
  };

  explicit SendingLedger(Options options, Hash128 client = {})
      : options_(options), client_(client), next_id_(options.first_id), next_asking_(options.first_id) {}

  // What decides beside the record; a function that is not given is not asked.
  enum class Since { Nothing, Written, Unknown };
  struct Questions {
    // Whether the resource was written since an order, but by that sending.
    std::function<Since(uint64_t sending, uint64_t order)> written{};
    // Whether what the write began still runs, by all that is known since an order.
    std::function<bool(IntentId, uint64_t order)> runs{};
    // Whether it is known to have failed.
    std::function<bool(IntentId)> failed{};
  };
  // Shared: signals `waiter` with `bits` when it has ended, until leave(). Takes the place of a client that is gone.
  Matched match(const Arrival& arrival, Waiter* waiter, uint32_t bits, const Questions& ask);
  // The same without taking part: whether an earlier write is the same (mode observe).
  bool knows(const Arrival& arrival);
  // A write of its own, whatever came before.
  Asking add(const Arrival& arrival);
  // Of an earlier process: it may come again. Accepted: it took effect, and its answer is given again as its Repeats say.
  uint64_t add_former(const Arrival& arrival, Ending ending);

  // ---- the exchange that runs the write ----
  void sent(uint64_t sending);
  void note_had_base(uint64_t sending);
  void note_maybe_applied(uint64_t sending);
  bool is_heard(uint64_t sending) const;       // who asked for it is still there to hear its answer
  uint64_t next_id() const;                    // above all that were given
  bool maybe_applied(uint64_t sending) const;  // by this or an earlier sending of it
  int note_visibility_try(uint64_t sending);   // gives how many there were before
  // Wakes those who share its answer. Nothing: others carry it out by now, or have (follow()).
  void end(const Asking& asking, Ending ending, Moment now);
  // Its answer was written as a whole; has arrived; may not have arrived.
  void written(const Asking& asking);
  void delivered(const Asking& asking);
  void undelivered(const Asking& asking);

  // ---- who shares an answer ----
  enum class With { Answer, Nothing };
  void leave(uint64_t sending, Waiter* waiter, With with);
  // Null while it runs. What is not known any more has ended without an answer.
  std::optional<Ending> ending(uint64_t sending) const;
  // The same for who came with `resend`. Meanwhile another of those who share it may have carried it out once more.
  struct Told {
    std::optional<Ending> ending;
    bool as_recorded = false;  // as Matched's, of what ended last
  };
  Told told(uint64_t sending, const Hash128& resend) const;

  // A read of the resource that was asked for at `asked` is delivered: its client knows what became of what had ended before.
  void resolve(const Hash128& resource, Moment asked);

  // ---- of a ledger that is kept elsewhere too
  // What changed it there. `asker` stands for whoever asks there. False: by the order of events it changes nothing, for all: a
  // request was begun again without knowing that another process had begun, or ended, the same.
  bool follow(const SendingEvent& event, std::shared_ptr<const Presence> asker, Moment now);
  // The same of what changed it here: all know of it from that order on.
  void note_logged(const SendingEvent& event, uint64_t order);
  // Since when all know of its first arrival; 0: they do not yet.
  uint64_t logged_at(uint64_t sending) const;
  // Whether the same was asked for elsewhere before all knew of this one, so that it must not be carried out beside that.
  bool is_elsewhere(const Arrival& arrival, const Asking& own, const Questions& ask);

  // Forgets what nobody will ask for any more; true if something is left.
  bool expire(TimePoint now);
  size_t size() const;

 private:
  // Where a record stands, by what it is waiting for. Each is in the order in which that began.
  enum class Stage : uint8_t { Running, WithoutEffect, Done, Repeatable, Recorded, InDoubt };
  static constexpr size_t kStages = 6;

  struct Sharer {
    Waiter* waiter;
    uint32_t bits;
    uint64_t asking;  // 0: somebody else is to get the answer
  };
  // Its first arrival, and what became of it; who asks, and how it is repeated, are those of the last one.
  struct Sending : Arrival {
    explicit Sending(const Arrival& arrival) : Arrival(arrival) {}
    uint64_t id = 0;
    uint64_t asking = 0;
    uint64_t runner = 0;  // of a ledger that is kept elsewhere too: whose asking is carried out, by what all know; 0: nobody's
    uint64_t logged = 0;  // and since when they know; 0: not yet
    uint64_t added = 0;   // since when all know of its first arrival
    uint64_t begun = 0;   // whose asking was begun here, as long as the others do not know
    uint64_t ended_by = 0;      // whose asking was carried out to that end; 0: another process found out
    bool is_end_logged = true;  // and all know of the end
    bool sent = false;
    bool had_base = false;
    bool maybe_applied = false;
    bool undelivered = false;
    bool settled = false;  // by a read, for all but who sends the same request again by its own word
    bool told = false;     // its answer has arrived, and the record stays
    TimePoint repeats_until{TimePoint::min()};
    int visibility_tries = 0;
    std::optional<Ending> ending;
    Moment ended;
    std::vector<Sharer> sharers;
  };
  using Sendings = std::list<Sending, PoolAllocator<Sending>>;
  using Iterator = Sendings::iterator;
  using Iterators = absl::InlinedVector<Iterator, 1>;
  template <class Key>
  using Index = absl::flat_hash_map<Key, Iterators>;
  using Call = std::pair<Hash128, std::string>;  // request and its id

  enum class SettledBy { Read, OtherWrite };
  enum class From { Here, Elsewhere };

  static size_t bytes_of(const Ending& ending);
  static Call call_of(const Hash128& request, const std::string& request_id);
  static Stage stage_of(const Sending& sending);
  static bool may_be_settled(const Sending& sending);
  static bool is_found_by_content(const Sending& sending);
  static bool is_kept(const Sending& sending);
  bool is_over(const Sending& sending, TimePoint now) const;
  TimePoint end_of_repeats(const Sending& sending) const;
  bool may_be_lost(const Sending& earlier, TimePoint now) const;
  Match compare(const Sending& earlier, const Arrival& arrival, const Questions& ask) const;
  Match judge_lost(const Sending& earlier, const Arrival& arrival, const Questions& ask) const;
  Match judge_repeated(const Sending& earlier, const Arrival& arrival, const Questions& ask) const;

  struct Found {
    Match match = Match::New;
    Iterator place{};  // unless New
  };
  // `before`: only of those that all knew of earlier than of that one.
  Found find_earlier(const Arrival& arrival, const Questions& ask, const Sending* before = nullptr)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void tell_sink(SendingEvent event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `seen`: what it ended with before; null: it is new.
  void tell_begun(Sending& sending, const Arrival& arrival, const Ending* seen) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static bool note_logged_locked(Sending& sending, const SendingEvent& event, uint64_t order);
  void end_locked(Iterator place, uint64_t by, Ending ending, Moment now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Iterator add_locked(const Arrival& arrival) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Iterator add_former_locked(const Arrival& arrival, Ending ending) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void take_ids(Iterator place, const Asking& asking) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  template <class How>
  void change(Iterator place, How how) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void set_ending(Iterator place, std::optional<Ending> ending) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void mark_told(Iterator place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void drop_answer(Iterator place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void take_asking(Sending& sending, const Arrival& arrival) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void run_again(Iterator place, const Arrival& arrival) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void attach(Sending& sending, const Arrival& arrival, Waiter* waiter, uint32_t bits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void settle_doubts(const Hash128& resource, uint64_t since, SettledBy by, const Hash128& request, From from = From::Here)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void close(const Asking& asking, bool has_arrived) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Sendings& list_of(Stage stage) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stages_[static_cast<size_t>(stage)]; }
  Sending* find_locked(uint64_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const Sending* find_locked(uint64_t id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Null if somebody else is to get the answer by now.
  Sending* find_locked(const Asking& asking) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void index(Iterator place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void unindex(Iterator place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void forget(Iterator place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void expire_locked(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void expire_repeats(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void keep_within_bounds(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  const Hash128 client_;
  mutable Mutex mutex_;
  std::array<Sendings, kStages> stages_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint64_t, Iterator> by_id_ ABSL_GUARDED_BY(mutex_);
  Index<Call> by_call_ ABSL_GUARDED_BY(mutex_);
  Index<Hash128> whatever_id_ ABSL_GUARDED_BY(mutex_);  // by request: those in doubt, and what is given again whatever its id
  Index<Hash128> unsettled_ ABSL_GUARDED_BY(mutex_);    // those that a read or another write may settle, by resource
  std::set<std::pair<TimePoint, uint64_t>> repeats_until_ ABSL_GUARDED_BY(mutex_);  // of what is kept, by its end
  WallTime forgotten_ ABSL_GUARDED_BY(mutex_){};  // the latest Repeats::first_sent of what is not known any more
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_asking_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armgate
