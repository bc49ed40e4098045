// recent.h – the last ones of something, in order: what is oldest goes first, and cheaply.
//
// Why: a full history forgets its oldest state with every write. To erase one from a vector moves all others; so several are
// erased together, and those that are gone until then are left empty. Pure; a vector for whoever looks at it.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace armgate::policy {

template <class T>
class Recent {
 public:
  using value_type = T;
  using iterator = typename std::vector<T>::iterator;
  using const_iterator = typename std::vector<T>::const_iterator;

  iterator begin() { return items_.begin() + gone_; }
  iterator end() { return items_.end(); }
  const_iterator begin() const { return items_.begin() + gone_; }
  const_iterator end() const { return items_.end(); }
  auto rbegin() { return std::make_reverse_iterator(end()); }
  auto rend() { return std::make_reverse_iterator(begin()); }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }

  size_t size() const { return items_.size() - static_cast<size_t>(gone_); }
  bool empty() const { return size() == 0; }
  T& front() { return *begin(); }
  T& back() { return items_.back(); }
  const T& front() const { return *begin(); }
  const T& back() const { return items_.back(); }
  const T& operator[](size_t index) const { return begin()[static_cast<std::ptrdiff_t>(index)]; }

  iterator insert(iterator before, T item) { return items_.insert(before, std::move(item)); }

  void pop_front() {
    *begin() = T();
    ++gone_;
    if (static_cast<size_t>(gone_) * kLiveForGone < size()) return;
    items_.erase(items_.begin(), begin());
    gone_ = 0;
  }

 private:
  static constexpr size_t kLiveForGone = 4;  // so many are kept for each that is gone and still takes room

  std::vector<T> items_;
  std::ptrdiff_t gone_ = 0;  // the first ones
};

}  // namespace armgate::policy
