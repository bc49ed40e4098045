// Goal: mutual exclusion, first come first served per key, no lost grant, no deadlock, nothing left over; places that are kept
// while their owner is away, and clients that go along with their own. Method: every interleaving of what three claims can do,
// for every choice of keys and modes, compared step by step with a model that is one list and one obvious rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/state/lock/lock_table.h"

namespace armgate::lock_table_search_test {
namespace {

using rules::LockKey;
using rules::LockMode;

constexpr size_t kClaims = 3;

enum class Step {
  Join,
  Yield,        // its owner goes away
  Rejoin,       // and comes back
  TakeOrLeave,  // takes what was granted, or leaves
  Leave,        // even if it was granted by then
  LetOwnIn,
  LetGo,
};
const std::vector<Step> kPlain{Step::Join, Step::TakeOrLeave, Step::LetGo};
const std::vector<Step> kQuits{Step::Join, Step::Leave};
const std::vector<Step> kComesBack{Step::Join, Step::Yield, Step::Rejoin, Step::Leave};
const std::vector<Step> kStaysAway{Step::Join, Step::Yield, Step::Leave};
const std::vector<Step> kLetsOwnIn{Step::Join, Step::TakeOrLeave, Step::LetOwnIn, Step::LetGo};

struct Kind {
  std::vector<LockKey> keys;
  std::vector<Step> script = kPlain;
  uint64_t client = 0;  // 0: it is reentrant with nobody
};

class Model {
 public:
  explicit Model(const std::array<Kind, kClaims>& kinds) {
    for (size_t a = 0; a < kClaims; ++a) {
      for (size_t b = 0; b < kClaims; ++b) {
        conflicts_[a][b] = conflict(kinds[a], kinds[b]);
        same_client_[a][b] = kinds[a].client != 0 && kinds[a].client == kinds[b].client;
      }
    }
  }

  void join(size_t claim) {
    in_order_.push_back({claim});
    grant();
  }
  void leave(size_t claim) {
    std::erase_if(in_order_, [&](const Entry& e) { return e.claim == claim; });
    grant();
  }
  void yield(size_t claim) {
    Entry& entry = of(claim);
    entry.granted = false;
    entry.yields = true;
    grant();
  }
  void rejoin(size_t claim) {
    of(claim).yields = false;
    grant();
  }
  void admit_own(size_t claim) {
    of(claim).admits_own = true;
    grant();
  }
  bool granted(size_t claim) const {
    return std::any_of(in_order_.begin(), in_order_.end(), [&](const Entry& e) { return e.claim == claim && e.granted; });
  }
  bool turn(size_t claim) const {
    for (size_t i = 0; i < in_order_.size(); ++i) {
      if (in_order_[i].claim == claim) return in_order_[i].granted || free(i);
    }
    return false;
  }

 private:
  struct Entry {
    size_t claim;
    bool granted = false;
    bool yields = false;
    bool admits_own = false;
  };

  Entry& of(size_t claim) {
    return *std::find_if(in_order_.begin(), in_order_.end(), [claim](const Entry& e) { return e.claim == claim; });
  }

  static bool conflict(const Kind& a, const Kind& b) {
    for (const auto& x : a.keys) {
      for (const auto& y : b.keys) {
        if (x.id == y.id && (x.mode == LockMode::Exclusive || y.mode == LockMode::Exclusive)) return true;
      }
    }
    return false;
  }

  // Whether it conflicts with nobody that holds, but for its own client who lets it in, and with nobody that came before it and
  // does not yield.
  bool free(size_t i) const {
    const Entry& entry = in_order_[i];
    for (size_t j = 0; j < in_order_.size(); ++j) {
      const Entry& other = in_order_[j];
      if (j == i || !conflicts_[entry.claim][other.claim]) continue;
      const bool lets_in = other.admits_own && same_client_[entry.claim][other.claim];
      if (other.granted ? !lets_in : j < i && !other.yields) return false;
    }
    return true;
  }
  void grant() {
    for (size_t i = 0; i < in_order_.size(); ++i) {
      if (!in_order_[i].granted && !in_order_[i].yields && free(i)) in_order_[i].granted = true;
    }
  }

