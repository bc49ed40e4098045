#include "sim/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/text.h"

namespace armgate::sim {
namespace {

constexpr size_t kEndedMax = 10'000;

// Unreserved characters plus lower-case escapes: what a well-meaning URL library would "normalise".
std::string make_signature(Rng& rng, size_t bytes, UrlEscapes escapes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~";
  std::string text;
  while (text.size() < bytes) {
    switch (escapes == UrlEscapes::Odd ? rng.below(24) : 24) {
      case 0:
        text += "%2b";
        break;
      case 1:
        text += "%2F";
        break;
      case 2:
        text += "%7e";
        break;
      default:
        text.push_back(kAlphabet[rng.below(kAlphabet.size())]);
    }
  }
  return text;
}

std::string make_query(Rng& rng, const SimOptions& options, std::string_view api_version) {
  const size_t certificate_bytes = std::max<size_t>(options.operation_url_bytes, 200) - 160;
  return fmt::format("?api-version={}&t=6390{:014}&c={}&s={}&h={}", api_version, rng.below(100000000000000ULL),
                     make_signature(rng, certificate_bytes, options.url_escapes),
                     make_signature(rng, 64, options.url_escapes), make_signature(rng, 43, options.url_escapes));
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

Operation& Operations::start(Operation operation, std::string_view provider, std::string_view subscription) {
  operation.id = make_guid(rng_);
  const std::string below = fmt::format("/subscriptions/{}/providers/{}/locations/westeurope", subscription, provider);
  const bool has_location = operation.kind == OperationOf::Delete || operation.kind == OperationOf::Action;
  if (equal_ignoring_case(provider, "Microsoft.Resources")) {
    // A group's deletion has only a Location, which does not name the group (observed).
    operation.location_target = fmt::format("/subscriptions/{}/operationresults/{}{}", subscription, operation.id,
                                            make_query(rng_, options_, "2021-04-01"));
  } else if (equal_ignoring_case(provider, "Microsoft.Network")) {
    const std::string query = make_query(rng_, options_, "2025-05-01");
    operation.status_target = fmt::format("{}/operations/{}{}", below, operation.id, query);
    if (has_location) operation.location_target = fmt::format("{}/operationResults/{}{}", below, operation.id, query);
  } else if (equal_ignoring_case(provider, "Microsoft.Storage")) {
    operation.location_target = fmt::format("{}/asyncoperations/{}?monitor=true&{}", below, operation.id,
                                            make_query(rng_, options_, "2023-01-01").substr(1));
  } else {
    const std::string query = make_query(rng_, options_, "2025-04-01");
    operation.status_target =
        fmt::format("{}/operations/{}?p=b1ef{}&{}", below, operation.id, rng_.below(1000), query.substr(1));
    if (has_location) operation.location_target = operation.status_target + "&monitor=true";
  }
  by_end_.emplace(operation.end, operation.id);
  by_lock_[operation.lock_key].push_back(operation.id);
  by_entity_[operation.entity_key].push_back(operation.id);
  return all_.emplace(operation.id, operation).first->second;
}

Operation* Operations::running_on(std::string_view lock_key) {
  const auto found = by_lock_.find(lock_key);
  return found == by_lock_.end() ? nullptr : &all_.at(found->second.front());
}

bool Operations::is_running_on_entity(std::string_view entity_key) const { return by_entity_.contains(entity_key); }

std::string Operations::state_word(std::string_view entity_key, std::string_view child, std::string_view type) const {
  const auto found = by_entity_.find(entity_key);
  if (found == by_entity_.end()) return {};
  std::string word;
  for (const std::string& id : found->second) {
    const Operation& operation = all_.at(id);
    if (!child.empty() && !operation.child.empty() && operation.child != child) continue;
    if (operation.kind == OperationOf::Delete && operation.child == child) return "Deleting";
    // Network says Updating for a creation too.
    const bool creating = operation.kind == OperationOf::Create && !type.starts_with("microsoft.network/");
    word = creating ? "Creating" : "Updating";
  }
  return word;
}

std::optional<TimePoint> Operations::next_end() const {
  if (by_end_.empty()) return std::nullopt;
  return by_end_.begin()->first;
}

void Operations::retire(const Operation& operation) {
  by_end_.erase({operation.end, operation.id});
  remove_id(by_lock_, operation.lock_key, operation.id);
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
  if (!operation.status_target.empty()) {
    fields.add("Azure-AsyncOperation", options_.origin + operation.status_target);
    fields.add("Azure-AsyncNotification", "Enabled");
  }
  if (!operation.location_target.empty()) fields.add("Location", options_.origin + operation.location_target);
  fields.add("Retry-After", std::to_string(whole_milliseconds(options_.retry_after) / 1000));
}

std::pair<Operations::Match, const Operation*> Operations::find(const std::string& id, std::string_view target) const {
  const auto found = all_.find(lower_text(id));
  if (found == all_.end()) return {Match::Unknown, nullptr};
  const Operation& operation = found->second;
  if (target == operation.status_target) return {Match::Status, &operation};
  if (target == operation.location_target) return {Match::Location, &operation};
  return {Match::Forged, &operation};
}

}  // namespace armgate::sim
