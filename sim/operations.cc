#include "sim/operations.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "json/tree.h"
#include "sim/answers.h"

namespace armgate::sim {
namespace {

constexpr size_t kEndedMax = 10'000;

// Unreserved characters plus lower-case escapes: what a well-meaning URL library would "normalise".
std::string make_signature(Rng& rng, size_t bytes, UrlEscapes escapes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~";
  std::string text;
  while (text.size() < bytes) {
    switch (escapes == UrlEscapes::Odd ? rng.below(24) : 24) {
      case 0: text += "%2b"; break;
      case 1: text += "%2F"; break;
      case 2: text += "%7e"; break;
      default: text.push_back(kAlphabet[rng.below(kAlphabet.size())]);
    }
  }
  return text;
}

std::string make_query(Rng& rng, const SimOptions& options, std::string_view api_version) {
  const size_t certificate_bytes = std::max<size_t>(options.operation_url_bytes, 200) - 160;
  return fmt::format("?api-version={}&t=6390{:014}&c={}&s={}&h={}", api_version, rng.below(100000000000000ULL),
                     make_signature(rng, certificate_bytes, options.url_escapes), make_signature(rng, 64, options.url_escapes),
                     make_signature(rng, 43, options.url_escapes));
}

void remove_id(std::map<std::string, std::vector<std::string>, std::less<>>& index, const std::string& key,
               const std::string& id) {
  const auto found = index.find(key);
  if (found == index.end()) return;
  std::erase(found->second, id);
  if (found->second.empty()) index.erase(found);
}

}  // namespace

std::string make_guid(Rng& rng) {
  const uint64_t high = rng.next();
  const uint64_t low = rng.next();
  // Every answer has one: the digits of both words, highest first.
  std::string guid(36, '-');
  size_t at = 0;
  for (int digit = 31; digit >= 0; --digit, ++at) {
    if (at == 8 || at == 13 || at == 18 || at == 23) ++at;
    const uint64_t word = digit >= 16 ? high : low;
    guid[at] = "0123456789abcdef"[(word >> (digit % 16 * 4)) & 0xf];
  }
  return guid;
}

void Operations::make_urls(Operation& operation, OperationUrls urls, const Address& address) {
  const std::string below =
      fmt::format("/subscriptions/{}/providers/{}/locations/westeurope", address.subscription, address.provider);
  const bool has_location = operation.kind == OperationOf::Delete || operation.kind == OperationOf::Action;
  switch (urls) {
    case OperationUrls::Group:
      // A group's deletion has only a Location, which does not name the group (observed).
      operation.location_target = fmt::format("/subscriptions/{}/operationresults/{}{}", address.subscription, operation.id,
                                              make_query(rng_, options_, "2021-04-01"));
      return;
    case OperationUrls::Network:
    case OperationUrls::Cluster: {
      const std::string query = make_query(rng_, options_, urls == OperationUrls::Network ? "2025-05-01" : "2017-08-31");
      operation.status_target = fmt::format("{}/operations/{}{}", below, operation.id, query);
      if (has_location) operation.location_target = fmt::format("{}/operationResults/{}{}", below, operation.id, query);
      return;
    }
    case OperationUrls::Location:
      operation.location_target = fmt::format("{}/asyncoperations/{}?monitor=true&{}", below, operation.id,
                                              make_query(rng_, options_, "2023-01-01").substr(1));
      return;
    case OperationUrls::Provider:
    case OperationUrls::Disk: {
      const bool disk = urls == OperationUrls::Disk;
      const std::string query = make_query(rng_, options_, disk ? "2025-01-02" : "2025-04-01");
      operation.status_target = fmt::format("{}/{}/{}?p=b1ef{}&{}", below, disk ? "DiskOperations" : "operations", operation.id,
                                            rng_.below(1000), query.substr(1));
      if (has_location || disk) operation.location_target = operation.status_target + "&monitor=true";
      return;
    }
    case OperationUrls::PrivateDns: {
      const std::string query = make_query(rng_, options_, "2024-06-01");
      const std::string group =
          fmt::format("/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Network", address.subscription, address.group);
      operation.status_target = fmt::format("{}/privateDnsOperationStatuses/{}{}", group, operation.id, query);
      operation.location_target = fmt::format("{}/privateDnsOperationResults/{}{}", group, operation.id, query);
      return;
    }
    case OperationUrls::Deployment: {
      const std::string query = make_query(rng_, options_, "2024-03-01");
      if (has_location) {
        operation.location_target =
            fmt::format("/subscriptions/{}/operationresults/{}{}", address.subscription, operation.id, query);
      } else {
        operation.status_target = fmt::format("{}/operationStatuses/{}{}", address.root_id, operation.id, query);
      }
      return;
    }
    case OperationUrls::None: return;
  }
}

Operation& Operations::start(Operation operation, OperationUrls urls, const Address& address) {
  operation.id = make_guid(rng_);
  make_urls(operation, urls, address);
  by_end_.emplace(operation.end, operation.id);
  for (const std::string& key : operation.lock_keys) by_lock_[key].push_back(operation.id);
  by_entity_[operation.entity_key].push_back(operation.id);
  return all_.emplace(operation.id, operation).first->second;
}

Operation* Operations::running_on(std::string_view lock_key) {
  const auto found = by_lock_.find(lock_key);
  return found == by_lock_.end() ? nullptr : &all_.at(found->second.front());
}

const Operation* Operations::running_on(std::string_view lock_key) const {
  const auto found = by_lock_.find(lock_key);
  return found == by_lock_.end() ? nullptr : &all_.at(found->second.front());
}

std::string Operations::state_word(const Entity& entity, const ChildKind* child_kind, std::string_view child) const {
  const auto found = by_entity_.find(entity.key);
  if (found == by_entity_.end()) return {};
  std::string word;
  for (const std::string& id : found->second) {
    const Operation& operation = all_.at(id);
    const bool same = operation.child_kind == child_kind && operation.child == child;
    if (!child.empty() && !operation.child.empty() && !same) continue;
    if (operation.kind == OperationOf::Delete && same) return "Deleting";
    // Network says Updating for a creation too.
    const bool creating = operation.kind == OperationOf::Create && !entity.type.starts_with("microsoft.network/");
    word = !entity.traits->running_state.empty() ? std::string(entity.traits->running_state)
           : operation.aborts                    ? "Canceling"
           : creating                            ? "Creating"
                                                 : "Updating";
  }
  return word;
}

std::optional<TimePoint> Operations::next_end() const {
  if (by_end_.empty()) return std::nullopt;
  return by_end_.begin()->first;
}

void Operations::retire(const Operation& operation) {
  by_end_.erase({operation.end, operation.id});
  for (const std::string& key : operation.lock_keys) remove_id(by_lock_, key, operation.id);
  remove_id(by_entity_, operation.entity_key, operation.id);
  ended_.push_back(operation.id);
  if (ended_.size() <= kEndedMax) return;
  all_.erase(ended_.front());
  ended_.pop_front();
}

void Operations::clear() {
  all_.clear();
  by_end_.clear();
  by_lock_.clear();
  by_entity_.clear();
  ended_.clear();
}

Operation* Operations::end_next(TimePoint now) {
  if (by_end_.empty() || by_end_.begin()->first > now) return nullptr;
  Operation& operation = all_.at(by_end_.begin()->second);
  retire(operation);
  operation.ended = true;
  return &operation;
}

void Operations::cancel(Operation& operation, TimePoint now) {
  retire(operation);
  operation.end = now;
  operation.result = "Canceled";
  operation.ended = true;
}

void Operations::announce(const Operation& operation, arm::Headers& fields) const {
  if (operation.status_target.empty() && operation.location_target.empty()) return;
  if (!operation.status_target.empty()) {
    fields.add("Azure-AsyncOperation", options_.origin + operation.status_target);
    fields.add("Azure-AsyncNotification", "Enabled");
  }
  if (!operation.location_target.empty()) fields.add("Location", options_.origin + operation.location_target);
  say_retry_after(options_.retry_after, fields);
}

std::pair<Operations::Match, const Operation*> Operations::find(const std::string& id, std::string_view target,
                                                                TimePoint now) const {
  const auto found = all_.find(lower_text(id));
  if (found == all_.end()) return {Match::Unknown, nullptr};
  const Operation& operation = found->second;
  const bool forgotten = options_.operation_record > Duration{} && now >= operation.end + options_.operation_record;
  if (operation.ended && forgotten) return {Match::Unknown, nullptr};
  if (target == operation.status_target) return {Match::Status, &operation};
  if (target == operation.location_target) return {Match::Location, &operation};
  return {Match::Forged, &operation};
}

}  // namespace armgate::sim
