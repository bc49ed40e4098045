// body_facts.h – what is known about the body of a resource type: who writes which member, and how its arrays are told apart.
//
// Why: whether two states are the same, and whether two changes touch the same thing, depends on facts that no body shows. They
// are said by JSON pointers (RFC 6901) in which "*" is every element of an array or every member of a map, because a name alone
// says too little: ipConfigurations is the service's in a subnet and the client's in a network interface. Names count without
// case. Where a pointer says "*" and another names the member, the name decides.
//
// Always known, for every type:
//   - members that only the service writes: by name etag, provisioningState, resourceGuid and systemData at any depth, and
//     timestamps where they are a resource's (deeper than /properties/x/createdAt providers have none, and what stands there is
//     mostly a document of the client's own); of the resource's managed identity its principals;
//   - free-form maps, by name: tags, nodeLabels, metadata. What stands in them is the client's own words, "createdAt" among
//     them;
//   - of the maps, that a PATCH adds to a resource's user-assigned identities and leaves those that it does not name
//     (learn.microsoft.com: "How to configure managed identities for Azure resources on an Azure VM using REST API calls");
//   - the resource's own id, name and type: ARM takes them from the URL, writes them in another case than it was sent, and
//     clients leave them out, so their absence says nothing. The same goes for children that stand in a parent's body (those
//     have "properties"). Its location is compared as a location.
//
// Threads: immutable. Made once for each rule and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace armgate::arm {

enum class ArrayKind {
  Keyed,    // elements are told apart by their key; their order says nothing
  Ordered,  // the same, and their order counts (path rules, init containers): it is one more value
  Set,      // of plain values, in any order
  Atomic,   // one value as a whole
};

enum class SameAs {
  Id,        // an id: without case, without a slash at the end
  Location,  // "West Europe" is westeurope
  Case,      // without case
};

struct ArrayFact {
  std::string pointer;
  ArrayKind kind = ArrayKind::Keyed;
  std::vector<std::string> key;  // Keyed, Ordered: the members that tell elements apart; one at least has to be there
  // Pointers into an element, of plain values that no two elements may have in common, all of them together: a priority and a
  // direction.
  std::vector<std::string> unique{};
};

struct SameFact {
  std::string pointer;
  SameAs as = SameAs::Case;
};

// What a rule says about its types, as it is written there.
struct DeclaredFacts {
  std::vector<std::string> read_only{};   // only the service writes it: never compared
  std::vector<std::string> write_only{};  // never shown: its absence says nothing
  std::vector<std::string> kept{};        // a PUT that leaves it out does not remove it; null and what is empty do
  std::vector<std::string> maps{};        // its members' names are the client's own words, as those of "tags" are
  std::vector<std::string> free_form{};   // all that stands in there, at any depth: a document of the client's own
  std::vector<ArrayFact> arrays{};
  std::vector<SameFact> same{};

  bool empty() const {
    return read_only.empty() && write_only.empty() && kept.empty() && maps.empty() && free_form.empty() && arrays.empty() &&
           same.empty();
  }
};

// A place in a body and what is known there. A walk begins at BodyFacts::top() and goes down beside the document; each step is
// one look-up. Must not outlive the facts.
class BodyPlace {
 public:
  bool read_only() const { return read_only_; }
  bool write_only() const { return write_only_; }  // here or above
  bool kept() const;                               // left out of a PUT it stays as it is
  // The members are the client's own words, each for itself: a free-form map, or an object whose members a fact calls "*".
  bool is_map() const { return is_free_form() || is_declared_map(); }
  // A map of which a PATCH changes the members that it names; of others it replaces all that is in there.
  bool is_patched_by_member() const;
  // Said to the letter by a free-form map or document at or above this place: generic names say nothing here.
  bool is_free_form() const { return free_form_ != FreeForm::No; }
  bool is_in_document() const { return free_form_ == FreeForm::Document; }  // declared; the order of its arrays counts
  bool is_in_labels() const { return free_form_ == FreeForm::Labels; }      // tags and others that are known by their name
  const ArrayFact* array() const;                                           // null: nothing is known
  std::optional<SameAs> same() const;
  bool hides_member() const;  // of what stands here a part is never shown, and is lost by a PUT that leaves it out
  bool is_top() const { return top_; }

  BodyPlace member(std::string_view name) const;
  BodyPlace element() const;

 private:
  friend class BodyFacts;
  struct Node;
  enum class FreeForm : uint8_t { No, Labels, Document };
  bool is_declared_map() const;
  void enter(const Node& node);  // where it already is

  const Node* node_ = nullptr;  // null: nothing is declared here and below
  bool top_ = false;
  FreeForm free_form_ = FreeForm::No;
  uint8_t depth_ = 0;
  bool read_only_ = false;
  bool write_only_ = false;
};

class BodyFacts {
 public:
  BodyFacts();  // what is known of every type
  // Pointers that are none are left out; rule files refuse them.
  explicit BodyFacts(const DeclaredFacts& declared);
  ~BodyFacts();
  BodyFacts(const BodyFacts&) = delete;
  BodyFacts& operator=(const BodyFacts&) = delete;

  static const std::shared_ptr<const BodyFacts>& generic();  // those of a type without a rule

  BodyPlace top() const;

 private:
  std::unique_ptr<BodyPlace::Node> root_;
};

}  // namespace armgate::arm
