// small_world.h – one resource, a few actors behind one or two clients, and everything that can happen to them, in every order.
//
// Why: of every write two questions are asked. Is it safe: not guarded with a state newer than the one its actor held in its
// hands (promise P1)? And is it what DESIGN §3 says, as version_model.h has it? The world knows what each actor really holds;
// armgate does not. `Memory` is what is tried: the pure decision (base_search_test), or the client's state around it.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/proxy/policy/shown.h"
#include "tests/proxy/policy/version_model.h"

namespace armgate::policy {

enum class Event {
  Read,            // delivered and confirmed
  ReadIdle,        // delivered, but its connection has not shown it yet
  ReadLost,        // recorded, but it never arrived
  Confirm,         // the next request on the connection shows that the answer before it arrived
  Write,           // other bytes each time, built on what the actor holds
  WriteLost,       // the same, and its answer gets lost
  Postpone,        // a write that is asked to come again: 503
  Again,           // the bytes of the actor's last write, if that was refused or postponed
  Delete,          // by the client, through armgate, until its end
  OutsiderWrite,   // anybody else's change
  OutsiderDelete,  // through armgate
  Touch,           // the ETag moves, the content does not
  Think,           // time passes, longer than think_max and insist_after
};

constexpr int kNothing = std::numeric_limits<int>::max();  // built on no state: any precondition is welcome

// How the actors of a client can be told apart, if at all.
enum class Habit {
  Single,         // there is only one, and it is declared
  RequestIds,     // each command has an id of its own (az)
  FreshIds,       // each request has one (the SDKs)
  EtagsInBodies,  // the body says what it was built on
  TellingBodies,  // what it changes, and what it leaves, says the same: content evidence
  ApiVersions,    // each reads and writes at one of its own
  Hidden,         // not at all
};

struct Taken {
  enum class How { On, Impossible, Unsafe, Different } how = How::On;
  std::string note{};
};

enum class Begins { There, Absent };

template <class Memory>
class World {
 public:
  World(Habit habit, const std::vector<int>& client_of_actor, Begins begins)
      : habit_(habit), begins_(begins), actors_(client_of_actor.size()), exists_(begins == Begins::There) {
    for (size_t i = 0; i < actors_.size(); ++i) {
      const auto client = static_cast<size_t>(client_of_actor[i]);
      while (clients_.size() <= client) clients_.push_back(std::make_unique<Client>());
      actors_[i].client = clients_[client].get();
      actors_[i].command = "command-" + std::to_string(i);
      if (habit == Habit::ApiVersions) actors_[i].api_version = "version-" + std::to_string(i);
    }
  }

  int refusals = 0;
  int thoughts = 0;
  uint64_t writes = 0;

  Taken take(Event event, size_t number) {
    Hand& actor = actors_[number];
    const auto certain = Confirmation::Confirmed;
    const auto pending = Confirmation::Pending;
    switch (event) {
      case Event::Read: return read(actor, certain, true);
      case Event::ReadIdle: return read(actor, pending, true);
      case Event::ReadLost: return read(actor, pending, false);
      case Event::Confirm: return confirm(actor);
      case Event::Write: return write_new(actor, certain, Fate::Served);
      case Event::WriteLost: return write_new(actor, pending, Fate::Served);
      case Event::Postpone: return write_new(actor, certain, Fate::Postponed);
      case Event::Again: return actor.may_come_again ? again(actor) : Taken{Taken::How::Impossible};
      case Event::Delete: return erase_by(actor);
      case Event::OutsiderWrite: change(); break;
      case Event::OutsiderDelete: erase(); break;
      case Event::Touch: ++etag_; break;
      case Event::Think: think(); break;
    }
    return {};
  }