  std::array<std::array<bool, kClaims>, kClaims> conflicts_{};
  std::array<std::array<bool, kClaims>, kClaims> same_client_{};
  std::vector<Entry> in_order_;
};

struct Runner {
  std::optional<QueuePosition> place;
  WriteLease lease;
  size_t steps = 0;
};

void take_step(LockTable& table, const Kind& kind, size_t claim, Runner& runner, Model& model) {
  switch (kind.script[runner.steps++]) {
    case Step::Join: {
      ClaimInfo info;
      info.client.low = kind.client;
      info.is_reentrant = kind.client != 0;
      auto joined = table.join(kind.keys, info, nullptr, 1);
      runner.place.emplace(*std::move(joined));
      return model.join(claim);
    }
    case Step::Yield: runner.place->yield(); return model.yield(claim);
    case Step::Rejoin: runner.place->rejoin(); return model.rejoin(claim);
    case Step::TakeOrLeave:
      if (!runner.place->granted()) {
        runner.place.reset();
        return model.leave(claim);
      }
      runner.lease = runner.place->into_lease();
      runner.place.reset();
      return;
    case Step::Leave: runner.place.reset(); return model.leave(claim);
    case Step::LetOwnIn:
      if (runner.lease.held()) model.admit_own(claim);
      return runner.lease.admit_own();
    case Step::LetGo:
      if (runner.lease.held()) model.leave(claim);
      return runner.lease.release();
  }
}

// Runs one interleaving; the text of the first difference, or nothing.
std::string run(LockTable& table, const std::array<Kind, kClaims>& kinds, const std::vector<size_t>& turns) {
  Model model(kinds);
  std::array<Runner, kClaims> runners;
  for (const size_t claim : turns) {
    take_step(table, kinds[claim], claim, runners[claim], model);
    for (size_t other = 0; other < kClaims; ++other) {
      const auto& place = runners[other].place;
      const bool has = runners[other].lease.held() || (place && place->granted());
      if (has != model.granted(other)) return "claim " + std::to_string(other) + (has ? " was granted" : " was not granted");
      if (place && place->is_next() != model.turn(other)) return "claim " + std::to_string(other) + ": is it its turn?";
    }
  }
  const auto left = table.counts();
  return left.keys == 0 && left.waiting == 0 ? "" : "something is left over";
}

std::string describe(const std::array<Kind, kClaims>& kinds, const std::vector<size_t>& turns) {
  std::string text;
  for (const auto& kind : kinds) {
    for (const auto& key : kind.keys) text += key.id + (key.mode == LockMode::Shared ? "s" : "x");
    text += "(" + std::to_string(kind.script.size()) + " steps, client " + std::to_string(kind.client) + ") ";
  }
  for (const size_t turn : turns) text += std::to_string(turn);
  return text;
}

// Every interleaving of every three of the kinds. `mirror` names for each kind the one with its keys exchanged, so that of
// two choices that differ only in the keys' names one is enough.
void search(const std::vector<Kind>& kinds, const std::vector<size_t>& mirror = {}) {
  LockTable table({}, Hasher(HashKey{1, 2}));
  size_t interleavings = 0;
  for (size_t a = 0; a < kinds.size(); ++a) {
    for (size_t b = a; b < kinds.size(); ++b) {
      for (size_t c = b; c < kinds.size(); ++c) {
        if (!mirror.empty()) {
          std::array<size_t, kClaims> mirrored{mirror[a], mirror[b], mirror[c]};
          std::sort(mirrored.begin(), mirrored.end());
          if (mirrored < std::array<size_t, kClaims>{a, b, c}) continue;
        }
        const std::array<Kind, kClaims> chosen{kinds[a], kinds[b], kinds[c]};
        std::vector<size_t> turns;
        for (size_t claim = 0; claim < kClaims; ++claim) turns.insert(turns.end(), chosen[claim].script.size(), claim);
        do {
          ++interleavings;
          const auto difference = run(table, chosen, turns);
          ASSERT_EQ(difference, "") << describe(chosen, turns);
        } while (std::next_permutation(turns.begin(), turns.end()));
      }
    }
  }
  EXPECT_GE(interleavings, 10'000u);
}

// All ways to name some of the keys, each shared or exclusive.
std::vector<Kind> kinds_over(const std::vector<std::string>& ids) {
  std::vector<Kind> kinds{{}};
  for (const auto& id : ids) {
    std::vector<Kind> more;
    for (const auto& kind : kinds) {
      more.push_back(kind);
      for (const auto mode : {LockMode::Shared, LockMode::Exclusive}) {
        more.push_back(kind);
        more.back().keys.push_back({id, mode});
      }
    }
    kinds = std::move(more);
  }
  std::erase_if(kinds, [](const Kind& kind) { return kind.keys.empty(); });
  return kinds;
}

TEST(LockTableSearch, ThreeClaimsOverTwoKeysInEveryMode) {
  // Kinds in their order: bs bx as as+bs as+bx ax ax+bs ax+bx.
  search(kinds_over({"a", "b"}), {2, 5, 0, 3, 6, 1, 4, 7});
}

TEST(LockTableSearch, ClaimsThatQuitPassTheirGrantOn) {
  const auto x = LockMode::Exclusive;
  const auto s = LockMode::Shared;
  search({{{{"a", x}, {"b", x}}, kQuits}, {{{"a", s}}, kQuits}, {{{"a", x}}}, {{{"b", x}, {"a", s}}}});
}

TEST(LockTableSearch, ClaimsInACircleOverThreeKeys) {
  const auto x = LockMode::Exclusive;
  const auto s = LockMode::Shared;
  search({{{{"a", x}, {"b", x}}}, {{{"b", x}, {"c", x}}}, {{{"c", x}, {"a", s}}, kQuits}, {{{"c", s}, {"a", x}, {"b", s}}}});
}

TEST(LockTableSearch, APlaceIsKeptWhileItsOwnerIsAway) {
  const auto x = LockMode::Exclusive;
  const auto s = LockMode::Shared;
  search({{{{"a", x}}, kComesBack},
          {{{"a", s}, {"b", x}}, kComesBack},
          {{{"a", x}}, kStaysAway},
          {{{"a", x}, {"b", s}}},
          {{{"b", x}}}});
}

TEST(LockTableSearch, AClientGoesAlongWithItsOwnAndNobodyElse) {
  const auto x = LockMode::Exclusive;
  const auto s = LockMode::Shared;
  search({{{{"a", x}}, kLetsOwnIn, 7},
          {{{"a", x}, {"b", s}}, kLetsOwnIn, 7},
          {{{"a", x}}, kLetsOwnIn, 8},
          {{{"a", s}, {"b", x}}},
          {{{"a", x}}, kComesBack, 7}});
}

}  // namespace
}  // namespace armgate::lock_table_search_test
