#include "proxy/request/queue/visibility.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arm/identity.h"
#include "json/select.h"
#include "proxy/request/content_coding.h"

namespace armgate {
namespace {

constexpr std::string_view kGroupType = "microsoft.resources/resourcegroups";
constexpr std::string_view kAssignmentType = "microsoft.authorization/roleassignments";

// The object ids of the principals that a body speaks of: of a role assignment, or of the identity of a resource
// (Microsoft.Authorization/roleAssignments, Microsoft.ManagedIdentity/userAssignedIdentities, "identity" of any resource).
std::vector<std::string> principals_in(std::string_view body) {
  static const StringSelection kPlaces({"/properties/principalId", "/identity/principalId"});
  std::vector<std::string> all;
  for (auto& found : kPlaces.in(body)) std::move(found.begin(), found.end(), std::back_inserter(all));
  return all;
}

// What a role assignment applies to: what stands before its provider in its id.
std::string_view scope_of(const arm::ResourceId& assignment) {
  const size_t end = assignment.id.rfind("/providers/");
  return std::string_view(assignment.id).substr(0, end == std::string::npos ? 0 : end);
}

using Evidence = std::optional<TimePoint>;

Evidence newer(Evidence one, Evidence other) { return one && other ? std::max(one, other) : (one ? one : other); }

// When the resource of this canonical id was created, if that passed by.
Evidence created(const Write& write, std::string_view id) {
  const auto& shared = write.parts.shared;
  return shared.resources.ask(shared.hasher.hash(id), [](const policy::History& history) { return history.created(); });
}

Evidence group_of(const Write& write) {
  const auto group = arm::resource_group_of(write.plan.target.resource);
  return group ? created(write, *group) : std::nullopt;
}

// Directly above it alone: what stands above that came into being earlier, or the parent is not there. But what is always named
// "default" nobody makes (blobServices/default): it is there with its own parent.
Evidence parent_of(const Write& write) {
  auto parent = arm::parent_of(write.plan.target.resource);
  while (parent && parent->id.ends_with("/default")) parent = arm::parent_of(*parent);
  return parent ? created(write, parent->id) : std::nullopt;
}

Evidence named_in(const Write& write, const policy::ErrorFacts& facts) {
  Evidence newest;
  for (const auto& named : facts.named) newest = newer(newest, created(write, named.id));
  return newest;
}

Evidence references_of(const Write& write) {
  Evidence newest;
  for (const auto& reference : write.references) newest = newer(newest, created(write, reference.key.id));
  return newest;
}

Evidence principals_of(const Write& write) {
  Evidence newest;
  for (const auto& principal : principals_in(write.exchange.request.body)) {
    newest = newer(newest, write.parts.shared.recent_creations.principal_since(principal));
  }
  return newest;
}

// A role that whoever shows this token was given for the resource, or for anything above it.
Evidence roles_of(const Write& write) {
  const auto claims = arm::claims_of(write.authorization());
  if (!claims) return std::nullopt;
  Evidence newest;
  std::string_view scope = write.plan.target.resource.id;
  while (!scope.empty()) {
    newest = newer(newest, write.parts.shared.recent_creations.role_since(scope, claims->principal));
    scope = scope.substr(0, scope.rfind('/'));
  }
  return newest;
}

Evidence evidence_for(const Write& write, const policy::ErrorFacts& facts) {
  switch (facts.visibility.evidence) {
    case rules::Evidence::Group: return group_of(write);
    case rules::Evidence::Parent: return parent_of(write);
    case rules::Evidence::Named: return named_in(write, facts);
    case rules::Evidence::Referenced: return references_of(write);
    case rules::Evidence::Principal: return principals_of(write);
    case rules::Evidence::Role: return roles_of(write);
  }
  return std::nullopt;
}

struct Words {
  std::string_view reason;  // of the waiting, for x-armgate-reason
  std::string_view why;     // for a client whose queue timeout ends before
};

Words words_for(rules::Evidence evidence) {
  switch (evidence) {
    case rules::Evidence::Group:
      return {"waited-for-the-group-to-appear",
              "The resource group was created a moment ago and is not visible to this resource's provider yet."};
    case rules::Evidence::Parent:
      return {"waited-for-the-parent-to-appear", "The parent was created a moment ago and is not visible everywhere yet."};
    case rules::Evidence::Named:
    case rules::Evidence::Referenced:
      return {"waited-for-a-reference-to-appear",
              "What this request refers to was created a moment ago and is not visible everywhere yet."};
    case rules::Evidence::Principal:
      return {"waited-for-the-principal-to-appear", "The principal was created a moment ago and is not known everywhere yet."};
    case rules::Evidence::Role:
      return {"waited-for-the-role-to-hold", "The role was assigned a moment ago and does not hold everywhere yet."};
  }
  return {};
}

}  // namespace

void note_created(const Write& write, const arm::Response& answer) {
  auto& shared = write.parts.shared;
  const arm::ResourceId& resource = write.plan.target.resource;
  if (write.plan.operation != arm::OperationKind::Put) return;
  const Moment now = write.parts.clock.next_moment();
  const bool is_new = answer.head.status == 201 || write.rule() == policy::BaseRule::Create || resource.type == kGroupType;
  if (is_new) write.record_event(policy::ResourceCreated{now.time});
  if (resource.type != kAssignmentType) {
    const auto shown = plain_content(answer.head, answer.body, shared.options.body_keep_max);
    if (!shown) return;
    for (const auto& principal : principals_in(shown->text())) shared.recent_creations.principal(principal, now.time);
    return;
  }
  for (const auto& principal : principals_in(write.exchange.request.body)) {
    shared.recent_creations.role(scope_of(resource), principal, now.time);
  }
}

Task<Step<void>> after_not_visible(const Write& write, Attempts& attempts, arm::Response answer,
                                   const policy::ErrorFacts& facts) {
  const auto& visibility = facts.visibility;
  const auto since = evidence_for(write, facts);
  const bool evidence = since && write.parts.clock.now() - *since <= visibility.window;
  // What is gone already, as far as ARM can tell, needs no delete.
  const bool in_vain = write.plan.operation == arm::OperationKind::Delete && answer.head.status == 404;
  const int sendings = evidence ? write.ledger().note_visibility_try(write.sending) + 1 : 0;  // of all that came to this
  const auto pause = evidence && !in_vain ? rules::pause_after(visibility, sendings) : std::nullopt;
  if (!pause) co_return stop(write, Outcome::Kind::Answered, std::move(answer), "");
  const Words words = words_for(visibility.evidence);
  auto waited = co_await wait_for(write, attempts, *pause, words.why);
  if (waited) write.report().reason = words.reason;
  co_return std::move(waited);
}

}  // namespace armgate
