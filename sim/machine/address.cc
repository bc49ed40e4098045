#include "sim/machine/address.h"

#include <algorithm>
#include <span>

#include "base/text.h"

namespace armgate::sim {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

std::string percent_decoded(std::string_view text) {
  if (text.find('%') == text.npos) return std::string(text);
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low >= 0) {
      result.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      result.push_back(text[i]);
    }
  }
  return result;
}

using Segments = std::span<const std::string>;

constexpr std::string_view kGroupType = "microsoft.resources/resourcegroups";

bool is(const std::string& segment, std::string_view wanted) { return equal_ignoring_case(segment, wanted); }

// One more "{type}/{name}" below what is named so far.
void descend(const std::string& type, const std::string& name, Address& address) {
  address.parent_key = address.root_key;
  address.shown_type += "/" + type;
  address.type = lower_text(address.shown_type);
  address.name = name;
  address.root_id += "/" + type + "/" + name;
  address.root_key = lower_text(address.root_id);
}

// [/{childType}/{child}][/{action}] of a child that stands in its parent's content.
void parse_inline_child(Segments rest, arm::Method method, const ChildKind& kind, Address& address) {
  address.shown_child_type = rest[0];
  address.child_type = kind.type;
  address.child_kind = &kind;
  address.kind = AddressKind::Children;
  if (rest.size() == 1) return;
  address.child_name = rest[1];
  address.kind = rest.size() == 2 ? AddressKind::Child : AddressKind::Unknown;
  if (rest.size() == 3 && method == arm::Method::Post) {
    address.kind = AddressKind::Action;
    address.action = lower_text(rest[2]);
  }
}

// What follows a resource: its children, theirs, an action, an operation of it.
void parse_below_resource(Segments rest, arm::Method method, Address& address) {
  address.kind = AddressKind::Resource;
  while (!rest.empty()) {
    if (rest.size() == 1 && method == arm::Method::Post) {
      address.kind = AddressKind::Action;
      address.action = lower_text(rest[0]);
      return;
    }
    if (const ChildKind* kind = inline_child(resource_type(address.type), lower_text(rest[0]))) {
      parse_inline_child(rest, method, *kind, address);
      return;
    }
    if (rest.size() == 1) {
      address.kind = AddressKind::Children;
      address.shown_child_type = rest[0];
      address.child_type = lower_text(rest[0]);
      return;
    }
    if (is(rest[0], "operationStatuses")) {
      address.kind = AddressKind::Operation;
      address.name = rest[1];
      return;
    }
    descend(rest[0], rest[1], address);
    rest = rest.subspan(2);
  }
}

// {type}[/{name}[...]] after ".../providers/{ns}/".
void parse_typed(Segments rest, arm::Method method, Address& address) {
  const bool operation =
      contains_ignoring_case(rest[0], "operationStatuses") || contains_ignoring_case(rest[0], "operationResults");
  if (rest.size() == 2 && operation) {
    address.kind = AddressKind::Operation;
    address.name = rest[1];
    return;
  }
  address.shown_type = address.provider + "/" + rest[0];
  address.type = lower_text(address.shown_type);
  if (rest.size() == 1) {
    address.kind = AddressKind::List;
    return;
  }
  address.name = rest[1];
  address.root_id += "/providers/" + address.shown_type + "/" + address.name;
  address.root_key = lower_text(address.root_id);
  parse_below_resource(rest.subspan(2), method, address);
}

// "{scope}/providers/{ns}/{type}/{name}": a resource about another one (role assignments).
Address parse_about(Address scope, Segments rest, arm::Method method) {
  if (scope.kind != AddressKind::Resource && scope.kind != AddressKind::Child) return {};
  Address address;
  address.subscription = std::move(scope.subscription);
  address.group = std::move(scope.group);
  address.group_key = std::move(scope.group_key);
  address.parent_key = scope.root_key;
  address.root_id = std::move(scope.root_id);
  if (scope.kind == AddressKind::Child) address.root_id += "/" + scope.shown_child_type + "/" + scope.child_name;
  address.provider = rest[0];
  parse_typed(rest.subspan(1), method, address);
  return address;
}

// What follows "/subscriptions/{s}/resourceGroups/{g}".
void parse_in_group(Segments rest, arm::Method method, Address& address) {
  if (rest.empty()) {
    address.kind = AddressKind::Group;
    address.type = kGroupType;
  } else if (rest.size() == 1 && is(rest[0], "resources")) {
    address.kind = AddressKind::List;
  } else if (rest.size() == 1 && method == arm::Method::Post) {
    address.kind = AddressKind::Action;
    address.action = lower_text(rest[0]);
  } else if (rest.size() == 4 && is(rest[0], "providers") && is(rest[1], "microsoft.resources") && is(rest[2], "tags") &&
             is(rest[3], "default")) {
    address.kind = AddressKind::Tags;
    address.type = kGroupType;
  } else if (rest.size() >= 3 && is(rest[0], "providers")) {
    address.provider = rest[1];
    parse_typed(rest.subspan(2), method, address);
  }
}

