#include "proxy/request/write/changed_members.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "arm/body/difference.h"
#include "base/text.h"
#include "json/document.h"
#include "proxy/request/content_coding.h"

namespace armgate {
namespace {

std::string name_in(std::string_view token) {
  std::string name;
  for (size_t i = 0; i < token.size(); ++i) {
    const bool is_escape = token[i] == '~' && i + 1 < token.size();
    name += !is_escape ? token[i] : token[++i] == '0' ? '~' : '/';
  }
  return name;
}

// A PUT that leaves out an object in which clients write nothing (properties with a provisioningState alone) asks for no change
// there. Below elements of arrays nobody looks.
bool is_left_to_the_service(std::string_view pointer, const JsonDocument& before, const JsonDocument& asked,
                            const arm::BodyFacts& facts) {
  auto there = before.root();
  auto wanted = asked.root();
  arm::BodyPlace place = facts.top();
  bool is_wanted = true;
  while (!pointer.empty()) {
    const size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string name = name_in(pointer.substr(1, end - 1));
    pointer.remove_prefix(end);
    if (!is_object(there) || there.at_key(name).get(there)) return false;
    is_wanted = is_wanted && is_object(wanted) && !wanted.at_key(name).get(wanted);
    place = place.member(name);
  }
  if (is_wanted || !is_object(there)) return false;
  const simdjson::dom::object object = there;
  return std::all_of(object.begin(), object.end(),
                     [&](const JsonMember& member) { return place.member(member.key).read_only(); });
}

}  // namespace

std::optional<std::string> changed_members(const AskedChange& change) {
  if (!change.requested_body || !change.facts) return std::nullopt;
  if (change.creates) return std::string();
  // What a PATCH sets is in it, whatever it was built from.
  static const policy::KeptBody kNothing{"{}"};
  if (!change.before && change.asked_for_all) return std::nullopt;
  const auto before = plain_body(change.before ? *change.before : kNothing, kComparedBytesMax);
  const auto asked = plain_body(*change.requested_body, kComparedBytesMax);
  if (!before || !asked || before->text().size() > kComparedBytesMax || asked->text().size() > kComparedBytesMax)
    return std::nullopt;
  const bool before_is_partial = change.before && change.before->is_partial;
  const std::array bodies{
      arm::ComparedBody{before->text(), before_is_partial ? arm::BodyKind::Partial : arm::BodyKind::Whole},
      arm::ComparedBody{asked->text(), change.asked_for_all ? arm::BodyKind::Whole : arm::BodyKind::Partial}};
  const arm::Difference difference(bodies, *change.facts);
  if (!difference.readable(0) || !difference.readable(1)) return std::nullopt;
  const JsonDocument shown(before->text()), wanted(asked->text());
  std::string lines;
  size_t count = 0;
  for (const std::string& pointer : difference.changed(0, 1, kChangedMembersMax + 1)) {
    if (change.asked_for_all && is_left_to_the_service(pointer, shown, wanted, *change.facts)) continue;
    if (!lines.empty()) lines += '\n';
    if (count++ == kChangedMembersMax) return lines + "...";
    lines += printable(pointer);
  }
  return count == 0 ? std::string("(nothing)") : lines;
}

}  // namespace armgate
