#include "sim/address.h"

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

bool is(const std::string& segment, std::string_view wanted) { return equal_ignoring_case(segment, wanted); }

// {type}[/{name}[/{childType}[/{child}[/{action}]]]] after "/providers/{ns}/" below a group.
void parse_typed(Segments rest, arm::Method method, Address& address) {
  address.shown_type = address.provider + "/" + rest[0];
  address.type = lower_text(address.shown_type);
  if (rest.size() == 1) {
    address.kind = AddressKind::List;
    return;
  }
  address.name = rest[1];
  address.root_id += "/providers/" + address.shown_type + "/" + address.name;
  address.root_key = lower_text(address.root_id);
  if (rest.size() == 2) {
    address.kind = AddressKind::Resource;
    return;
  }
  if (rest.size() == 3 && method == arm::Method::Post) {
    address.kind = AddressKind::Action;
    address.action = lower_text(rest[2]);
    return;
  }
  address.shown_child_type = rest[2];
  address.child_type = lower_text(rest[2]);
  address.kind = AddressKind::Children;
  if (rest.size() >= 4) {
    address.child_name = rest[3];
    address.kind = AddressKind::Child;
  }
  if (rest.size() == 5 && method == arm::Method::Post) {
    address.kind = AddressKind::Action;
    address.action = lower_text(rest[4]);
  } else if (rest.size() > 4) {
    address.kind = AddressKind::Unknown;
  }
}

// What follows "/subscriptions/{s}/resourceGroups/{g}".
void parse_in_group(Segments rest, arm::Method method, Address& address) {
  if (rest.empty()) {
    address.kind = AddressKind::Group;
    address.type = "microsoft.resources/resourcegroups";
  } else if (rest.size() == 1 && is(rest[0], "resources")) {
    address.kind = AddressKind::List;
  } else if (rest.size() == 1 && method == arm::Method::Post) {
    address.kind = AddressKind::Action;
    address.action = lower_text(rest[0]);
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
  } else if (rest.size() == 2) {
    address.kind = AddressKind::List;
    address.shown_type = rest[0] + "/" + rest[1];
    address.type = lower_text(address.shown_type);
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
    segments.push_back(percent_decoded(path.substr(0, end)));
    path.remove_prefix(end);
  }
  return segments;
}

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
  address.subscription = segments[1];
  const size_t count = segments.size();
  const bool tags = count >= 8 && is(segments[count - 4], "providers") &&
                    is(segments[count - 3], "microsoft.resources") && is(segments[count - 2], "tags") &&
                    is(segments[count - 1], "default");
  parse_in_subscription(segments.subspan(2, count - 2 - (tags ? 4 : 0)), head.method, address);
  if (tags) {
    const bool taggable = address.kind == AddressKind::Group || address.kind == AddressKind::Resource;
    address.kind = taggable ? AddressKind::Tags : AddressKind::Unknown;
  }
  return address;
}

std::string child_key(const Address& address) {
  return address.root_key + "/" + address.child_type + "/" + lower_text(address.child_name);
}

}  // namespace armgate::sim
