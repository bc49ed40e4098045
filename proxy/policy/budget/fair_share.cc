#include "proxy/policy/budget/fair_share.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/mutant.h"

namespace armgate::policy {
namespace {

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }
Duration duration_of(double seconds) { return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)); }

constexpr double kLongest = 3600;  // seconds; what is refilled more slowly waits for kTrial

}  // namespace

bool FairShare::is_known(TimePoint now) const { return news_ != TimePoint::min() && now - news_ < kBelieved; }

double FairShare::tokens(TimePoint at) const {
  const double refilled = rate_ * std::max(0.0, seconds_of(at - at_));
  return std::min(std::max(most_, tokens_), tokens_ + refilled);
}

uint32_t FairShare::least_told(uint32_t left, TimePoint now) {
  while (!told_.empty() && told_.back().second >= left) told_.pop_back();
  told_.emplace_back(now, left);
  if (!is_mutant(Mutant::LowForEver)) {
    while (now - told_.front().first > kOvertaken) told_.pop_front();
  }
  return told_.front().second;
}

void FairShare::note_left(uint32_t said, TimePoint now) {
  const uint32_t left = least_told(said, now);
  if (!is_known(now)) is_measured_ = false;
  most_ = std::max<double>(most_, said);
  if (!is_measured_) rate_ = most_ / seconds_of(full_in_);
  ++window_answers_;
  // What fills up to its brim shows less than was refilled.
  const bool begins = !is_known(now) || left + 1 >= most_;
  if (begins || now - window_ >= kMeasured) {
    if (!begins) {
      const double seen = std::max(0.0, left - window_left_ + static_cast<double>(window_answers_)) / seconds_of(now - window_);
      rate_ = is_measured_ ? (rate_ + seen) / 2 : seen;
      is_measured_ = true;
    }
    window_ = now;
    window_left_ = left;
    window_answers_ = 0;
  }
  std::erase_if(under_way_, [&](const auto& entry) { return now - entry.second >= kUnderWay; });
  // ARM may not have seen the others yet.
  const double others = std::max(0.0, static_cast<double>(under_way_.size()) - 1);
  tokens_ = std::max(0.0, left - others);
  at_ = now;
  news_ = now;
}

void FairShare::pause_for(Duration pause, TimePoint now) {
  if (is_mutant(Mutant::RefusalsShared)) return;
  tokens_ = 0;
  at_ = now;
  news_ = now + pause;  // there are none until then
  least_told(0, now);
  window_ = now;  // what was refused took nothing: what is refilled is measured anew
  window_left_ = 0;
  window_answers_ = 0;
  pause_until_ = std::max(pause_until_, now + pause);
}

void FairShare::join(uint64_t number, const Hash128& client, Rank rank) {
  std::erase_if(clients_, [&](const auto& entry) { return entry.second.line.empty() && entry.second.served <= floor_; });
  Client& found = clients_[client];
  if (found.line.empty()) found.served = std::max(found.served, floor_);
  found.line.emplace(rank, number);
  waiting_[number] = {client, rank};
}

void FairShare::leave(uint64_t number) {
  under_way_.erase(number);
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return;
  clients_[found->second.client].line.erase({found->second.rank, number});
  waiting_.erase(found);
}

TimePoint FairShare::free_from(TimePoint now, uint64_t position) const {
  if (!is_known(now)) return std::max(now, pause_until_);
  const TimePoint from = std::max(now, pause_until_);
  const double missing = 1 + kReserve + static_cast<double>(position) - tokens(from);
  if (missing <= 0) return from;
  const double wait = rate_ > 0 ? std::min(missing / rate_, kLongest) : kLongest;
  const TimePoint refilled = from + std::max(Duration(1), duration_of(wait));
  if (last_grant_ == TimePoint::min()) return from;
  const TimePoint trial = last_grant_ + kTrial * static_cast<int64_t>(position + 1);
  return std::min(refilled, std::max(from, trial));
}

std::vector<uint64_t> FairShare::grant(TimePoint now) {
  std::vector<uint64_t> gone;
  while (!waiting_.empty() && free_from(now, 0) <= now) {
    auto next = clients_.end();
    uint64_t oldest = 0;
    for (auto it = clients_.begin(); it != clients_.end(); ++it) {
      if (it->second.line.empty()) continue;
      const uint64_t first = it->second.line.begin()->second;
      if (next != clients_.end()) {
        const bool by_age = is_mutant(Mutant::LongestWaiterFirst) || it->second.served == next->second.served;
        const bool is_before = by_age ? first < oldest : it->second.served < next->second.served;
        if (!is_before) continue;
      }
      next = it;
      oldest = first;
    }
    Client& client = next->second;
    const uint64_t number = client.line.begin()->second;
    floor_ = std::max(floor_, client.served);
    ++client.served;
    client.line.erase(client.line.begin());
    waiting_.erase(number);
    under_way_[number] = now;
    tokens_ = std::max(0.0, tokens(now) - 1);
    at_ = now;
    last_grant_ = now;
    gone.push_back(number);
  }
  return gone;
}

TimePoint FairShare::due(uint64_t number, TimePoint now) const {
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return now;
  const Client& own = clients_.at(found->second.client);
  const auto place = own.line.find({found->second.rank, number});
  const auto before = static_cast<uint64_t>(std::distance(own.line.begin(), place));
  const uint64_t round = own.served + before;
  uint64_t position = before;
  for (const auto& [key, other] : clients_) {
    if (&other == &own || other.served >= round) continue;
    position += std::min<uint64_t>(other.line.size(), round - other.served);
  }
  return free_from(now, position);
}

}  // namespace armgate::policy
