#include "proxy/observability/troubles.h"

#include <algorithm>
#include <utility>

namespace armgate {

void Troubles::add(const std::string& name, const Event& event, TimePoint now) {
  if (!event.refused && !event.conflict && !event.repeated && event.waited_ms <= 0) return;
  if (now - began_ >= kWindow) {
    before_ = now - began_ < 2 * kWindow ? std::move(filling_) : Window();
    filling_.clear();
    began_ = now;
  }
  auto found = filling_.find(name);
  if (found == filling_.end()) {
    if (filling_.size() >= kNamesMax) return;
    found = filling_.emplace(name, Counts{}).first;
    found->second.name = name;
  }
  Counts& counts = found->second;
  counts.refused += event.refused ? 1 : 0;
  counts.conflicts += event.conflict ? 1 : 0;
  counts.repeated += event.repeated ? 1 : 0;
  counts.waited += event.waited_ms > 0 ? 1 : 0;
  counts.waited_ms += std::max<int64_t>(0, event.waited_ms);
  counts.last_words = event.words;
  counts.last = now;
}

std::vector<Troubles::Counts> Troubles::most(size_t count, TimePoint now) const {
  Window all;
  for (const Window* window : {&before_, &filling_}) {
    for (const auto& [name, counts] : *window) {
      if (now - counts.last >= 2 * kWindow) continue;
      Counts& sum = all[name];
      sum.name = name;
      sum.refused += counts.refused;
      sum.conflicts += counts.conflicts;
      sum.repeated += counts.repeated;
      sum.waited += counts.waited;
      sum.waited_ms += counts.waited_ms;
      sum.last_words = counts.last_words;
      sum.last = counts.last;
    }
  }
  std::vector<Counts> sorted;
  for (auto& [name, counts] : all) sorted.push_back(std::move(counts));
  std::stable_sort(sorted.begin(), sorted.end(), [](const Counts& a, const Counts& b) {
    return a.all() != b.all() ? a.all() > b.all() : a.waited_ms > b.waited_ms;
  });
  if (sorted.size() > count) sorted.resize(count);
  return sorted;
}

}  // namespace armgate
