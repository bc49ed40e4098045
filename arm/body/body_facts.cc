#include "arm/body/body_facts.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "json/select.h"

namespace armgate::arm {
namespace {

// In lower case. A name belongs here only if no provider is known to let a client write a member so called.
constexpr std::array<std::string_view, 4> kGenericReadOnly{"etag", "provisioningstate", "resourceguid", "systemdata"};

// The same at a resource's top, among its properties, and one level below.
constexpr uint8_t kTimesDepth = 3;
constexpr std::array<std::string_view, 8> kGenericTimes{
    "changedtime",    "createdat",        "createdtime", "creationtime",
    "lastmodifiedat", "lastmodifiedtime", "timecreated", "timemodified",
};

// Of a resource's managed identity, the same for every type (ARM's common types, managedidentity.json).
constexpr std::array<std::string_view, 4> kIdentityReadOnly{
    "/identity/principalId",
    "/identity/tenantId",
    "/identity/userAssignedIdentities/*/clientId",
    "/identity/userAssignedIdentities/*/principalId",
};

// The labels of an agent pool's nodes and the metadata of a DNS record set are like tags.
constexpr std::array<std::string_view, 3> kFreeForm{"metadata", "nodelabels", "tags"};

// Most names are none of these, and their length tells.
template <size_t N>
constexpr uint64_t lengths_of(const std::array<std::string_view, N>& names) {
  uint64_t lengths = 0;
  for (const auto name : names) lengths |= uint64_t{1} << name.size();
  return lengths;
}

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, uint64_t lengths, std::string_view name) {
  if (name.size() >= 64 || (lengths >> name.size() & 1) == 0) return false;
  return std::any_of(names.begin(), names.end(), [&](std::string_view known) { return equal_ignoring_case(known, name); });
}

struct LessIgnoringCase {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](char x, char y) { return lower(x) < lower(y); });
  }
};

}  // namespace

struct BodyPlace::Node {
  std::map<std::string, std::unique_ptr<Node>, LessIgnoringCase> members;
  std::unique_ptr<Node> any;  // "*"
  bool read_only = false;
  bool write_only = false;
  bool kept = false;
  bool document = false;
  bool patched_by_member = false;
  std::optional<ArrayFact> array;
  std::optional<SameAs> same;

  // The node that the pointer leads to, made if it is not there; null if it is no pointer.
  Node* at(std::string_view pointer) {
    const auto tokens = pointer_tokens(pointer);
    if (tokens.empty()) return nullptr;
    Node* node = this;
    for (const std::string& token : tokens) {
      auto& below = token == "*" ? node->any : node->members[token];
      if (below == nullptr) below = std::make_unique<Node>();
      node = below.get();
    }
    return node;
  }
};

bool BodyPlace::is_declared_map() const { return node_ != nullptr && node_->any != nullptr; }
bool BodyPlace::is_patched_by_member() const { return node_ != nullptr && node_->patched_by_member; }
bool BodyPlace::kept() const { return node_ != nullptr && node_->kept; }
const ArrayFact* BodyPlace::array() const { return node_ != nullptr && node_->array ? &*node_->array : nullptr; }
bool BodyPlace::hides_member() const {
  const auto is_hidden = [](const Node* below) { return below != nullptr && below->write_only && !below->kept; };
  if (node_ == nullptr) return false;
  return is_hidden(node_->any.get()) || std::any_of(node_->members.begin(), node_->members.end(),
                                                    [&](const auto& member) { return is_hidden(member.second.get()); });
}

std::optional<SameAs> BodyPlace::same() const { return node_ != nullptr ? node_->same : std::nullopt; }

BodyPlace BodyPlace::element() const {
  BodyPlace below;
  below.free_form_ = free_form_;
  below.write_only_ = write_only_;
  below.depth_ = depth_ < UINT8_MAX ? depth_ + 1 : depth_;
  if (node_ != nullptr && node_->any != nullptr) below.enter(*node_->any);
  return below;
}

void BodyPlace::enter(const Node& node) {
  node_ = &node;
  read_only_ = node.read_only;
  write_only_ |= node.write_only;
  if (node.document) free_form_ = FreeForm::Document;
}

BodyPlace BodyPlace::member(std::string_view name) const {
  constexpr uint64_t kReadOnlyLengths = lengths_of(kGenericReadOnly);
  constexpr uint64_t kTimesLengths = lengths_of(kGenericTimes);
  constexpr uint64_t kFreeFormLengths = lengths_of(kFreeForm);
  BodyPlace below;
  const auto named = node_ == nullptr || node_->members.empty() ? nullptr : [&]() -> const Node* {
    const auto found = node_->members.find(name);
    return found == node_->members.end() ? nullptr : found->second.get();
  }();
  if (named == nullptr) {
    below = element();
  } else {
    below.free_form_ = free_form_;
    below.write_only_ = write_only_;
    below.depth_ = depth_ < UINT8_MAX ? depth_ + 1 : depth_;
    below.enter(*named);
  }
  if (is_map()) return below;  // the names are the client's own
  below.read_only_ |= is_one_of(kGenericReadOnly, kReadOnlyLengths, name) ||
                      (below.depth_ <= kTimesDepth && is_one_of(kGenericTimes, kTimesLengths, name));
  if (!below.is_free_form() && is_one_of(kFreeForm, kFreeFormLengths, name)) below.free_form_ = FreeForm::Labels;
  return below;
}

BodyFacts::BodyFacts() : BodyFacts(DeclaredFacts{}) {}

BodyFacts::BodyFacts(const DeclaredFacts& declared) : root_(std::make_unique<BodyPlace::Node>()) {
  root_->at("/location")->same = SameAs::Location;
  for (const auto pointer : kIdentityReadOnly) root_->at(pointer)->read_only = true;
  root_->at("/identity/userAssignedIdentities")->patched_by_member = true;
  const auto mark = [&](const std::string& pointer, auto set) {
    if (auto* node = root_->at(pointer); node != nullptr) set(*node);
  };
  for (const auto& pointer : declared.read_only) mark(pointer, [](auto& node) { node.read_only = true; });
  for (const auto& pointer : declared.write_only) mark(pointer, [](auto& node) { node.write_only = true; });
  for (const auto& pointer : declared.kept) mark(pointer, [](auto& node) { node.kept = true; });
  for (const auto& pointer : declared.maps) mark(pointer + "/*", [](auto&) {});
  for (const auto& pointer : declared.free_form) mark(pointer, [](auto& node) { node.document = true; });
  for (const ArrayFact& fact : declared.arrays) mark(fact.pointer, [&](auto& node) { node.array = fact; });
  for (const SameFact& fact : declared.same) mark(fact.pointer, [&](auto& node) { node.same = fact.as; });
}

BodyFacts::~BodyFacts() = default;

const std::shared_ptr<const BodyFacts>& BodyFacts::generic() {
  static const auto facts = std::make_shared<const BodyFacts>();
  return facts;
}

BodyPlace BodyFacts::top() const {
  BodyPlace place;
  place.node_ = root_.get();
  place.top_ = true;
  return place;
}

}  // namespace armgate::arm