 private:
  struct Client {
    Memory memory;
    VersionModel model;
  };
  struct Pending {
    uint64_t order = 0;
    size_t delivery = 0;
    bool arrived = false;
  };
  struct Hand {
    Client* client = nullptr;
    std::string command;
    std::string api_version{"version"};
    int holds = kNothing;
    std::string etag_held{};
    int last_bytes = 0;
    int last_built_on = kNothing;
    std::string last_id{};
    bool may_come_again = false;
    bool is_postponed = false;
    Pending pending{};
  };
  enum class Fate { Served, Postponed };

  std::string etag_text() const { return "e" + std::to_string(etag_); }
  void change() {
    exists_ = true;
    ++content_;
    ++etag_;
  }
  void erase() {
    exists_ = false;
    ++content_;
    ++etag_;
    for (auto& client : clients_) {
      client->memory.note_delete();
      client->model.delete_resource();
    }
  }
  void think() {
    ++thoughts;
    for (auto& client : clients_) {
      client->memory.pass(seconds(VersionModel::kThinkMax + 1));
      client->model.pass(VersionModel::kThinkMax + 1);
    }
  }

  std::string id_of(const Hand& actor) {
    if (habit_ == Habit::RequestIds) return actor.command;
    return habit_ == Habit::FreshIds ? "request-" + std::to_string(++requests_) : std::string();
  }

  void deliver(Hand& actor, DeliveryKind kind, Confirmation confirmation, const std::string& id, bool arrives) {
    Client& client = *actor.client;
    VersionModel::Delivery told;
    told.content = exists_ ? content_ : VersionModel::kAbsent;
    told.etag = exists_ ? etag_text() : "";
    told.is_read = kind != DeliveryKind::OwnAnswer;
    told.certain = confirmation == Confirmation::Confirmed;
    told.request_id = id;
    told.api_version = actor.api_version;
    if (exists_) content_of_etag_[told.etag] = content_;
    if (!exists_) absences_.insert(content_);
    const uint64_t order = exists_ ? client.memory.show(told.etag, content_, {kind, confirmation, id, {}, actor.api_version})
                                   : client.memory.show_absent({kind, confirmation, id, {}, {}});
    actor.pending = {order, client.model.deliveries(), arrives && !told.certain};
    client.model.deliver(std::move(told));
    if (!arrives) return;
    actor.holds = content_;
    actor.etag_held = exists_ ? etag_text() : "";
  }

  Taken read(Hand& actor, Confirmation confirmation, bool arrives) {
    deliver(actor, DeliveryKind::PointRead, confirmation, id_of(actor), arrives);
    return {};
  }

  Taken confirm(Hand& actor) {
    if (!actor.pending.arrived) return {Taken::How::Impossible};
    actor.client->memory.confirm(actor.pending.order);
    actor.client->model.make_certain(actor.pending.delivery);
    actor.pending.arrived = false;
    return {};
  }

  Taken write_new(Hand& actor, Confirmation answer, Fate fate) {
    // What is built on no state tells nothing about others; where creates race that is the point.
    const bool creates = begins_ == Begins::Absent && actor.holds != kNothing;
    if (habit_ == Habit::TellingBodies && actor.etag_held.empty() && !creates) return {Taken::How::Impossible};
    actor.last_bytes = ++bytes_;
    actor.last_built_on = actor.holds;
    actor.last_id = id_of(actor);
    return write(actor, as_write(actor), answer, fate);
  }

  VersionModel::Write as_write(const Hand& actor) const {
    VersionModel::Write write;
    write.bytes = actor.last_bytes;
    write.request_id = actor.last_id;
    write.api_version = actor.api_version;
    write.by_single_actor = habit_ == Habit::Single;
    if (habit_ == Habit::EtagsInBodies) write.etag_in_body = actor.etag_held;
    const bool tells = habit_ == Habit::TellingBodies && actor.last_built_on != kNothing;
    if (tells && !absences_.contains(actor.last_built_on)) write.agrees_with = actor.last_built_on;
    return write;
  }

