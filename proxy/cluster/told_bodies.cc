#include "proxy/cluster/told_bodies.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/mutant.h"
#include "proxy/cluster/event.h"

namespace armgate::cluster {

Hash128 ToldBodies::hash_of(const policy::KeptBody& body) const {
  const char kind[] = {body.compressed ? '1' : '0', body.is_partial ? '1' : '0', body.etag ? '1' : '0'};
  const std::string_view bytes = is_mutant(Mutant::BodiesKnownByUrl) ? std::string_view() : std::string_view(body.bytes);
  return hasher_.hash_fields(std::string_view(kind, sizeof kind), body.target, body.etag.value_or(""), bytes);
}

policy::SharedBody ToldBodies::remember(policy::SharedBody body, TimePoint told) {
  if (!is_worth_it(body)) return body;
  if (told_.size() >= sweep_at_) sweep();
  One& one = told_[hash_of(*body)];
  if (auto same = one.body.lock())
    body = std::move(same);
  else
    one.body = body;
  one.told = std::max(one.told, told);
  return body;
}

bool ToldBodies::is_told(const Hash128& hash, TimePoint now) const {
  const auto found = told_.find(hash);
  return found != told_.end() && !found->second.body.expired() && now - found->second.told < kToldByHashMax;
}

policy::SharedBody ToldBodies::find(const Hash128& hash) const {
  const auto found = told_.find(hash);
  return found == told_.end() ? nullptr : found->second.body.lock();
}

// Forgets the bodies that no table keeps any more.
void ToldBodies::sweep() {
  absl::erase_if(told_, [](const auto& entry) { return entry.second.body.expired(); });
  sweep_at_ = std::max(kFirstSweep, 2 * told_.size());
}

}  // namespace armgate::cluster
