#include "proxy/request/write/changed_members.h"

#include <array>

#include "arm/body/difference.h"
#include "base/text.h"
#include "proxy/request/content_coding.h"

namespace armgate {

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
  std::string lines;
  size_t count = 0;
  for (const std::string& pointer : difference.changed(0, 1, kChangedMembersMax + 1)) {
    if (!lines.empty()) lines += '\n';
    if (count++ == kChangedMembersMax) return lines + "...";
    lines += printable(pointer);
  }
  return count == 0 ? std::string("(nothing)") : lines;
}

}  // namespace armgate