// What follows "/subscriptions/{s}/providers".
void parse_subscription_provider(Segments rest, arm::Method method, Address& address) {
  if (rest.empty()) {
    address.kind = AddressKind::Providers;
    return;
  }
  address.provider = rest[0];
  if (rest.size() == 1 || (rest.size() == 2 && method == arm::Method::Post)) {
    address.kind = AddressKind::Provider;
  } else if (rest.size() == 5 && is(rest[1], "locations") && contains_ignoring_case(rest[3], "operation")) {
    address.kind = AddressKind::Operation;
    address.name = rest[4];
  } else if (rest.size() == 4 && is(rest[0], "microsoft.insights") && is(rest[1], "eventtypes") && is(rest[2], "management") &&
             is(rest[3], "values")) {
    address.kind = AddressKind::ActivityLog;
  } else {
    address.root_id = "/subscriptions/" + address.subscription;
    parse_typed(rest.subspan(1), method, address);
  }
}

void parse_in_subscription(Segments rest, arm::Method method, Address& address) {
  if (rest.empty()) {
    address.kind = AddressKind::Subscription;
  } else if (is(rest[0], "providers")) {
    parse_subscription_provider(rest.subspan(1), method, address);
  } else if (is(rest[0], "operationresults") && rest.size() == 2) {
    address.kind = AddressKind::Operation;
    address.name = rest[1];
  } else if (is(rest[0], "resourcegroups") && rest.size() == 1) {
    address.kind = AddressKind::Groups;
  } else if (is(rest[0], "resourcegroups")) {
    address.group = rest[1];
    address.root_id = "/subscriptions/" + address.subscription + "/resourceGroups/" + address.group;
    address.root_key = address.group_key = lower_text(address.root_id);
    parse_in_group(rest.subspan(2), method, address);
  }
}

}  // namespace

std::vector<std::string> path_segments(std::string_view path) {
  std::vector<std::string> segments;
  segments.reserve(10);
  while (!path.empty()) {
    if (path.front() == '/') {
      path.remove_prefix(1);
      continue;
    }
    const size_t end = std::min(path.find('/'), path.size());
    // An encoded slash is a slash to ARM, too (docs/arm.md, "Resource ids").
    const std::string decoded = percent_decoded(path.substr(0, end));
    for (std::string_view rest = decoded; !rest.empty(); rest.remove_prefix(std::min(rest.find('/'), rest.size()))) {
      if (rest.front() == '/') rest.remove_prefix(1);
      if (const auto name = rest.substr(0, rest.find('/')); !name.empty()) segments.emplace_back(name);
    }
    path.remove_prefix(end);
  }
  return segments;
}

namespace {

// Below "/subscriptions/{s}": what the segments name, with what they are about before the last "providers".
Address parse_segments(Segments segments, arm::Method method) {
  Address address;
  address.subscription = segments[1];
  const auto is_providers = [](const std::string& segment) { return is(segment, "providers"); };
  const auto first = std::find_if(segments.begin(), segments.end(), is_providers);
  const auto last = std::find_if(segments.rbegin(), segments.rend(), is_providers);
  const size_t at = static_cast<size_t>(segments.rend() - last) - (last == segments.rend() ? 0 : 1);
  const bool about_another = first != segments.end() && &*first != &segments[at] && segments.size() >= at + 4;
  if (!about_another) {
    parse_in_subscription(segments.subspan(2), method, address);
    return address;
  }
  const Segments rest = segments.subspan(at + 1);
  Address scope = parse_segments(segments.first(at), arm::Method::Get);
  const bool tags = rest.size() == 3 && is(rest[0], "microsoft.resources") && is(rest[1], "tags") && is(rest[2], "default");
  if (!tags) return parse_about(std::move(scope), rest, method);
  scope.kind = scope.kind == AddressKind::Resource ? AddressKind::Tags : AddressKind::Unknown;
  return scope;
}

}  // namespace

Address parse_address(const arm::RequestHead& head) {
  Address address;
  const std::vector<std::string> all = path_segments(arm::path_of(head.target));
  Segments segments(all);
  if (segments.size() == 2 && segments[0] == "__sim") {
    address.kind = AddressKind::Control;
    address.name = segments[1];
    return address;
  }
  if (segments.empty() || !is(segments[0], "subscriptions")) return address;
  if (segments.size() == 1) {
    address.kind = AddressKind::Subscriptions;
    return address;
  }
  return parse_segments(segments, head.method);
}

Address parse_id(std::string_view id) {
  arm::RequestHead head;
  head.method = arm::Method::Get;
  head.target = id;
  return parse_address(head);
}

std::string child_key(const Address& address) {
  return address.root_key + "/" + address.child_type + "/" + lower_text(address.child_name);
}

std::string address_key(const Address& address) {
  return address.kind == AddressKind::Child ? child_key(address) : address.root_key;
}

}  // namespace armgate::sim
