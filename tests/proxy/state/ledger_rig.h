// ledger_rig.h – a client's sending ledger and the exchanges that use it, told in few words.
#pragma once

#include <boost/asio/io_context.hpp>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "proxy/async/spawn.h"
#include "proxy/state/sending_ledger.h"

namespace armgate {

// What an exchange that runs a write, or shares its answer, does with the ledger.
class LedgerWrite {
 public:
  LedgerWrite(SendingLedger& ledger, SendingLedger::Matched matched, std::shared_ptr<Presence> asker, Waiter* waiter)
      : ledger_(&ledger), matched_(matched), asker_(std::move(asker)), waiter_(waiter) {}

  SendingLedger::Match match() const { return matched_.match; }
  SendingLedger::Asking asking() const { return matched_.asking; }
  uint64_t sending() const { return matched_.asking.sending; }
  Moment first_arrival() const { return matched_.arrived; }

  // Its client closes its connection.
  void leave() { asker_->gone = true; }
  // It does not wait for the answer any more, or takes it.
  void share_no_more(SendingLedger::With with) { ledger_->leave(sending(), waiter_, with); }
  // Its answer could not be written, or may not have arrived.
  void lose() { ledger_->undelivered(matched_.asking); }
  void written() { ledger_->written(matched_.asking); }
  void arrive() { ledger_->delivered(matched_.asking); }

 private:
  SendingLedger* ledger_;
  SendingLedger::Matched matched_;
  std::shared_ptr<Presence> asker_;
  Waiter* waiter_;

  friend struct LedgerRig;
};

struct LedgerRig {
  static constexpr Hash128 kResource{7, 7};
  static constexpr size_t kNoAnswer = ~size_t{0};

  LedgerRig() : LedgerRig(SendingLedger::Options()) {}
  explicit LedgerRig(SendingLedger::Options with) : options(with), ledger(with) {}

  const SendingLedger::Options options;
  SendingLedger ledger;
  boost::asio::io_context loop;
  std::list<Waiter> waiters;
  TimePoint now{std::chrono::hours(1)};
  uint64_t order = 0;
  SendingLedger::Questions ask;
  SendingLedger::Repeats repeats;
  bool one_actor = false;
  Hash128 content{};
  Hash128 resend{};

  Moment tick() { return {++order, now}; }
  void pass(Duration time) { now += time; }

  SendingLedger::Arrival arrival(uint64_t request, std::string_view id, std::shared_ptr<const Presence> asker) {
    return {.request = Hash128{request, request},
            .request_id = std::string(id),
            .resource = kResource,
            .at = tick(),
            .asker = std::move(asker),
            .one_actor = one_actor,
            .content = content,
            .resend = resend,
            .repeats = repeats};
  }
  // A request arrives, each on a connection of its own.
  LedgerWrite begin(uint64_t request, std::string_view id = {}) { return begin_at(request, kResource, id); }
  LedgerWrite begin_at(uint64_t request, const Hash128& resource, std::string_view id = {}) {
    auto asker = std::make_shared<Presence>();
    Waiter* waiter = &waiters.emplace_back(loop.get_executor());
    auto arriving = arrival(request, id, asker);
    arriving.resource = resource;
    return {ledger, ledger.match(arriving, waiter, kEnded, ask), asker, waiter};
  }
  SendingLedger::Match match(uint64_t request, std::string_view id = {}) { return begin(request, id).match(); }
  bool knows(uint64_t request, std::string_view id = {}) {
    return ledger.knows(arrival(request, id, std::make_shared<Presence>()));
  }

  // It ends with an answer of `size` bytes.
  LedgerWrite end(LedgerWrite write, SendingLedger::Ending::Kind kind, size_t size = 10) {
    std::shared_ptr<arm::Response> answer;
    if (size != kNoAnswer && kind != SendingLedger::Ending::Kind::Expected) {
      answer = std::make_shared<arm::Response>();
      answer->body.assign(size, 'x');
    }
    ledger.end(write.asking(), {kind, std::move(answer), {}}, tick());
    return write;
  }
  // How often it was told that the write has ended, since the last time that this was asked.
  int wakes(const LedgerWrite& write) {
    int times = 0;
    spawn(loop.get_executor(), count_wakes(*write.waiter_, times));
    loop.restart();
    loop.poll();
    write.waiter_->signal(kStop);
    loop.restart();
    loop.poll();
    return times;
  }
  // A read of the resource is asked for and answered.
  void read() { ledger.resolve(kResource, tick()); }

 private:
  static constexpr uint32_t kEnded = 1;
  static constexpr uint32_t kStop = 2;

  static Task<void> count_wakes(Waiter& waiter, int& times) {
    for (uint32_t bits = 0; (bits & kStop) == 0;) {
      bits = co_await waiter.wait();
      if (bits & kEnded) ++times;
    }
  }
};

}  // namespace armgate
