#include "sim/kubernetes/kubernetes_api.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "json/tree.h"
#include "sim/answers.h"
#include "sim/json_text.h"
#include "sim/machine/address.h"

namespace armgate::sim {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kProxyPrefix = "kube-proxy-";  // the daemon set that has a pod on every node
constexpr std::string_view kSystemNamespace = "kube-system";

arm::Response failure(int status, std::string_view reason, std::string_view message) {
  return json_answer(status, {{"kind", "Status"},
                              {"apiVersion", "v1"},
                              {"metadata", Json::object()},
                              {"status", "Failure"},
                              {"message", message},
                              {"reason", reason},
                              {"code", status}});
}

arm::Response missing(std::string_view resource, std::string_view name) {
  return failure(404, "NotFound", fmt::format("{} \"{}\" not found", resource, name));
}

arm::Response list_of(std::string_view kind, std::string_view version, Json items) {
  return json_answer(
      200, {{"kind", kind}, {"apiVersion", version}, {"metadata", {{"resourceVersion", "1"}}}, {"items", std::move(items)}});
}

Json resource(std::string_view name, std::string_view kind, bool namespaced, Json verbs) {
  return {{"name", name}, {"singularName", ""}, {"namespaced", namespaced}, {"kind", kind}, {"verbs", std::move(verbs)}};
}

arm::Response resources_of(std::string_view version, Json resources) {
  return json_answer(
      200, {{"kind", "APIResourceList"}, {"apiVersion", "v1"}, {"groupVersion", version}, {"resources", std::move(resources)}});
}

arm::Response core_resources() {
  Json eviction = resource("pods/eviction", "Eviction", true, {"create"});
  eviction.update({{"group", "policy"}, {"version", "v1"}});
  return resources_of("v1", {resource("nodes", "Node", false, {"get", "list", "patch"}),
                             resource("pods", "Pod", true, {"get", "list"}), std::move(eviction)});
}

Json group(std::string_view name) {
  const Json version{{"groupVersion", fmt::format("{}/v1", name)}, {"version", "v1"}};
  return {{"name", name}, {"versions", Json::array({version})}, {"preferredVersion", version}};
}

// What a list of NAME=VALUE in the query asks for; nothing if it cannot be understood.
using Selector = std::vector<std::pair<std::string, std::string>>;
std::optional<Selector> selector_of(std::string_view target, std::string_view name) {
  Selector selector;
  const auto decoded = path_segments(arm::query_parameter(target, name).value_or(""));
  if (decoded.empty()) return selector;
  if (decoded.size() != 1) return std::nullopt;
  for (std::string_view rest = decoded.front(); !rest.empty();) {
    const std::string_view term = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(term.size() + 1, rest.size()));
    const size_t equals = term.find('=');
    if (equals == 0 || equals == term.npos || term[equals - 1] == '!') return std::nullopt;
    const size_t value = term.find_first_not_of('=', equals);
    selector.emplace_back(term.substr(0, equals), value == term.npos ? std::string_view() : term.substr(value));
  }
  return selector;
}

arm::Response odd_selector() { return failure(400, "BadRequest", "A selector is a list of NAME=VALUE here."); }

Json conditions(bool is_ready, std::string_view reason, const std::string& since) {
  return Json::array({{{"type", "Ready"},
                       {"status", is_ready ? "True" : "False"},
                       {"reason", reason},
                       {"lastTransitionTime", since},
                       {"lastHeartbeatTime", since}}});
}

Json owner(std::string_view version, std::string_view kind, std::string_view name) {
  return Json::array({{{"apiVersion", version}, {"kind", kind}, {"name", name}, {"uid", name}, {"controller", true}}});
}

}  // namespace

std::string KubernetesApi::time_text(TimePoint at) const {
  const auto wall = wall_ + std::chrono::duration_cast<std::chrono::milliseconds>(at - start_);
  return fmt::format("{:%FT%TZ}", std::chrono::floor<std::chrono::seconds>(wall));
}

