// subjects.h – the resources that simulated clients work on, and the changes they make to them.
//
// Every change adds something that can be missed afterwards: a member with a name of its own, or one more in a counter.
#pragma once

#include <string>
#include <string_view>

#include "arm/http.h"

namespace armgate::world {

// MarkChild: of a subnet or a rule. EditRule, EditItem: adds it, then changes it, then removes it. ToggleIdentity: a member whose name is an
// id. AddTagAndSecret: whoever writes knows
// what is never shown. The last two take back what the write before them did.
enum class ChangeKind {
  AddTag,
  CountInTag,
  RaiseCapacity,
  RaisePool,
  AddRule,
  AddSubnet,
  MarkChild,
  EditRule,
  EditItem,
  ToggleIdentity,
  AddTagAndSecret,
  TagAndRaiseCapacity,
  ToggleTag,
  ReplaceTag,  // its tag of before goes
  RotateTags,  // the last three stay
  ToggleCapacity
};

struct Subject {
  std::string target;   // path and api-version
  std::string initial;  // the body of its first PUT
  ChangeKind change = ChangeKind::AddTag;
};

Subject scale_set(std::string_view name, ChangeKind change);
Subject virtual_machine(std::string_view name);
Subject security_group(std::string_view name, ChangeKind change);
Subject network(std::string_view name, ChangeKind change);
Subject subnet(std::string_view network, std::string_view name);  // a child of the network
Subject security_rule(std::string_view in_group, std::string_view name);
Subject cluster(std::string_view name);                            // with the pools "system" and "user"
Subject pool(std::string_view in_cluster, std::string_view name);  // one of them, as a resource of its own
Subject storage_account(std::string_view name);
Subject shelf(std::string_view name, ChangeKind change);  // of a type that the service finishes
Subject safe(std::string_view name);                      // with a secret
Subject group(std::string_view name);
Subject at_version(Subject subject, std::string_view api_version);
std::string group_target();                       // the group that holds all of them
std::string tags_target(const Subject& subject);  // its tags as a resource of their own
std::string list_target(const Subject& subject);  // the collection it is in

// A full body made of one that was read, with one more `member`. `fields` gets what the simulated judge must know.
enum class BodyEtag { Dropped, Kept };
std::string with_change(std::string_view body, ChangeKind change, const std::string& member, BodyEtag etag,
                        arm::Headers& fields);
// What a file says of a scale set or a shelf in its `version`-th version: all of its own, and nothing of others'.
std::string file_body(const Subject& subject, int version);
bool has_member(std::string_view body, ChangeKind change, const std::string& member);
// The item of a list answer that is the subject; empty if it is not there.
std::string item_of(std::string_view page, const Subject& subject);
std::string parent_target(const Subject& subject);
// As it stands in its parent's body; empty: it does not.
std::string child_in(std::string_view parent, const Subject& subject);
std::string etag_in(std::string_view body);
std::string provisioning_state(std::string_view body);

}  // namespace armgate::world
