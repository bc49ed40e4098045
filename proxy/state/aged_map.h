// aged_map.h – a map that knows the order in which its entries were used last, and forgets the oldest first.
//
// Why: everything that armgate keeps is bounded (promise P10, docs/design.md), and what nobody has used for longest is missed
// least. A table with a bound is one of these and says what may not be forgotten yet; the last paragraph of docs/decisions/0013
// lists the tables that are not, with the reasons.
//
// Invariants  values stay where they are until they are erased.
// Costs       all in constant time, except make_room(), which steps over entries that may not be forgotten.
// Threads     none of its own.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <iterator>
#include <list>
#include <tuple>
#include <utility>

namespace armgate {

template <class Key, class Value>
class AgedMap {
  using Entries = std::list<std::pair<const Key, Value>>;  // the oldest first

 public:
  // Null if it is not there. Looking is not using.
  Value* find(const Key& key) {
    const auto at = places_.find(key);
    return at == places_.end() ? nullptr : &at->second->second;
  }
  const Value* find(const Key& key) const { return const_cast<AgedMap*>(this)->find(key); }

  // The same, and it is the newest from now on.
  Value* use(const Key& key) {
    const auto at = places_.find(key);
    if (at == places_.end()) return nullptr;
    entries_.splice(entries_.end(), entries_, at->second);
    return &at->second->second;
  }

  // Adds what is not there, as the newest; `arguments` make the value.
  template <class... Arguments>
  Value& add(const Key& key, Arguments&&... arguments) {
    entries_.emplace_back(std::piecewise_construct, std::forward_as_tuple(key),
                          std::forward_as_tuple(std::forward<Arguments>(arguments)...));
    places_.emplace(key, std::prev(entries_.end()));
    return entries_.back().second;
  }

  void erase(const Key& key) {
    const auto at = places_.find(key);
    if (at == places_.end()) return;
    entries_.erase(at->second);
    places_.erase(at);
  }

  // Until there are fewer than `most`: `may_go(key, value)` is asked from the oldest on, and what may go is forgotten at once.
  // False if there is no room for one more.
  template <class MayGo>
  bool make_room(size_t most, MayGo may_go) {
    for (auto entry = entries_.begin(); entries_.size() >= most && entry != entries_.end();) {
      const auto next = std::next(entry);
      if (may_go(entry->first, entry->second)) {
        places_.erase(entry->first);
        entries_.erase(entry);
      }
      entry = next;
    }
    return entries_.size() < most;
  }

  // The oldest first.
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }

 private:
  Entries entries_;
  absl::flat_hash_map<Key, typename Entries::iterator> places_;
};

}  // namespace armgate
