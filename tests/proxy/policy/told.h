// told.h – a history of one resource, told event by event, and the questions that a write asks it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "arm/etag.h"
#include "proxy/policy/bases.h"
#include "proxy/policy/history.h"
#include "proxy/policy/right.h"

namespace armgate::policy {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

inline SharedBody whole(std::string json) { return std::make_shared<KeptBody>(KeptBody{std::move(json), false, false}); }
inline SharedBody partial(std::string json) { return std::make_shared<KeptBody>(KeptBody{std::move(json), false, true}); }

// How something is shown.
struct How {
  ShownAs as = ShownAs::PointRead;
  std::string id{};
  std::string api_version{"v1"};
  uint64_t asked = 0;  // order; 0: just now
  uint64_t at = 0;     // order; 0: now
};

class Told {
 public:
  HistoryLimits limits;
  History history;
  WriteFacts facts;  // but for client and arrival

  Told() { facts.api_version = "v1"; }

  Moment tick() { return {++order_, now_}; }
  void pass(Duration time) { now_ += time; }
  TimePoint now() const { return now_; }
  void apply(Event event) { history.apply(limits, std::move(event)); }
  static Hash128 key(char client) { return {static_cast<uint64_t>(client), 1}; }

  // Gives the order of the showing.
  uint64_t show(char client, std::string etag, SharedBody body, How how = {}) {
    return show_state(client, std::move(etag), std::move(body), how, false);
  }
  uint64_t show(char client, std::string etag, How how = {}) {
    SharedBody body = whole("{\"is\":\"" + etag + "\"}");
    return show(client, std::move(etag), std::move(body), std::move(how));
  }
  uint64_t show_absent(char client, How how = {}) { return show_state(client, {}, nullptr, how, true); }

  void lose(char client, uint64_t shown) { apply(AnswerLost{key(client), shown}); }

  // A write is accepted; its operation runs until end_of(). Gives its order.
  uint64_t accept(char client, const std::string& bytes, bool certain = true) {
    const Moment at = tick();
    auto asked = kept_body(bytes);
    asked->etag = arm::etag_in_body(bytes);
    apply(WriteAccepted{Cause::Written, key(client), hash(bytes), hash(bytes), std::move(asked), at, certain});
    return at.order;
  }
  void end(const std::string& bytes, bool succeeded = true) {
    apply(OperationEnded{hash(bytes), tick(), succeeded, !succeeded});
  }
  void answer(char client, const std::string& bytes, std::string etag, SharedBody body, std::string id = {}) {
    StateShown shown = shown_to(client, std::move(etag), std::move(body), {ShownAs::OwnAnswer, std::move(id)});
    shown.write_key = hash(bytes);
    shown.asked = shown.at.order;
    apply(std::move(shown));
  }
  // Accepted and answered; then its operation fails.
  void fail(char client, const std::string& bytes, std::string etag) {
    accept(client, bytes);
    answer(client, bytes, std::move(etag), whole("{}"));
    end(bytes, false);
  }
  // All of it at once: the resource is `etag` then. Gives its order.
  uint64_t write(char client, std::string etag, std::string id = {}) {
    const std::string bytes = "write of " + etag;
    const uint64_t order = accept(client, bytes);
    end(bytes);
    SharedBody body = whole("{\"is\":\"" + etag + "\"}");
    answer(client, bytes, std::move(etag), std::move(body), std::move(id));
    return order;
  }
  void remove(char client) { apply(ResourceDeleted{key(client), tick()}); }

  // Gives the order in which it was told.
  uint64_t refuse(char client, const std::string& bytes = "refused", uint64_t arrived = 0) {
    Refusal refusal;
    refusal.request_hash = hash(bytes);
    refusal.arrived = arrived == 0 ? tick().order : arrived;
    refusal.told = tick().order;
    const uint64_t told = refusal.told;
    apply(Refused{key(client), std::move(refusal)});
    return told;
  }

  // ---- a write that arrives now ----
  WriteFacts write_of(char client, Actors actors) {
    WriteFacts write = facts;
    write.client = key(client);
    write.actors = actors;
    if (write.arrived.order == 0) write.arrived = tick();
    if (write.deleted == 0) {
      write.deleted = history.deleted();
      write.deleted_by = history.deleted_by();
    }
    return write;
  }
  Bases bases(char client, Actors actors) { return possible_bases(history, limits, write_of(client, actors)); }
  // In words: "newest 2 | 2 1", the rule and the ETags of possible and if_stale; "-" is absence, "gone" what lies before a delete.
  std::string bases_text(char client, Actors actors = Actors::Unknown) {
    const Bases all = bases(client, actors);
    return std::string(to_text(all.rule)) + text_of(all.possible) + (all.if_stale.empty() ? "" : " |" + text_of(all.if_stale));
  }
  Right right(char client, Actors actors = Actors::Unknown) {
    const WriteFacts write = write_of(client, actors);
    return right_of(history, limits, write, possible_bases(history, limits, write).rule);
  }

  const ClientRecord& client(char client) const { return *history.client(key(client)); }
  // The ETags of all entries, oldest first; "-" is absence, "w" a write of which only the acceptance is known.
  std::string entries_text() const {
    std::string text;
    for (const Entry& entry : history.entries()) {
      const bool is_bare = entry.etag.empty() && entry.renderings.empty();
      text += (text.empty() ? "" : " ") + (entry.absent ? "-" : is_bare ? "w" : entry.etag);
    }
    return text;
  }
  // What the last thing shown to the client was taken for: the place of its entry, from 0.
  size_t entry_shown_to(char client) const {
    const uint64_t number = this->client(client).shown.back().entry;
    size_t place = 0;
    while (history.entries()[place].number != number) ++place;
    return place;
  }

  static Hash128 hash(const std::string& bytes) { return Hasher(HashKey{1, 2}).hash(bytes); }

 private:
  StateShown shown_to(char client, std::string etag, SharedBody body, How how) {
    StateShown shown;
    shown.client = key(client);
    shown.as = how.as;
    shown.request_id = std::move(how.id);
    shown.asked = how.asked != 0 ? how.asked : tick().order;
    shown.at = how.at != 0 ? Moment{how.at, now_} : tick();
    shown.etag = std::move(etag);
    shown.rendering = {how.api_version, std::move(body)};
    return shown;
  }
  uint64_t show_state(char client, std::string etag, SharedBody body, const How& how, bool absent) {
    StateShown shown = shown_to(client, std::move(etag), std::move(body), how);
    shown.absent = absent;
    const uint64_t order = shown.at.order;
    apply(std::move(shown));
    return order;
  }
  static std::string text_of(const std::vector<BaseState>& states) {
    std::string text;
    for (const BaseState& state : states) {
      text += state.absent ? " -" : state.gone ? " gone" : state.etag.empty() ? " ?" : " " + state.etag;
    }
    return text;
  }

  uint64_t order_ = 0;
  TimePoint now_{hours(100)};
};

}  // namespace armgate::policy