arm::Response KubernetesApi::handle(const arm::Request& request, const std::vector<ClusterPool>& pools, TimePoint now) {
  ++requests_;
  if (!request.head.fields.get("Authorization").starts_with("Bearer ")) {
    return failure(401, "Unauthorized", "Unauthorized");
  }
  nodes_.observe(pools, now);
  arm::Response answered = answer(request, path_segments(arm::path_of(request.head.target)));
  nodes_.observe(pools, now);
  return answered;
}

arm::Response KubernetesApi::answer(const arm::Request& request, const Path& path) {
  const bool in_core = path.size() > 2 && path[0] == "api" && path[1] == "v1";
  if (request.head.method == arm::Method::Get) return get(request, path);
  if (in_core && request.head.method == arm::Method::Patch && path.size() == 4 && path[2] == "nodes") {
    return patch_node(request, path[3]);
  }
  const bool is_eviction = in_core && path.size() == 7 && path[2] == "namespaces" && path[4] == "pods" && path[6] == "eviction";
  if (is_eviction && request.head.method == arm::Method::Post) return evict(path[3], path[5]);
  return failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
}

arm::Response KubernetesApi::get(const arm::Request& request, const Path& path) const {
  const std::string_view target = request.head.target;
  const Path core(path.begin() + std::min<ptrdiff_t>(2, static_cast<ptrdiff_t>(path.size())), path.end());
  const std::string root = path.empty() ? "" : path[0] + (path.size() > 1 ? "/" + path[1] : "");
  if (root == "version") {
    return json_answer(200, {{"major", "1"}, {"minor", "30"}, {"gitVersion", "v1.30.4"}, {"platform", "linux/amd64"}});
  }
  if (root == "api") {
    return json_answer(200, {{"kind", "APIVersions"}, {"versions", {"v1"}}, {"serverAddressByClientCIDRs", Json::array()}});
  }
  if (root == "apis") {
    return json_answer(
        200, {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", Json::array({group("apps"), group("policy")})}});
  }
  if (root == "api/v1") {
    if (core.empty()) return core_resources();
    if (core[0] == "nodes" && core.size() == 1) return list_nodes(target);
    if (core[0] == "nodes" && core.size() == 2) {
      const Node* const node = nodes_.find_node(core[1]);
      return node != nullptr ? json_answer(200, shown(*node)) : missing("nodes", core[1]);
    }
    if (core[0] == "pods" && core.size() == 1) return list_pods(target, {});
    if (core[0] == "namespaces" && core.size() == 3 && core[2] == "pods") return list_pods(target, core[1]);
    if (core[0] == "namespaces" && core.size() == 4 && core[2] == "pods") {
      const Pod* const pod = nodes_.find_pod(core[1], core[3]);
      return pod != nullptr ? json_answer(200, shown(*pod)) : missing("pods", core[3]);
    }
  }
  if (root == "apis/apps" && path.size() == 3) {
    return resources_of("apps/v1", Json::array({resource("daemonsets", "DaemonSet", true, {"get"})}));
  }
  if (root == "apis/apps" && path.back() == "kube-proxy") {
    return json_answer(200, {{"kind", "DaemonSet"},
                             {"apiVersion", "apps/v1"},
                             {"metadata", {{"name", "kube-proxy"}, {"namespace", kSystemNamespace}, {"uid", "kube-proxy"}}}});
  }
  if (root == "apis/policy" && path.size() == 3) {
    return resources_of("policy/v1", Json::array({resource("poddisruptionbudgets", "PodDisruptionBudget", true, {"list"})}));
  }
  if (root == "apis/policy" && path.back() == "poddisruptionbudgets") {
    Json items = Json::array();
    for (const Workload& workload : nodes_.workloads()) items.push_back(budget(workload));
    return list_of("PodDisruptionBudgetList", "policy/v1", std::move(items));
  }
  return failure(404, "NotFound", "the server could not find the requested resource");
}

arm::Response KubernetesApi::list_nodes(std::string_view target) const {
  const auto selector = selector_of(target, "labelSelector");
  if (!selector) return odd_selector();
  Json items = Json::array();
  for (const auto& [name, node] : nodes_.nodes()) {
    Json item = shown(node);
    const Json& labels = item["metadata"]["labels"];
    const bool fits = std::all_of(selector->begin(), selector->end(),
                                  [&](const auto& term) { return labels.value(term.first, "") == term.second; });
    if (fits) items.push_back(std::move(item));
  }
  return list_of("NodeList", "v1", std::move(items));
}

arm::Response KubernetesApi::list_pods(std::string_view target, std::string_view namespace_name) const {
  const auto selector = selector_of(target, "fieldSelector");
  const bool is_known = selector && std::all_of(selector->begin(), selector->end(),
                                                [](const auto& term) { return term.first == "spec.nodeName"; });
  if (!is_known) return odd_selector();
  const auto fits = [&](const std::string& node, std::string_view pods_namespace) {
    const bool is_there = namespace_name.empty() || namespace_name == pods_namespace;
    return is_there && std::all_of(selector->begin(), selector->end(), [&](const auto& term) { return term.second == node; });
  };
  Json items = Json::array();
  for (const Pod& pod : nodes_.pods()) {
    if (fits(pod.node, pod.namespace_name)) items.push_back(shown(pod));
  }
  for (const auto& [name, node] : nodes_.nodes()) {
    if (fits(name, kSystemNamespace)) items.push_back(shown_proxy(node));
  }
  return list_of("PodList", "v1", std::move(items));
}

Json KubernetesApi::shown(const Node& node) const {
  const std::string since = time_text(node.since);
  Json spec{{"providerID", "azure://" + node.name}};
  if (node.is_cordoned) spec["unschedulable"] = true;
  return {{"kind", "Node"},
          {"apiVersion", "v1"},
          {"metadata",
           {{"name", node.name},
            {"uid", node.name},
            {"resourceVersion", "1"},
            {"creationTimestamp", since},
            {"labels",
             {{"agentpool", node.pool},
              {"kubernetes.azure.com/agentpool", node.pool},
              {"kubernetes.azure.com/mode", node.mode},
              {"kubernetes.io/hostname", node.name}}}}},
          {"spec", std::move(spec)},
          {"status",
           {{"conditions", conditions(node.is_ready, node.is_ready ? "KubeletReady" : "KubeletNotReady", since)},
            {"nodeInfo", {{"kubeletVersion", "v" + node.version}}}}}};
}

Json KubernetesApi::shown(const Pod& pod) const {
  const std::string since = time_text(pod.since);
  Json spec{{"containers", Json::array({{{"name", pod.workload}, {"image", pod.workload}}})}};
  if (!pod.node.empty()) spec["nodeName"] = pod.node;
  return {{"kind", "Pod"},
          {"apiVersion", "v1"},
          {"metadata",
           {{"name", pod.name},
            {"namespace", pod.namespace_name},
            {"uid", pod.name},
            {"creationTimestamp", since},
            {"labels", {{"app", pod.workload}}},
            {"ownerReferences", owner("apps/v1", "ReplicaSet", pod.workload)}}},
          {"spec", std::move(spec)},
          {"status",
           {{"phase", pod.node.empty() ? "Pending" : "Running"},
            {"conditions", conditions(pod.is_ready, pod.is_ready ? "" : "ContainersNotReady", since)}}}};
}

Json KubernetesApi::shown_proxy(const Node& node) const {
  Json pod = shown(Pod{std::string(kProxyPrefix) + node.name, "kube-proxy", std::string(kSystemNamespace), node.name,
                       node.since, node.is_ready});
  pod["metadata"]["ownerReferences"] = owner("apps/v1", "DaemonSet", "kube-proxy");
  return pod;
}

Json KubernetesApi::budget(const Workload& workload) const {
  return {{"kind", "PodDisruptionBudget"},
          {"apiVersion", "policy/v1"},
          {"metadata", {{"name", workload.name}, {"namespace", workload.namespace_name}}},
          {"spec", {{"minAvailable", workload.min_available}, {"selector", {{"matchLabels", {{"app", workload.name}}}}}}},
          {"status",
           {{"disruptionsAllowed", nodes_.disruptions_allowed(workload)},
            {"currentHealthy", nodes_.healthy(workload)},
            {"desiredHealthy", workload.min_available},
            {"expectedPods", workload.replicas}}}};
}

arm::Response KubernetesApi::patch_node(const arm::Request& request, const std::string& name) {
  const Json patch = json_value(request.body);
  const auto spec = patch.is_object() ? patch.find("spec") : patch.end();
  if (!patch.is_object() || spec == patch.end() || !spec->is_object() || !spec->contains("unschedulable")) {
    return failure(400, "BadRequest", "Only spec.unschedulable of a node can be patched.");
  }
  const Json& wanted = (*spec)["unschedulable"];
  const bool cordoned = wanted.is_boolean() && wanted.get<bool>();
  if (!nodes_.cordon(name, cordoned)) return missing("nodes", name);
  if (cordoned) ++cordoned_;
  return json_answer(200, shown(*nodes_.find_node(name)));
}

arm::Response KubernetesApi::evict(const std::string& namespace_name, const std::string& name) {
  const Pod* const pod = nodes_.find_pod(namespace_name, name);
  if (pod == nullptr) return missing("pods", name);
  const Workload workload = nodes_.workload_of(*pod);
  if (nodes_.evict(*pod)) {
    ++evicted_;
    return json_answer(201, {{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}, {"status", "Success"}});
  }
  ++refused_;
  arm::Response refused = failure(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.");
  Json body = json_value(refused.body);
  body["details"] = {
      {"causes", Json::array({{{"reason", "DisruptionBudget"},
                               {"message", fmt::format("The disruption budget {} needs {} healthy pods and has {} currently",
                                                       workload.name, workload.min_available, nodes_.healthy(workload))}}})}};
  refused.body = json_text(body);
  return refused;
}

arm::Response KubernetesApi::control(const arm::Request& request, const std::vector<ClusterPool>& pools, TimePoint now) {
  if (request.head.method == arm::Method::Get) {
    nodes_.observe(pools, now);
    Json pods = Json::object();
    for (const Pod& pod : nodes_.pods()) pods[pod.name] = pod.node;
    return json_answer(200, {{"requests", requests_},
                             {"cordoned", cordoned_},
                             {"evicted", evicted_},
                             {"refused", refused_},
                             {"pods", std::move(pods)}});
  }
  const Json wanted = json_value(request.body);
  const auto wrong = [] { return error_answer(400, "BadKubernetes", "sim/kubernetes/kubernetes_api.h says what can be set."); };
  if (!wanted.is_object()) return wrong();
  NodeOptions options = nodes_.options();
  std::vector<Workload> workloads;
  try {
    for (const auto& [name, value] : wanted.items()) {
      if (name == "ready_ms")
        options.ready_after = std::chrono::milliseconds(value.get<int64_t>());
      else if (name == "pod_ready_ms")
        options.pod_ready_after = std::chrono::milliseconds(value.get<int64_t>());
      else if (name == "never_ready")
        options.never_ready = value.get<std::string>();
      else if (name == "workloads") {
        for (const Json& workload : value) {
          workloads.push_back({workload.at("name").get<std::string>(), workload.value("namespace", "default"),
                               workload.value("pool", ""), workload.value("replicas", size_t{1}),
                               workload.value("min_available", size_t{0})});
        }
      } else
        return wrong();
    }
  } catch (const Json::exception&) {
    return wrong();
  }
  nodes_.set_options(std::move(options));
  for (Workload& workload : workloads) nodes_.add(std::move(workload));
  nodes_.observe(pools, now);
  return plain_answer(204);
}

}  // namespace armgate::sim
