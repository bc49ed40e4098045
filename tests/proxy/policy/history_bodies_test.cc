// Goal: the number of bytes that a history says its bodies have is that of the bodies that it has. Method: events in any order, within
// bounds so narrow that everything is forgotten all the time; after each the bodies are counted one by one.
#include <gtest/gtest.h>

#include <string>

#include "base/rng.h"
#include "proxy/policy/history.h"
#include "tests/proxy/policy/told.h"

namespace armgate::policy {
namespace {

constexpr std::string_view kClients = "ABCD";

size_t size_of(const SharedBody& body) { return body ? body->bytes.size() : 0; }

size_t counted(const History& history) {
  size_t bytes = 0;
  for (const Entry& entry : history.entries()) {
    bytes += size_of(entry.requested_body);
    for (const Rendering& rendering : entry.renderings) bytes += size_of(rendering.body);
  }
  for (const char client : kClients) {
    const ClientRecord* record = history.client(Told::key(client));
    if (record == nullptr) continue;
    for (const Refusal& refusal : record->refusals) bytes += size_of(refusal.requested_body) + size_of(refusal.found);
    for (const MergedWrite& merged : record->merged) {
      bytes += size_of(merged.base) + size_of(merged.requested_body) + size_of(merged.sent);
    }
  }
  return bytes;
}

class AnyEvent {
 public:
  explicit AnyEvent(uint64_t seed) : rng_(seed) {}

  Event next(Moment now) {
    const Hash128 client = Told::key(kClients[rng_.below(kClients.size())]);
    switch (rng_.below(6)) {
      case 0: return shown(client, now);
      case 1: return accepted(client, now);
      case 2: return refused(client, now);
      case 3: return NotModified{client, "", now.order - 1, now, std::to_string(rng_.below(4)), version()};
      case 4: return WriteArrived{client, {now.order, Hash128{1, rng_.below(3)}, ""}, now.time};
      default: break;
    }
    if (rng_.chance(0.1)) return ResourceDeleted{client, now};
    return WriteLeft{client, now.order - 1};
  }

 private:
  SharedBody body() {
    return rng_.chance(0.2) ? nullptr
                            : kept_body(std::string(rng_.below(9), static_cast<char>('a' + rng_.below(3))), rng_.chance(0.3));
  }
  std::string version() { return "v" + std::to_string(rng_.below(6)); }

  StateShown shown(const Hash128& client, Moment now) {
    StateShown shown;
    shown.client = client;
    shown.as = rng_.chance(0.3) ? ShownAs::OwnAnswer : ShownAs::PointRead;
    shown.asked = now.order - 1;
    shown.at = now;
    shown.write_key = Hash128{2, now.order - 1};
    shown.absent = rng_.chance(0.1);
    shown.etag = std::to_string(rng_.below(4));
    shown.rendering = {version(), body()};
    return shown;
  }
  WriteAccepted accepted(const Hash128& client, Moment now) {
    WriteAccepted write;
    write.cause = rng_.chance(0.8) ? Cause::Written : Cause::ChildWritten;
    write.client = client;
    write.write_key = Hash128{2, now.order};
    write.requested_body = body();
    write.at = now;
    write.knows_merges = rng_.chance(0.3);
    if (rng_.chance(0.5)) {
      write.merged.emplace();
      write.merged->base = body();
      write.merged->requested_body = body();
      write.merged->sent = write.requested_body;
    }
    return write;
  }
  Refused refused(const Hash128& client, Moment now) {
    Refused refused;
    refused.client = client;
    refused.refusal.requested_body = body();
    refused.refusal.found = body();
    refused.refusal.told = now.order;
    return refused;
  }

  Rng rng_;
};

TEST(HistoryBodies, AreCountedWhateverHappens) {
  HistoryLimits limits;
  limits.entries_max = 5;
  limits.observations_max = 3;
  limits.refusals_max = 2;
  limits.merged_kept = 2;
  limits.clients_max = 3;
  size_t with_bodies = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    AnyEvent any(seed);
    History history;
    for (uint64_t order = 2; order < 200; ++order) {
      history.apply(limits, any.next(Moment{order, TimePoint(std::chrono::seconds(order))}));
      ASSERT_EQ(history.body_bytes(), counted(history)) << "seed " << seed << ", event " << order;
      with_bodies += history.body_bytes() > 0 ? 1 : 0;
      if (order % 50 != 0) continue;
      history.drop_bodies(10);
      ASSERT_LE(history.body_bytes(), 10u);
      ASSERT_EQ(history.body_bytes(), counted(history)) << "seed " << seed << ", dropped at " << order;
    }
  }
  EXPECT_GT(with_bodies, 1000u);
}

}  // namespace
}  // namespace armgate::policy
