// Goal: no write is given the ETag of a state newer than the one it was built from (promise P1), and none that was built
// on a state goes without. Method: every sequence of events up to a depth, on one resource with one client, judged by a
// world that knows what each actor really holds in its hands.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "proxy/policy/base.h"
#include "tests/proxy/policy/shown.h"

namespace armgate::policy {
namespace {

enum class Event {
  Read,           // delivered and confirmed
  ReadIdle,       // delivered, but its connection has not shown it yet
  ReadLost,       // recorded, but it never arrived
  Write,          // other bytes each time, built on what the actor holds
  WriteLost,      // the same, and its answer gets lost
  Delete,         // by the client, through armgate, until its end
  OutsiderWrite,  // anybody else's change
  OutsiderDelete, // through armgate
  Touch,          // the ETag moves, the content does not
  Think,          // time passes, longer than think_max
};

constexpr int kNothing = std::numeric_limits<int>::max();  // built on no state: any precondition is welcome
constexpr int kTwo = 2;

// ARM, the client's view at armgate, and what its actors hold.
struct World {
  Shown shown;
  int content = 0;  // number of the state
  int etag = 0;
  bool exists = true;
  std::array<int, kTwo> holds{kNothing, kNothing};
  std::map<std::string, int> content_of_etag{};
  std::map<int, uint64_t> version_of_content{};
  int refusals = 0;
  int thoughts = 0;
  bool violated = false;

  std::string etag_text() const { return "e" + std::to_string(etag); }

  void change() {
    exists = true;
    ++content;
    ++etag;
  }

  void deliver(int actor, How how, bool arrives) {
    if (exists) {
      content_of_etag[etag_text()] = content;
      const auto same = version_of_content.find(content);
      version_of_content[content] = same == version_of_content.end()
                                        ? shown.show(etag_text(), std::move(how))
                                        : shown.show_same(etag_text(), same->second, std::move(how));
    } else {
      shown.show_absent(std::move(how));
    }
    if (arrives) holds[actor] = content;
  }

  void write(int actor, How answer, bool answer_arrives, bool etag_in_body) {
    const int built_on = holds[actor];
    if (etag_in_body) shown.facts.body_etag = body_etags[actor];
    const Base base = shown.decide();
    shown.facts.body_etag = {};
    if (base.rule == BaseRule::Refused) {
      ++refusals;
      return;
    }
    if (base.goes_unguarded()) {
      violated |= built_on != kNothing && base.rule != BaseRule::Create;
      change();
    } else {
      violated |= content_of_etag.at(base.etag) > built_on;
      if (!exists || base.etag != etag_text()) {
        ++refusals;
        shown.view.refuse(base.version);
        return;
      }
      change();
    }
    shown.accept(base);
    deliver(actor, std::move(answer), answer_arrives);
    holds[actor] = content;  // it is the actor's own word, whether it heard the answer or not
    if (answer_arrives) body_etags[actor] = etag_text();
  }

  void erase() {
    exists = false;
    ++content;
    ++etag;
    shown.deleted_order = shown.tick().order;
  }

  std::array<std::string, kTwo> body_etags{};  // the ETag of what the actor holds
};

enum class Client { Single, RequestIds, EtagsInBodies, Many };

void apply(World& world, Client client, Event event, int actor) {
  world.shown.facts.actor = client == Client::Single ? Actor::Single : Actor::Many;
  // Each actor is a command with a request id of its own, as az makes them.
  const std::string id = client == Client::RequestIds ? (actor == 0 ? "first" : "second") : "";
  world.shown.facts.request_id = id;
  const bool in_body = client == Client::EtagsInBodies && world.holds[actor] != kNothing && world.exists;
  const auto confirmed = Confirmation::Confirmed;
  switch (event) {
    case Event::Read: world.deliver(actor, {DeliveryKind::PointRead, confirmed, id, {}}, true); break;
    case Event::ReadIdle: world.deliver(actor, {DeliveryKind::PointRead, Confirmation::Pending, id, {}}, true); break;
    case Event::ReadLost: world.deliver(actor, {DeliveryKind::PointRead, Confirmation::Pending, id, {}}, false); break;
    case Event::Write: world.write(actor, {DeliveryKind::OwnAnswer, confirmed, id, {}}, true, in_body); break;
    case Event::WriteLost:
      world.write(actor, {DeliveryKind::OwnAnswer, Confirmation::Pending, id, {}}, false, in_body);
      break;
    case Event::Delete:
      world.erase();
      world.shown.show_absent(as_own_answer());
      world.holds[actor] = world.content;
      break;
    case Event::OutsiderWrite: world.change(); break;
    case Event::OutsiderDelete: world.erase(); break;
    case Event::Touch: ++world.etag; break;
    case Event::Think: world.shown.pass(world.shown.limits.think_max + seconds(1)), ++world.thoughts; break;
  }
  if (event == Event::Read || event == Event::ReadIdle) world.body_etags[actor] = world.etag_text();
}

struct Step {
  Event event;
  int actor;
};

struct Tally {
  uint64_t sequences = 0;
  uint64_t violations = 0;                // sequences whose last event broke the invariant first
  uint64_t without_refusal = 0;           // of them, without any refusal before
  uint64_t without_refusal_or_thought = 0;
  std::string first;
};

enum class BlindWrites { Yes, No };

struct Search {
  Client client;
  BlindWrites blind_writes;
  std::vector<Step> steps;
  int depth;
  Tally tally{};
  std::vector<Step> path{};

