#include "proxy/observability/admin/admin_leases.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "arm/resource_id.h"
#include "base/client_name.h"
#include "base/text.h"
#include "json/tree.h"
#include "proxy/observability/admin/admin_page.h"

namespace armgate {
namespace {

using nlohmann::ordered_json;

constexpr size_t kPurposeBytesMax = 200;

struct Wanted {
  std::string client;
  std::string purpose;
  std::vector<std::string> resources;
};

Error bad(std::string why) { return client_error(ErrorKind::BadInput, std::move(why)); }

Result<Wanted> read_wanted(const std::string& body) {
  // Of two equal names the parser keeps the last, and nobody can know which was meant.
  std::vector<std::string> names;
  std::optional<std::string> doubled;
  const auto note_names = [&](int depth, ordered_json::parse_event_t event, ordered_json& parsed) {
    if (depth != 1 || event != ordered_json::parse_event_t::key) return true;
    auto name = parsed.get<std::string>();
    if (std::find(names.begin(), names.end(), name) != names.end()) doubled = name;
    names.push_back(std::move(name));
    return true;
  };
  const ordered_json json = ordered_json::parse(body, note_names, false);
  if (!json.is_object()) return bad("the body must be {\"client\": NAME, \"purpose\": TEXT, \"resources\": [ID, ...]}");
  if (doubled) return bad(fmt::format("\"{}\" stands in the body twice; leave one", printable(*doubled)));
  Wanted wanted;
  for (const auto& [name, value] : json.items()) {
    if (name == "client" && value.is_string()) {
      wanted.client = value.get<std::string>();
    } else if (name == "purpose" && value.is_string()) {
      wanted.purpose = printable(value.get<std::string>());
    } else if (name == "resources" && value.is_array()) {
      for (const auto& id : value) {
        const auto resource = id.is_string() ? arm::parse_resource_id(id.get<std::string>()) : std::nullopt;
        if (!resource) return bad(fmt::format("{} in \"resources\" is no resource id (/subscriptions/...)", id.dump()));
        wanted.resources.push_back(resource->id);
      }
    } else {
      return bad(fmt::format("\"{}\" is unknown or of the wrong type; known are client, purpose (texts) and resources (a list)",
                             printable(name)));
    }
  }
  if (!is_client_name(wanted.client)) return bad("\"client\" must be a name of 1 to 64 letters, digits or \"._~-\"");
  if (wanted.purpose.empty() || wanted.purpose.size() > kPurposeBytesMax) {
    return bad(fmt::format("\"purpose\" must say in 1 to {} bytes what the lease is for", kPurposeBytesMax));
  }
  if (wanted.resources.empty()) return bad("\"resources\" must name at least one resource");
  return wanted;
}

arm::Response lease_page(const RunLeaseSources& sources, const RunLeases::Lease& lease, int status, std::string_view reason) {
  ordered_json page = {{"lease", lease.id},
                       {"client", lease.client},
                       {"state", lease.held ? "held" : "waiting"},
                       {"ttl_ms", whole_milliseconds(sources.leases.options().ttl)},
                       {"age_ms", whole_milliseconds(lease.age)}};
  if (!lease.held) page["behind"] = lease.behind;
  if (lease.behind_age) page["behind_ms"] = whole_milliseconds(*lease.behind_age);
  return admin_json(status, reason, page);
}

std::optional<arm::Response> refuse_for_mode(const RunLeaseSources& sources) {
  const rules::Mode mode = sources.mode();
  if (mode == rules::Mode::Protect) return std::nullopt;
  return admin_text(409, "Conflict",
                    fmt::format("the mode is {}, in which nobody waits: a lease would keep nobody out", to_text(mode)));
}

arm::Response take(const RunLeaseSources& sources, const arm::Request& request) {
  const auto wanted = read_wanted(request.body);
  if (!wanted) return admin_text(400, "Bad Request", wanted.error().context);
  if (auto refused = refuse_for_mode(sources)) return *std::move(refused);
  const auto lease = sources.leases.take(wanted->resources, sources.client_of(wanted->client), wanted->client, wanted->purpose,
                                         sources.clock.now());
  if (!lease) return admin_text(409, "Conflict", lease.error().context);
  sources.log("lease-taken", *lease, request.head.fields.get("x-armgate-operator"));
  return lease_page(sources, *lease, 201, "Created");
}

}  // namespace

arm::Response answer_leases(const RunLeaseSources& sources, const arm::Request& request) {
  const std::string_view path = arm::path_of(request.head.target);
  const bool posts = request.head.method == arm::Method::Post;
  if (path == kLeasesPath && posts) return take(sources, request);
  const bool names_one = path.size() > kLeasesPath.size() + 1;
  if (!names_one || (!posts && request.head.method != arm::Method::Delete)) {
    arm::Response refused = admin_text(405, "Method Not Allowed", "send POST /leases, POST /leases/ID or DELETE /leases/ID");
    refused.head.fields.add("Allow", names_one ? "POST, DELETE" : "POST");
    return refused;
  }
  if (posts) {
    if (auto refused = refuse_for_mode(sources)) return *std::move(refused);
  }
  const std::string_view id = path.substr(kLeasesPath.size() + 1);
  const TimePoint now = sources.clock.now();
  const auto lease = posts ? sources.leases.renew(id, now) : sources.leases.release(id, now);
  if (!lease)
    return admin_text(404, "Not Found", "there is no such lease: it was not renewed in time, or somebody released it");
  if (!posts) sources.log("lease-released", *lease, request.head.fields.get("x-armgate-operator"));
  return lease_page(sources, *lease, 200, "OK");
}

}  // namespace armgate