  // After a 503 these are the very bytes of before, unless a new id says that they were made anew; after a 412 the actor has
  // made them from what it holds now.
  Taken again(Hand& actor) {
    actor.last_id = id_of(actor);
    if (!actor.is_postponed || habit_ == Habit::FreshIds) actor.last_built_on = actor.holds;
    return write(actor, as_write(actor), Confirmation::Confirmed, Fate::Served);
  }

  Taken write(Hand& actor, const VersionModel::Write& write, Confirmation answer, Fate fate) {
    ++writes;
    Client& client = *actor.client;
    const std::string expected = client.model.choose(write);
    const std::string chosen = client.memory.choose(write);
    if (chosen != expected) return {Taken::How::Different, "is " + chosen + ", by the model " + expected};
    actor.is_postponed = fate == Fate::Postponed && chosen != "refused";
    actor.may_come_again = true;
    if (actor.is_postponed) {
      client.memory.postpone();
      client.model.postpone(write);
      return {};
    }
    if (chosen == "refused") return refuse(client, chosen, write);
    if (chosen == "blind" || chosen == "create" || chosen == "insisted") {
      if (chosen == "blind" && actor.last_built_on != kNothing) return {Taken::How::Unsafe, "is sent without its state"};
      if (chosen == "create" && client.memory.was_overtaken()) return refuse(client, chosen, write);
      const bool over_another = exists_ && content_ == written_through_ && content_ > actor.last_built_on;
      if (chosen == "create" && over_another) return {Taken::How::Unsafe, "is sent as a create over what was made"};
    } else {
      if (content_of_etag_.at(chosen) > actor.last_built_on) return {Taken::How::Unsafe, "is given the newer " + chosen};
      if (!exists_ || chosen != etag_text()) return refuse(client, chosen, write);
    }
    actor.may_come_again = false;
    change();
    written_through_ = content_;
    client.memory.accept();
    for (auto& one : clients_) one->memory.note_accepted();
    client.model.accept(chosen, write);
    const bool arrives = answer == Confirmation::Confirmed;
    const std::string etag_before = actor.etag_held;
    deliver(actor, DeliveryKind::OwnAnswer, answer, write.request_id, true);  // it is the actor's own word, heard or not
    if (!arrives) actor.etag_held = etag_before;
    actor.pending.arrived = false;
    return {};
  }

  Taken refuse(Client& client, const std::string& chosen, const VersionModel::Write& write) {
    ++refusals;
    client.memory.refuse();
    client.model.refuse(chosen, write);
    return {};
  }

  Taken erase_by(Hand& actor) {
    erase();
    deliver(actor, DeliveryKind::OwnAnswer, Confirmation::Confirmed, "", true);
    return {};
  }

  const Habit habit_;
  const Begins begins_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Hand> actors_;
  std::map<std::string, int> content_of_etag_;
  std::set<int> absences_;    // contents that were told as a 404
  int written_through_ = -1;  // the content that the last write through armgate made
  int content_ = 0;
  int etag_ = 0;
  int bytes_ = 0;
  int requests_ = 0;
  bool exists_;
};

enum class BlindWrites { Yes, No };

struct SearchPlan {
  Habit habit;
  std::vector<int> client_of_actor;
  std::vector<Event> by_actors;
  std::vector<Event> by_others;
  size_t depth;
  BlindWrites blind_writes = BlindWrites::Yes;
  Begins begins = Begins::There;
};

struct Tally {
  uint64_t histories = 0;
  uint64_t writes = 0;
  uint64_t different = 0;              // production and model decide otherwise
  uint64_t unsafe = 0;                 // the last event broke the promise first
  uint64_t unsafe_before_refusal = 0;  // of them, without any refusal and within think_max
  std::string first_different{};
  std::string first_unsafe{};
};

// Every history of the plan's depth, each from the beginning.
template <class Memory>
class Search {
 public:
  explicit Search(SearchPlan plan) : plan_(std::move(plan)) {
    for (size_t actor = 0; actor < plan_.client_of_actor.size(); ++actor) {
      for (const auto event : plan_.by_actors) steps_.push_back({event, actor});
    }
    for (const auto event : plan_.by_others) steps_.push_back({event, 0});
  }

