// intentions.h – what each client meant by a full write, and whether that and nothing else came of it.
//
// Why: a gateway that puts two writes together may lose a change, invent one, or let one count for two, and every answer still
// says
// 200. Clients say beside the body what they changed, from what to what; whatever body arrives, its effect must be just that.
// It knows nothing of how bodies are put together, and of armgate nothing at all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "json/tree_fwd.h"
#include "sim/judge/leaves.h"

namespace armgate::sim {

// At one leaf; nothing: it was, or is to be, absent.
struct Intention {
  std::optional<std::string> from;
  std::optional<std::string> to;
};
using Intentions = std::map<std::string, Intention>;  // by leaf

// From what a client had in hand to what it asks for.
Intentions intentions(const Leaves& from, const Leaves& to);

// As the field x-sim-changes. Nothing: the field is not there, or cannot be read.
std::string intentions_text(const Intentions& all);
std::optional<Intentions> read_intentions(std::string_view field);

// Of a child, seen from the resource in whose content it stands.
Intentions below(const std::string& place, Intentions all);

class IntentionJudge {
 public:
  struct Effect {
    std::string unintended{};   // the first leaf that changed although its client did not mean to; empty: none
    std::string undone{};       // that its client changed, and that is something else
    std::string overwritten{};  // that another had changed since its client's base
    bool is_as_meant() const { return unintended.empty() && undone.empty() && overwritten.empty(); }
  };

  // What a write makes of a resource; `meant` says of which leaves its client knows.
  Effect effect(const std::string& entity_key, const nlohmann::json& before, const nlohmann::json& after,
                const Intentions& meant, const std::string& client) const;
  // And whoever did what to it, whether it was said before or not.
  void happened(const std::string& entity_key, const nlohmann::json& before, const nlohmann::json& after,
                const std::string& client);
  void removed(const std::string& entity_key) { last_by_.erase(entity_key); }

 private:
  std::map<std::string, std::map<std::string, std::string>> last_by_;  // entity -> leaf -> who changed it last
};

}  // namespace armgate::sim
