#include "rules/references.h"

#include <algorithm>
#include <utility>

#include "arm/resource_id.h"

namespace armgate::rules {

std::vector<ReferenceKey> referenced_keys(const Rule& rule, std::string_view body) {
  const auto& references = rule.lock.references;
  const auto selected = rule.lock.referred.in(body);
  std::vector<ReferenceKey> keys;
  for (size_t i = 0; i < selected.size(); ++i) {
    const Reference& reference = references[i];
    for (const std::string& text : selected[i]) {
      const auto resource = arm::parse_resource_id(text);
      if (!resource) continue;
      const auto& types = reference.types;
      if (!types.empty() && std::find(types.begin(), types.end(), resource->type) == types.end()) continue;
      keys.push_back({{resource->id, reference.mode}, reference.until});
      for (const std::string& type : reference.parents) {
        if (auto parent = arm::ancestor_of_type(*resource, type)) {
          keys.push_back({{std::move(parent->id), reference.mode}, reference.until});
        }
      }
    }
  }
  return keys;
}

std::vector<ReferenceKey> without_duplicates(std::vector<ReferenceKey> keys, const std::vector<LockKey>& own) {
  std::sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.key.id < b.key.id; });
  std::vector<ReferenceKey> result;
  for (ReferenceKey& next : keys) {
    if (!result.empty() && result.back().key.id == next.key.id) {
      ReferenceKey& same = result.back();
      same.key.mode = std::min(same.key.mode, next.key.mode);  // Exclusive is first
      same.until = std::max(same.until, next.until);           // Operation is last
    } else if (std::none_of(own.begin(), own.end(), [&](const LockKey& key) { return key.id == next.key.id; })) {
      result.push_back(std::move(next));
    }
  }
  return result;
}

namespace {

constexpr std::pair<LockMode, std::string_view> kModes[] = {{LockMode::Exclusive, "exclusive "}, {LockMode::Shared, "shared "}};
constexpr std::pair<LeaseUntil, std::string_view> kUntils[] = {
    {LeaseUntil::Request, "request "}, {LeaseUntil::Operation, "operation "}, {LeaseUntil::Provisioned, "provisioned "}};

template <class Value, size_t kCount>
std::string_view word_of(const std::pair<Value, std::string_view> (&words)[kCount], Value value) {
  return std::find_if(words, words + kCount, [&](const auto& one) { return one.first == value; })->second;
}

// Takes the word that the line begins with away from it.
template <class Value, size_t kCount>
bool take_word(const std::pair<Value, std::string_view> (&words)[kCount], std::string_view& line, Value& value) {
  const auto* const word = std::find_if(words, words + kCount, [&](const auto& one) { return line.starts_with(one.second); });
  if (word == words + kCount) return false;
  value = word->first;
  line.remove_prefix(word->second.size());
  return true;
}

}  // namespace

std::string to_lines(const std::vector<ReferenceKey>& keys) {
  std::string lines;
  for (const ReferenceKey& key : keys) {
    lines.append(word_of(kModes, key.key.mode)).append(word_of(kUntils, key.until)).append(key.key.id).append("\n");
  }
  return lines;
}

std::vector<ReferenceKey> references_in(std::string_view lines) {
  std::vector<ReferenceKey> keys;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    ReferenceKey key;
    const bool is_one = take_word(kModes, line, key.key.mode) && take_word(kUntils, line, key.until) && line.starts_with('/');
    if (!is_one) continue;
    key.key.id = std::string(line);
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace armgate::rules