  Tally run() {
    std::vector<size_t> path(plan_.depth, 0);
    for (bool more = true; more;) {
      const size_t last = live(path);
      std::fill(path.begin() + static_cast<std::ptrdiff_t>(last) + 1, path.end(), 0);
      size_t place = last;
      while (++path[place] == steps_.size()) {
        path[place] = 0;
        if (place == 0) more = false;
        if (place-- == 0) break;
      }
    }
    std::printf("%llu histories with %llu decisions: %llu not the model's, %llu unsafe; %s%s\n",
                static_cast<unsigned long long>(tally_.histories), static_cast<unsigned long long>(tally_.writes),
                static_cast<unsigned long long>(tally_.different), static_cast<unsigned long long>(tally_.unsafe),
                tally_.first_different.c_str(), tally_.first_unsafe.c_str());
    return tally_;
  }

 private:
  struct Step {
    Event event;
    size_t actor;
  };

  // Lives through one history and gives the step at which the next one differs.
  size_t live(const std::vector<size_t>& path) {
    World<Memory> world(plan_.habit, plan_.client_of_actor, plan_.begins);
    std::vector<bool> has_read(plan_.client_of_actor.size(), plan_.blind_writes == BlindWrites::Yes);
    for (size_t i = 0; i < path.size(); ++i) {
      const Step& step = steps_[path[i]];
      const bool writes = step.event == Event::Write || step.event == Event::WriteLost || step.event == Event::Postpone;
      if (writes && !has_read[step.actor]) return i;
      has_read[step.actor] = has_read[step.actor] || step.event == Event::Read || step.event == Event::ReadIdle;
      const Taken taken = world.take(step.event, step.actor);
      if (taken.how == Taken::How::Impossible) return i;
      if (taken.how == Taken::How::On && i + 1 < path.size()) continue;
      ++tally_.histories;
      tally_.writes += world.writes;
      if (taken.how != Taken::How::On) note(world, taken, path, i);
      return i;
    }
    return path.size() - 1;
  }

  void note(const World<Memory>& world, const Taken& taken, const std::vector<size_t>& path, size_t last) {
    const bool plain = world.refusals == 0 && world.thoughts == 0;
    const bool differs = taken.how == Taken::How::Different;
    (differs ? tally_.different : tally_.unsafe) += 1;
    const bool first_plain = !differs && plain && tally_.unsafe_before_refusal++ == 0;
    std::string& first = differs ? tally_.first_different : tally_.first_unsafe;
    if (first.empty() || first_plain) first = told(path, last) + taken.note;
  }

  std::string told(const std::vector<size_t>& path, size_t last) const {
    constexpr std::array<const char*, 13> kNames{"reads",      "reads unconfirmed", "asks in vain",     "confirms",
                                                 "writes",     "writes unheard",    "is postponed",     "sends again",
                                                 "deletes",    "outsider writes",   "outsider deletes", "ETag moves",
                                                 "time passes"};
    std::string text;
    for (size_t i = 0; i <= last; ++i) {
      const Step& step = steps_[path[i]];
      const bool by_actor = step.event < Event::OutsiderWrite;
      text += (by_actor ? std::string(1, static_cast<char>('a' + step.actor)) + " " : "") +
              kNames[static_cast<size_t>(step.event)] + ", ";
    }
    return text;
  }

  const SearchPlan plan_;
  std::vector<Step> steps_;
  Tally tally_;
};

// What has gone along with a write, in the model's words.
inline std::string in_words(const Base& base) {
  if (base.rule == BaseRule::Refused) return "refused";
  return base.goes_unguarded() ? std::string(to_text(base.rule)) : base.etag;
}

}  // namespace armgate::policy
