// Goal: mutual exclusion, first come first served per key, no lost grant, no deadlock, nothing left over. Method: every
// interleaving of what three claims can do, for every choice of keys and modes, compared step by step with a model that is
// one list and one obvious rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/state/lock_table.h"

namespace armgate {
namespace {

using rules::LockKey;
using rules::LockMode;

constexpr size_t kClaims = 3;
constexpr size_t kSteps = 3;  // join; take, or leave if not granted; let go

struct Kind {
  std::vector<LockKey> keys;
  bool quits = false;  // leaves at its second step even if it was granted by then
};

class Model {
 public:
  explicit Model(const std::array<Kind, kClaims>& kinds) {
    for (size_t a = 0; a < kClaims; ++a) {
      for (size_t b = 0; b < kClaims; ++b) conflicts_[a][b] = conflict(kinds[a], kinds[b]);
    }
  }

  void join(size_t claim) {
    in_order_.push_back({claim, false});
    grant();
  }
  void leave(size_t claim) {
    std::erase_if(in_order_, [&](const Entry& e) { return e.claim == claim; });
    grant();
  }
  bool granted(size_t claim) const {
    return std::any_of(in_order_.begin(), in_order_.end(), [&](const Entry& e) { return e.claim == claim && e.granted; });
  }

 private:
  struct Entry {
    size_t claim;
    bool granted;
  };

  static bool conflict(const Kind& a, const Kind& b) {
    for (const auto& x : a.keys) {
      for (const auto& y : b.keys) {
        if (x.id == y.id && (x.mode == LockMode::Exclusive || y.mode == LockMode::Exclusive)) return true;
      }
    }
    return false;
  }

  // Who conflicts with nobody that holds and with nobody that came before it, holds.
  void grant() {
    for (size_t i = 0; i < in_order_.size(); ++i) {
      bool free = !in_order_[i].granted;
      for (size_t j = 0; j < in_order_.size(); ++j) {
        const bool in_the_way = j != i && (j < i || in_order_[j].granted);
        free = free && !(in_the_way && conflicts_[in_order_[i].claim][in_order_[j].claim]);
      }
      if (free) in_order_[i].granted = true;
    }
  }

  std::array<std::array<bool, kClaims>, kClaims> conflicts_{};
  std::vector<Entry> in_order_;
};

struct Runner {
  std::optional<LockPlace> place;
  WriteLease lease;
  size_t steps = 0;
};

// Runs one interleaving; the text of the first difference, or nothing.
std::string run(LockTable& table, const std::array<Kind, kClaims>& kinds, const std::vector<size_t>& turns) {
  Model model(kinds);
  std::array<Runner, kClaims> runners;
  for (const size_t claim : turns) {
    Runner& runner = runners[claim];
    switch (runner.steps++) {
      case 0: {
        auto joined = table.join(kinds[claim].keys, {}, nullptr, 1);
        runner.place.emplace(*std::move(joined));
        model.join(claim);
        break;
      }
      case 1:
        if (runner.place->granted() && !kinds[claim].quits) {
          runner.lease = runner.place->take();
          runner.place.reset();
        } else {
          runner.place.reset();
          model.leave(claim);
        }
        break;
      default:
        if (runner.lease.held()) model.leave(claim);
        runner.lease.release();
    }
    for (size_t other = 0; other < kClaims; ++other) {
      const bool has = runners[other].lease.held() || (runners[other].place && runners[other].place->granted());
      if (has != model.granted(other)) return "claim " + std::to_string(other) + (has ? " was granted" : " was not granted");
    }
  }
  const auto left = table.counts();
  return left.keys == 0 && left.waiting == 0 ? "" : "something is left over";
}

std::string describe(const std::array<Kind, kClaims>& kinds, const std::vector<size_t>& turns) {
  std::string text;
  for (const auto& kind : kinds) {
    for (const auto& key : kind.keys) text += key.id + (key.mode == LockMode::Shared ? "s" : "x");
    text += kind.quits ? "(quits) " : " ";
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
        for (size_t claim = 0; claim < kClaims; ++claim) turns.insert(turns.end(), kSteps, claim);
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
  search({{{{"a", x}, {"b", x}}, true}, {{{"a", s}}, true}, {{{"a", x}}}, {{{"b", x}, {"a", s}}}});
}

TEST(LockTableSearch, ClaimsInACircleOverThreeKeys) {
  const auto x = LockMode::Exclusive;
  const auto s = LockMode::Shared;
  search({{{{"a", x}, {"b", x}}}, {{{"b", x}, {"c", x}}}, {{{"c", x}, {"a", s}}, true}, {{{"c", s}, {"a", x}, {"b", s}}}});
}

}  // namespace
}  // namespace armgate
