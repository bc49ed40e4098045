// version_model.h – DESIGN §3 once more, for one client and one resource, as plainly as it can be said.
//
// Why: the production code (View, decide_base, ClientState) is fast and bounded, and has been mended in many places. This was
// written from the page: one list of everything that was delivered, nothing forgotten, nothing indexed. The searches compare the
// two after every event. Left out: addresses, list items, the overlapping of two writes, and the age of observations.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace armgate::policy {

class VersionModel {
 public:
  static constexpr int kAbsent = -1;      // the state of not being there
  static constexpr long kThinkMax = 300;  // seconds; also how long a re-send is waited for, and until insistence

  struct Delivery {
    int content = 0;  // the number of the state
    std::string etag;
    bool is_read = true;  // else the answer to the client's own write
    bool certain = true;  // it arrived for sure
    std::string request_id;
    std::string api_version;
    size_t at = 0;
    long time = 0;
    bool used = false;  // a write that was built on it was accepted
  };
  struct Write {
    int bytes = 0;
    std::string request_id;
    std::string etag_in_body;
    std::string api_version;
    bool by_single_actor = false;
    std::optional<int> agrees_with;  // its body says that it was built on this state and on nothing else
  };

  void deliver(Delivery delivery) {
    delivery.at = ++moments_;
    delivery.time = now_;
    shown_.push_back(std::move(delivery));
  }
  void make_certain(size_t delivery) { shown_[delivery].certain = true; }
  size_t deliveries() const { return shown_.size(); }
  void pass(long time) { now_ += time; }
  void delete_resource() { deleted_at_ = ++moments_; }

  // What goes along with a write: the ETag of its base, or "blind", "create", "insisted", "refused".
  std::string choose(const Write& write) {
    const auto earlier = bound_.find(write.bytes);
    if (earlier != bound_.end()) {
      const Bound& bound = earlier->second;
      const bool was_read = !only(shown_, [&](const Delivery& d) { return d.is_read && d.certain && d.at > bound.at; }).empty();
      const bool in_time = now_ - bound.time <= kThinkMax;
      const bool anew = bound.choice == "blind" || bound.request_id != write.request_id;
      if (in_time && !(was_read && anew)) return bound.choice;
    }
    const auto refusal = refusals_.find(write.bytes);
    std::string choice = refusal == refusals_.end() ? choose_first(write) : choose_after(refusal->second, write);
    bound_[write.bytes] = {choice, write.request_id, ++moments_, now_};
    return choice;
  }

  // It was not sent, and the client was asked to come again.
  void postpone(const Write& write) { bound_[write.bytes].time = now_; }

  void refuse(const std::string& choice, const Write& write) {
    if (choice != "create") refused_.insert(choice);  // who was told that there is nothing knows no more than before
    Refusal& refusal = refusals_.try_emplace(write.bytes, Refusal{0, now_, {}}).first->second;
    refusal.at = ++moments_;
    refusal.request_id = write.request_id;
    bound_.erase(write.bytes);
  }

  // One delivery of the base is used up: that of the same command, else the oldest at the same api-version, else the oldest.
  void accept(const std::string& choice, const Write& write) {
    refusals_.erase(write.bytes);
    bound_.erase(write.bytes);
    Delivery* used = nullptr;
    for (auto& d : shown_) {
      const bool is_base = choice == "create" ? d.content == kAbsent : content_of(choice) == d.content;
      if (d.used || !is_base) continue;
      const auto closeness = [&](const Delivery& one) {
        const bool same_command = !write.request_id.empty() && one.request_id == write.request_id;
        return same_command ? 2 : one.api_version == write.api_version ? 1 : 0;
      };
      if (used == nullptr || closeness(d) > closeness(*used)) used = &d;
    }
    if (used != nullptr) used->used = true;
  }

 private:
  using Deliveries = std::vector<Delivery>;
  struct Refusal {
    size_t at = 0;
    long first = 0;
    std::string request_id;
  };
  struct Bound {
    std::string choice;
    std::string request_id;
    size_t at = 0;
    long time = 0;
  };

  template <class Condition>
  static Deliveries only(const Deliveries& all, Condition condition) {
    Deliveries kept;
    for (const auto& d : all) {
      if (condition(d)) kept.push_back(d);
    }
    return kept;
  }

  std::optional<int> content_of(const std::string& etag) const {
    for (const auto& d : shown_) {
      if (!d.etag.empty() && d.etag == etag) return d.content;
    }
    return std::nullopt;
  }

  // Live: not refused, a delivery left since the last delete, and not outlived by a newer state for too long.
  bool is_left(const Delivery& d) const { return !d.used && (d.content == kAbsent || d.at > deleted_at_); }
  bool is_refused(int content) const {
    return refused_.contains(only(shown_, [&](const Delivery& d) { return d.content == content; }).back().etag);
  }
  bool is_live(int content) const { return !is_refused(content) && is_recent(content); }
  bool is_recent(int content) const {
    const auto of = only(shown_, [&](const Delivery& d) { return d.content == content; });
    const auto outlives = [&](const Delivery& d) {
      return d.content != content && d.certain && d.at > of.back().at && now_ - d.time > kThinkMax;
    };
    return !only(of, [&](const Delivery& d) { return is_left(d); }).empty() && only(shown_, outlives).empty();
  }

