// live_connections.h – the connections of one server, to be drained and cut.
#pragma once

#include <functional>
#include <list>
#include <utility>

namespace armgate::net {

class LiveConnections {
 public:
  // What can be done to a connection in its present phase.
  struct Handles {
    std::function<void()> drain;
    std::function<void()> abort;
    std::function<void()> stop_waiting{};
  };

  // A connection's membership; leaves when destroyed.
  class Slot {
   public:
    explicit Slot(LiveConnections& all) : all_(all), it_(all.entries_.emplace(all.entries_.end())) {}
    ~Slot() {
      all_.entries_.erase(it_);
      all_.check_drained();
    }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    // A new phase begins; if the drain began before, it drains at once.
    void enter(Handles handles) {
      it_->handles = std::move(handles);
      if (all_.draining_ && it_->handles.drain) it_->handles.drain();
      if (all_.waits_no_more_ && it_->handles.stop_waiting) it_->handles.stop_waiting();
    }
    // From here on the drain does not wait for this connection.
    void enter_tunnel(std::function<void()> abort) {
      it_->is_tunnel = true;
      it_->handles = {nullptr, std::move(abort)};
      all_.check_drained();
    }
    // Nothing may be called any more (what the handles refer to is about to go).
    void leave_phase() { it_->handles = {}; }

   private:
    friend class LiveConnections;
    struct Entry {
      Handles handles;
      bool is_tunnel = false;
    };
    LiveConnections& all_;
    std::list<Entry>::iterator it_;
  };

  void drain(std::function<void()> drained) {
    draining_ = true;
    drained_ = std::move(drained);
    for (auto& entry : entries_) {
      if (entry.handles.drain) entry.handles.drain();
    }
    check_drained();
  }
  void stop_waiting() {
    waits_no_more_ = true;
    for (auto& entry : entries_) {
      if (entry.handles.stop_waiting) entry.handles.stop_waiting();
    }
  }
  void abort() {
    for (auto& entry : entries_) {
      if (entry.handles.abort) entry.handles.abort();
    }
  }

 private:
  void check_drained() {
    if (!draining_ || !drained_) return;
    for (const auto& entry : entries_) {
      if (!entry.is_tunnel) return;
    }
    std::exchange(drained_, nullptr)();
  }

  std::list<Slot::Entry> entries_;
  bool draining_ = false;
  bool waits_no_more_ = false;
  std::function<void()> drained_;
};

}  // namespace armgate::net
