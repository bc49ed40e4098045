// archive.h – one description of a value's fields for both directions: `each(archive, value)` names them, and the archive
// either writes or reads them.
//
// Use:  template <class A> void each(A& a, Thing& thing) { a(thing.number, thing.name); }
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "proxy/cluster/bytes.h"

namespace armgate::cluster {

// Whole numbers that may be below zero, with few bytes for small ones of either sign.
inline uint64_t folded(int64_t value) { return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63); }
inline int64_t unfolded(uint64_t value) { return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1); }

class Out {
 public:
  static constexpr bool kReads = false;
  Out(Writer& writer, TimePoint now) : writer_(writer), now_(now) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (put(fields), ...);
  }

 private:
  void put(std::string& value) { writer_.text(value); }
  void put(Hash128& value) {
    writer_.number(value.high);
    writer_.number(value.low);
  }
  void put(bool& value) { writer_.number(value ? 1 : 0); }
  // The least and the greatest mean something of their own (never, not yet), and are no distance from now.
  void put(TimePoint& value) {
    const bool is_real = value != TimePoint{} && value != TimePoint::min() && value != kNever;
    writer_.number(is_real ? 3 : value == TimePoint{} ? 0 : value == kNever ? 2 : 1);
    if (is_real) writer_.number(folded((value - now_).count()));
  }
  void put(WallTime& value) { writer_.number(folded(value.time_since_epoch().count())); }
  void put(Duration& value) { writer_.number(folded(value.count())); }
  template <class T>
  requires std::is_enum_v<T>
  void put(T& value) { writer_.number(static_cast<uint64_t>(value)); }
  template <std::integral T>
  void put(T& value) {
    writer_.number(folded(static_cast<int64_t>(value)));
  }
  template <class T>
  void put(std::vector<T>& values) {
    writer_.number(values.size());
    for (T& value : values) put(value);
  }
  template <class T>
  void put(std::optional<T>& value) {
    writer_.number(value ? 1 : 0);
    if (value) put(*value);
  }
  template <class T>
  void put(std::shared_ptr<const T>& value) {
    writer_.number(value ? 1 : 0);
    if (!value) return;
    T copy = *value;
    put(copy);
  }
  template <class T>
  requires std::is_class_v<T>
  void put(T& value) { each(*this, value); }

  Writer& writer_;
  const TimePoint now_;
};

class In {
 public:
  static constexpr bool kReads = true;
  In(Reader& reader, TimePoint then) : reader_(reader), then_(then) {}

  template <class... Fields>
  void operator()(Fields&... fields) {
    (get(fields), ...);
  }
  bool ok() const { return reader_.ok(); }

 private:
  void get(std::string& value) { value = reader_.text(); }
  void get(Hash128& value) {
    value.high = reader_.number();
    value.low = reader_.number();
  }
  void get(bool& value) { value = reader_.number() != 0; }
  void get(TimePoint& value) {
    switch (reader_.number()) {
      case 0: value = TimePoint{}; return;
      case 1: value = TimePoint::min(); return;
      case 2: value = kNever; return;
      default: value = then_ + Duration(unfolded(reader_.number()));
    }
  }
  void get(WallTime& value) { value = WallTime(std::chrono::milliseconds(unfolded(reader_.number()))); }
  void get(Duration& value) { value = Duration(unfolded(reader_.number())); }
  template <class T>
  requires std::is_enum_v<T>
  void get(T& value) { value = static_cast<T>(reader_.number()); }
  template <std::integral T>
  void get(T& value) {
    value = static_cast<T>(unfolded(reader_.number()));
  }
  template <class T>
  void get(std::vector<T>& values) {
    for (uint64_t left = reader_.number(); left > 0 && reader_.ok(); --left) get(values.emplace_back());
  }
  template <class T>
  void get(std::optional<T>& value) {
    if (reader_.number() != 0) get(value.emplace());
  }
  template <class T>
  void get(std::shared_ptr<const T>& value) {
    if (reader_.number() == 0) return;
    auto read = std::make_shared<T>();
    get(*read);
    value = std::move(read);
  }
  template <class T>
  requires std::is_class_v<T>
  void get(T& value) { each(*this, value); }

  Reader& reader_;
  const TimePoint then_;
};

}  // namespace armgate::cluster
