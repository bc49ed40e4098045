#include "tests/support/checkers/checkers_sick.h"

#include <fmt/format.h>

#include <algorithm>

#include "arm/url.h"
#include "json/tree.h"

namespace armgate::world {

// ARM took it. Only writes that were let through after all failures had been seen are judged.
std::optional<std::string> SickChecker::taken(const Write& write, TimePoint now) const {
  const auto found = ends_.find(write.resource);
  if (write.probe_every == Duration::zero() || found == ends_.end() || found->second.empty()) return std::nullopt;
  if (found->second.back().seen > write.first_sent) return std::nullopt;
  size_t failures = 0;
  bool failed_before = false;
  const auto& ends = found->second;
  for (auto end = ends.rbegin(); end != ends.rend() && end->how == End::How::Failed; ++end) {
    failures += end->seen > now - options_.window ? 1 : 0;
    failed_before |= end->bytes == write.bytes;
  }
  const bool is_early = now < ends.back().seen + write.probe_every;
  if (failures < options_.failures || !failed_before || !is_early) return std::nullopt;
  return fmt::format(
      "a write that had failed before went to a resource of which {} operations had failed, {} ms after the last", failures,
      std::chrono::duration_cast<std::chrono::milliseconds>(now - ends.back().seen).count());
}

std::optional<std::string> SickChecker::written(const Write& write, const arm::Response* answer, TimePoint now) {
  // What may have taken effect all the same is followed by looking at the resource, which may be seen to succeed.
  const bool is_lost = answer == nullptr || answer->head.status == 408 || answer->head.status >= 500;
  if (is_lost) ends_[write.resource].push_back({now, End::How::Unknown});
  if (answer == nullptr || !arm::is_success(answer->head.status)) return std::nullopt;
  auto wrong = taken(write, now);
  bool runs = false;
  for (const char* field : {"Azure-AsyncOperation", "Location"}) {
    const auto url = arm::parse_url(answer->head.fields.get(field));
    if (!url) continue;
    write_of_.emplace(url->target, write);
    runs = true;
  }
  const bool is_done = answer->body.find("\"provisioningState\":\"Succeeded\"") != answer->body.npos;
  if (!runs && is_done) ends_[write.resource].push_back({now, End::How::Succeeded});
  return wrong;
}

void SickChecker::life_ended(TimePoint now, Journal journal) {
  if (journal == Journal::No) write_of_.clear();
  for (auto& [resource, ends] : ends_) ends.push_back({now, End::How::Unknown});
}

void SickChecker::read(const std::string& target, const arm::Response& answer, TimePoint now) {
  const auto operation = write_of_.find(target);
  if (operation == write_of_.end() || !arm::is_success(answer.head.status)) return;
  const auto body = nlohmann::json::parse(answer.body, nullptr, false);
  const std::string status = body.is_object() ? body.value("status", "") : "";
  if ((status != "Failed" && status != "Succeeded") || !ended_.insert(target).second) return;
  ends_[operation->second.resource].push_back(
      {now, status == "Failed" ? End::How::Failed : End::How::Succeeded, operation->second.bytes});
}

std::optional<std::string> SickChecker::refused(const std::string& resource, arm::Method method, TimePoint arrived) const {
  if (method == arm::Method::Delete) return "a DELETE was kept from a sick resource";
  const auto found = ends_.find(resource);
  size_t most = 0;
  for (size_t last = 0; found != ends_.end() && last < found->second.size(); ++last) {
    const auto& ends = found->second;
    const bool is_next_before = last + 1 < ends.size() && ends[last + 1].seen <= arrived;
    if (is_next_before) continue;
    // It may have become sick long before: it stays so while its writes are refused, and for a while after each probe.
    size_t counting = 0;
    for (size_t newest = last + 1; newest > 0 && ends[newest - 1].how != End::How::Succeeded; --newest) {
      size_t within = 0;
      for (size_t i = newest; i > 0 && ends[i - 1].how != End::How::Succeeded; --i) {
        const bool counts = ends[i - 1].how == End::How::Failed && ends[i - 1].seen > ends[newest - 1].seen - options_.window;
        within += counts ? 1 : 0;
      }
      counting = std::max(counting, within);
    }
    most = std::max(most, counting);
  }
  if (most >= options_.failures) return std::nullopt;
  return fmt::format(
      "a write was kept from a resource of which {} operations had failed within a window since its last success, not {}", most,
      options_.failures);
}

}  // namespace armgate::world