  void run(const World& world) {
    if (static_cast<int>(path.size()) == depth) return;
    for (const auto& step : steps) {
      const bool writes = step.event == Event::Write || step.event == Event::WriteLost;
      if (writes && world.holds[step.actor] == kNothing && blind_writes == BlindWrites::No) continue;
      World next = world;
      path.push_back(step);
      apply(next, client, step.event, step.actor);
      ++tally.sequences;
      if (next.violated) {
        note(next);
      } else {
        run(next);
      }
      path.pop_back();
    }
  }

  void note(const World& world) {
    ++tally.violations;
    tally.without_refusal += world.refusals == 0;
    tally.without_refusal_or_thought += world.refusals == 0 && world.thoughts == 0;
    const bool better = tally.first.empty() || (world.refusals == 0 && world.thoughts == 0 && tally.without_refusal_or_thought == 1);
    if (!better) return;
    tally.first.clear();
    for (const auto& step : path) {
      tally.first += std::to_string(static_cast<int>(step.event)) + (step.actor == 0 ? "a " : "b ");
    }
  }
};

Tally search(Client client, BlindWrites blind_writes, const std::vector<Event>& by_actors, const std::vector<Event>& by_others, int actors,
             int depth) {
  Search search{client, blind_writes, {}, depth};
  for (int actor = 0; actor < actors; ++actor) {
    for (const auto event : by_actors) search.steps.push_back({event, actor});
  }
  for (const auto event : by_others) search.steps.push_back({event, 0});
  search.run(World{});
  std::printf("%llu sequences, %llu unsafe, %llu of them without a refusal before, %llu of these within think_max; %s\n",
              static_cast<unsigned long long>(search.tally.sequences),
              static_cast<unsigned long long>(search.tally.violations),
              static_cast<unsigned long long>(search.tally.without_refusal),
              static_cast<unsigned long long>(search.tally.without_refusal_or_thought), search.tally.first.c_str());
  return search.tally;
}

const std::vector<Event> kReadsAndWrites{Event::Read, Event::ReadIdle, Event::ReadLost, Event::Write, Event::WriteLost};

TEST(BaseSearch, OneDeclaredActorIsNeverGivenANewerState) {
  auto own = kReadsAndWrites;
  own.push_back(Event::Delete);
  const auto tally = search(Client::Single, BlindWrites::Yes, own,
                            {Event::OutsiderWrite, Event::OutsiderDelete, Event::Touch, Event::Think}, 1, 5);
  EXPECT_EQ(tally.violations, 0u) << tally.first;
}

TEST(BaseSearch, OneUndeclaredActorIsNeverGivenANewerState) {
  const auto tally = search(Client::Many, BlindWrites::Yes, {Event::Read, Event::ReadLost, Event::Write, Event::WriteLost},
                            {Event::OutsiderWrite, Event::Think}, 1, 6);
  EXPECT_EQ(tally.violations, 0u) << tally.first;
}

TEST(BaseSearch, CommandsWithRequestIdsAreNeverGivenANewerState) {
  const auto tally = search(Client::RequestIds, BlindWrites::Yes, {Event::Read, Event::ReadLost, Event::Write},
                            {Event::OutsiderWrite, Event::Think}, 2, 5);
  EXPECT_EQ(tally.violations, 0u) << tally.first;
}

TEST(BaseSearch, EtagsInBodiesAreNeverReplaced) {
  const auto tally = search(Client::EtagsInBodies, BlindWrites::No, {Event::Read, Event::ReadLost, Event::Write},
                            {Event::OutsiderWrite, Event::Touch, Event::Think}, 2, 5);
  EXPECT_EQ(tally.violations, 0u) << tally.first;
}

// Two actors behind one name, without any evidence of who is who. While none of their writes was refused and no time has
// passed they are safe; after that the older state may be dead for both and the newer one the only one left. The bound says
// how often, so that content evidence (rule 6) has something to lower.
TEST(BaseSearch, TwoHiddenActorsAreSafeUntilARefusalOrAPause) {
  const auto tally = search(Client::Many, BlindWrites::No, {Event::Read, Event::Write},
                            {Event::OutsiderWrite, Event::Touch, Event::Think}, 2, 6);
  EXPECT_EQ(tally.without_refusal_or_thought, 0u) << tally.first;
  EXPECT_LE(tally.violations * 100, tally.sequences) << "more than one in a hundred";
}

}  // namespace
}  // namespace armgate::policy
