#include "cli/heal/facts/cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "arm/resource_id.h"
#include "base/text.h"
#include "json/tree.h"

namespace armgate::heal {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kClusterType = "microsoft.containerservice/managedclusters";
constexpr size_t kPoolNameMax = 12;  // AKS: lower-case letters and digits, beginning with a letter

Error unreadable(std::string_view what, std::string_view why) {
  return upstream_error(ErrorKind::BadInput, Sent::Answered,
                        fmt::format("ARM's answer about {} cannot be read: {}", what, why));
}

std::string text_under(const Json& object, std::string_view member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<Pool> pool_from(const Json& json) {
  if (!json.is_object()) return unreadable("a pool", "it is no object");
  Pool pool;
  pool.name = text_under(json, "name");
  const auto properties = json.find("properties");
  if (pool.name.empty()) return unreadable("a pool", "it has no name");
  if (properties == json.end() || !properties->is_object()) return unreadable("pool " + pool.name, "it has no properties");
  pool.state = text_under(*properties, "provisioningState");
  pool.mode = text_under(*properties, "mode");
  pool.etag = text_under(*properties, "eTag");
  if (const auto count = properties->find("count"); count != properties->end() && count->is_number_integer()) {
    pool.count = count->get<int64_t>();
  }
  if (const auto tags = properties->find("tags"); tags != properties->end() && tags->is_object()) {
    pool.purpose = text_under(*tags, kPurposeTag);
    pool.source = text_under(*tags, kSourceTag);
    pool.run = text_under(*tags, kRunTag);
  }
  pool.body = json.dump();
  return pool;
}

bool is_pool_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= kPoolNameMax && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

// FNV-1a in base 36, as the source system names its own (docs/heal.md): 3 and at most 7 characters.
std::string Target::stand_in() const {
  uint32_t hash = 2166136261u;
  for (const char c : pool) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  std::string digits;
  for (; hash > 0; hash /= 36) digits.insert(digits.begin(), "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36]);
  return "tmp" + digits;
}

Result<Target> target_of(std::string_view cluster_id, std::string_view pool) {
  const auto id = arm::parse_resource_id(cluster_id);
  if (!id || id->type != kClusterType) {
    return client_error(
        ErrorKind::BadInput,
        fmt::format("\"{}\" is no id of an AKS cluster "
                    "(/subscriptions/.../resourceGroups/.../providers/Microsoft.ContainerService/managedClusters/...)",
                    cluster_id));
  }
  if (!is_pool_name(pool)) {
    return client_error(
        ErrorKind::BadInput,
        fmt::format("\"{}\" is no name of a pool: 1 to {} lower-case letters and digits, a letter first", pool, kPoolNameMax));
  }
  Target target;
  while (cluster_id.ends_with('/')) cluster_id.remove_suffix(1);
  target.cluster = cluster_id;
  target.pool = pool;
  return target;
}

Result<Cluster> read_cluster(std::string_view json) {
  const Json body = Json::parse(json, nullptr, false);
  const auto properties = body.is_object() ? body.find("properties") : body.end();
  if (!body.is_object() || properties == body.end() || !properties->is_object()) {
    return unreadable("the cluster", "it has no properties");
  }
  Cluster cluster;
  cluster.state = text_under(*properties, "provisioningState");
  cluster.node_group = text_under(*properties, "nodeResourceGroup");
  cluster.version = text_under(*properties, "currentKubernetesVersion");
  if (const auto tags = body.find("tags"); tags != body.end() && tags->is_object()) {
    cluster.recreated_at = text_under(*tags, kRecreatedTag);
  }
  return cluster;
}

Result<Pool> read_pool(std::string_view json) { return pool_from(Json::parse(json, nullptr, false)); }

Result<PoolPage> read_pool_page(std::string_view json) {
  const Json body = Json::parse(json, nullptr, false);
  const auto value = body.is_object() ? body.find("value") : body.end();
  if (!body.is_object() || value == body.end() || !value->is_array()) return unreadable("the pools", "there is no list");
  PoolPage page;
  for (const Json& item : *value) {
    auto pool = pool_from(item);
    if (!pool) return std::move(pool).error();
    page.pools.push_back(*std::move(pool));
  }
  page.next = text_under(body, "nextLink");
  return page;
}

}  // namespace armgate::heal