  // The newest that arrived for sure; what may not have arrived never counts as the newest.
  static std::optional<Delivery> newest(const Deliveries& all) {
    const auto certain = only(all, [](const Delivery& d) { return d.certain; });
    if (!certain.empty()) return certain.back();
    return all.empty() ? std::nullopt : std::optional(all.front());
  }

  // Without reads that may not have arrived, unless something certain came later or nothing else had been shown.
  static Deliveries without_doubtful(const Deliveries& all) {
    size_t last_certain = 0;
    for (const auto& d : all) last_certain = d.certain ? d.at : last_certain;
    return only(all, [&](const Delivery& d) { return d.at <= last_certain || !d.is_read || d.content == all.front().content; });
  }

  std::string build_on(const Delivery& base) const {
    if (base.content == kAbsent) return "create";
    return only(shown_, [&](const Delivery& d) { return d.content == base.content; }).back().etag;
  }

  // The rules in their order.
  std::string choose_first(const Write& write) const {
    if (!write.etag_in_body.empty()) return write.etag_in_body;  // 2
    const auto is_own = [&](const Delivery& d) { return !write.request_id.empty() && d.request_id == write.request_id; };
    const auto own = without_doubtful(only(shown_, is_own));
    const auto read = newest(only(own, [&](const Delivery& d) { return !d.used && now_ - d.time <= kThinkMax; }));
    if (read) return is_live(read->content) ? build_on(*read) : "refused";  // 3
    // A command holds nothing that came to others after its own last read.
    auto all = only(shown_, [&](const Delivery& d) { return own.empty() || d.at <= own.back().at; });
    if (all.empty()) return "blind";  // 5
    all = of_its_api_version(all, write);
    if (tells(all, write)) {  // 6
      all = only(all, [&](const Delivery& d) { return may_be_base(d, write); });
      // Refused to one actor, and another still holds it.
      const auto held = only(all, [&](const Delivery& d) { return d.content == *write.agrees_with && is_left(d); });
      const bool held_refused = !held.empty() && is_refused(*write.agrees_with) && is_recent(*write.agrees_with);
      if (held_refused && !write.by_single_actor) return "refused";
    }
    if (write.by_single_actor) {  // 7
      const auto last = newest(all);
      return is_live(last->content) ? build_on(*last) : "refused";
    }
    for (const auto& d : without_doubtful(all)) {  // 4 and 8: the only live one is the oldest, too
      if (is_left(d) && is_live(d.content)) return build_on(d);
    }
    return "refused";
  }

  // What came at other api-versions after a state that somebody may still hold at the write's own is none that it was built on.
  Deliveries of_its_api_version(const Deliveries& all, const Write& write) const {
    const auto held = only(all, [&](const Delivery& d) {
      return d.content != kAbsent && d.api_version == write.api_version && is_left(d) && is_recent(d.content);
    });
    if (held.empty() || write.by_single_actor) return all;
    return only(all, [&](const Delivery& d) {
      return d.at < held.front().at || d.content == kAbsent || d.api_version == write.api_version;
    });
  }

  static bool tells(const Deliveries& all, const Write& write) {
    return write.agrees_with && !only(all, [&](const Delivery& d) { return d.content == *write.agrees_with; }).empty();
  }
  static bool may_be_base(const Delivery& d, const Write& write) { return d.content == *write.agrees_with; }

  // The same bytes after a delivered 412.
  std::string choose_after(const Refusal& refusal, const Write& write) const {
    if (!write.etag_in_body.empty()) return write.etag_in_body;
    const bool insists = now_ - refusal.first >= kThinkMax;
    const auto is_own = [&](const Delivery& d) { return !write.request_id.empty() && d.request_id == write.request_id; };
    const auto is_later = [&](const Delivery& d) { return d.at > refusal.at; };
    const auto own = only(only(shown_, is_own), is_later);
    const bool same_call = !write.request_id.empty() && write.request_id == refusal.request_id;
    if (same_call && own.empty() && !insists) return "refused";
    // Who has read at the write's api-version reads there again.
    const auto is_own_shape = [&](const Delivery& d) { return d.api_version == write.api_version && d.content != kAbsent; };
    auto later = own.empty() ? only(shown_, is_later) : own;
    if (!write.by_single_actor && !only(shown_, is_own_shape).empty()) {
      later = only(later, [&](const Delivery& d) { return is_own_shape(d) || d.content == kAbsent; });
    }
    const bool was_read = !only(later, [](const Delivery& d) { return d.is_read; }).empty();
    later = only(later, [&](const Delivery& d) {
      return !is_refused(d.content) && (d.is_read || d.content == kAbsent || write.by_single_actor) && (d.certain || is_own(d));
    });
    const bool believed = own.empty() && !write.by_single_actor && !insists && tells(shown_, write);
    if (believed && !later.empty()) {
      later = only(later, [&](const Delivery& d) { return d.content == kAbsent || may_be_base(d, write); });
      if (later.empty()) return "refused";
    }
    if (const auto read = newest(later)) return is_left(*read) && is_live(read->content) ? build_on(*read) : "refused";
    return insists && !was_read ? "insisted" : "refused";
  }

  Deliveries shown_;
  std::set<std::string> refused_;    // ETags
  std::map<int, Refusal> refusals_;  // by bytes
  std::map<int, Bound> bound_;       // by bytes
  size_t deleted_at_ = 0;
  size_t moments_ = 0;
  long now_ = 0;
};

}  // namespace armgate::policy
