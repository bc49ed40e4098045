// body_room.h – how many bytes of requests' bodies the process holds at once (limits.request_bodies_total).
//
// Why: a body is read whole before anybody looks at its token, so without it one client could have as much memory as there may
// be connections, times the largest body.
//
// Invariants
//   1. What bodies hold never exceeds the room.
//   2. Bodies of up to kSmallBody are not counted: most requests cost nothing here, and go on while large ones fill the room.
//      They are as many as there are connections, at most.
// Threads   any; shared by all servers. A BodyShare is its request's.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace armgate::net {

inline constexpr size_t kSmallBody = 16 * 1024;  // what a TLS record carries, and a connection's input holds anyway

class BodyRoom {
 public:
  explicit BodyRoom(size_t bytes_max) : bytes_max_(bytes_max) {}

  size_t held() const { return held_.load(std::memory_order_relaxed); }
  size_t bytes_max() const { return bytes_max_; }

 private:
  friend class BodyShare;
  const size_t bytes_max_;
  std::atomic<size_t> held_{0};
};

// What one body takes of it, until this ends.
class BodyShare {
 public:
  explicit BodyShare(BodyRoom* room) : room_(room) {}  // null: there is room for everything
  ~BodyShare() { give_back(); }
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;

  // False: the body, which has so many bytes by now, finds no room; what it took so far stays its own.
  bool grow_to(size_t bytes) {
    if (room_ == nullptr || bytes <= kSmallBody || bytes <= taken_) return true;
    const size_t more = bytes - taken_;
    const size_t before = room_->held_.fetch_add(more, std::memory_order_relaxed);
    if (before + more > room_->bytes_max_) {
      room_->held_.fetch_sub(more, std::memory_order_relaxed);
      return false;
    }
    taken_ = bytes;
    return true;
  }

  void give_back() {
    if (const size_t taken = std::exchange(taken_, 0); taken > 0) room_->held_.fetch_sub(taken, std::memory_order_relaxed);
  }

 private:
  BodyRoom* const room_;
  size_t taken_ = 0;
};

}  // namespace armgate::net
