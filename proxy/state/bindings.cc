#include "proxy/state/bindings.h"

#include <algorithm>
#include <utility>

namespace armgate {
namespace {

// Whether an arrival with `request_id` continues `earlier`.
bool continues(const Binding& earlier, std::string_view request_id, const std::function<bool(Moment)>& read_since) {
  const bool same_id = earlier.request_id == request_id;
  switch (earlier.phase) {
    case BindingPhase::Working:
    case BindingPhase::Written: return same_id && !request_id.empty();
    case BindingPhase::Expected:
    case BindingPhase::Undelivered:
      // Under another id the bytes are a new intention only if the client could have built them anew.
      return same_id || !read_since(earlier.first_arrival);
  }
  return false;
}

}  // namespace

Binding* Bindings::find_resend(const Hash128& bytes, std::string_view request_id, TimePoint now,
                               const std::function<bool(Moment)>& read_since) {
  expire(now);
  const auto it = by_bytes_.find(bytes);
  if (it == by_bytes_.end()) return nullptr;
  for (auto id = it->second.rbegin(); id != it->second.rend(); ++id) {
    Binding& earlier = *by_id_.at(*id);
    if (!is_over(earlier, now) && continues(earlier, request_id, read_since)) return &earlier;
  }
  return nullptr;
}

Binding& Bindings::add(const Hash128& bytes, std::string_view request_id, policy::Base base, Moment arrived) {
  if (by_id_.size() >= options_.bindings_max) {
    const auto idle = std::find_if(in_order_.begin(), in_order_.end(), [](const Binding& b) { return b.workers == 0; });
    if (idle != in_order_.end()) forget(idle->id);
  }
  Binding& binding = in_order_.emplace_back();
  binding.id = next_id_++;
  binding.bytes = bytes;
  binding.request_id = std::string(request_id);
  binding.base = std::move(base);
  binding.first_arrival = arrived;
  by_id_.emplace(binding.id, std::prev(in_order_.end()));
  by_bytes_[bytes].push_back(binding.id);
  return binding;
}

uint64_t Bindings::expect(const Hash128& bytes, std::string_view request_id, policy::Base base, Moment when) {
  Binding& binding = add(bytes, request_id, std::move(base), when);
  binding.phase = BindingPhase::Expected;
  binding.since = when.time;
  binding.maybe_applied = true;
  return binding.id;
}

Binding* Bindings::find(uint64_t id) {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &*it->second;
}

const Binding* Bindings::find(uint64_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &*it->second;
}

void Bindings::forget(uint64_t id) {
  const auto it = by_id_.find(id);
  if (it == by_id_.end()) return;
  const auto place = it->second;
  const auto same = by_bytes_.find(place->bytes);
  std::erase(same->second, id);
  if (same->second.empty()) by_bytes_.erase(same);
  by_id_.erase(it);
  in_order_.erase(place);
}

bool Bindings::is_over(const Binding& binding, TimePoint now) const {
  return binding.workers == 0 && now - binding.since > options_.keep;
}

void Bindings::expire(TimePoint now) {
  // Arrivals are in order, the ends of their phases nearly so: looking at the front is enough to keep the table small.
  while (!in_order_.empty()) {
    const Binding& oldest = in_order_.front();
    if (!is_over(oldest, now)) break;
    forget(oldest.id);
  }
}

}  // namespace armgate
