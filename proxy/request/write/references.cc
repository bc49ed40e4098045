#include "proxy/request/write/references.h"

#include <iterator>
#include <utility>

#include "proxy/request/content_coding.h"

namespace armgate {

std::vector<rules::ReferenceKey> references_of(const Write& write) {
  std::vector<rules::ReferenceKey> keys;
  if (write.plan.referring.empty()) return keys;
  const auto& shared = write.parts.shared;
  const auto base = write.bases.possible.empty() ? nullptr : write.bases.possible.front().body;
  const auto before = base ? plain_body(*base, shared.options.body_keep_max) : PlainBytes::decoded("");
  const auto add = [&](const rules::Rule& rule, std::string_view body) {
    auto more = rules::referenced_keys(rule, body);
    keys.insert(keys.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  for (const auto& rule : write.plan.referring) {
    add(*rule, write.exchange.request.body);
    if (before && !before->text().empty()) add(*rule, before->text());
  }
  keys = rules::without_duplicates(std::move(keys), write.plan.keys);
  if (keys.size() > kReferencesMax) {
    write.parts.shared.counters.references_cut.fetch_add(1, std::memory_order_relaxed);
    keys.resize(kReferencesMax);
  }
  return keys;
}

}  // namespace armgate
