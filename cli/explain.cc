#include "cli/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "arm/etag.h"
#include "arm/url.h"
#include "base/text.h"
#include "json/tree.h"
#include "proxy/http/syntax.h"
#include "proxy/net/client/connect_policy.h"
#include "proxy/net/upstream/host_pattern.h"
#include "proxy/policy/body_etag.h"
#include "rules/explain.h"
#include "rules/file/units.h"
#include "rules/references.h"

namespace armgate {
namespace {

using rules::Fact;

constexpr std::string_view kConfiguration = "the configuration";
const uint16_t kInterceptedPort = net::ConnectPolicy{}.intercepted_port;

Error bad(std::string what) { return gateway_error(ErrorKind::BadInput, std::move(what)); }

struct Asked {
  arm::Method method = arm::Method::Get;
  std::string host;  // empty: not given
  uint16_t port = kInterceptedPort;
  std::string target;
};

Result<Asked> read_request(const ExplainRequest& request) {
  Asked asked;
  asked.method = arm::method_of(request.method);
  if (asked.method == arm::Method::Other) return bad(fmt::format("\"{}\" is not a method such as GET or PUT", request.method));
  if (request.url.starts_with('/')) {
    asked.target = request.url;
    return asked;
  }
  const auto url = arm::parse_url(request.url);
  if (!url) {
    return bad(
        fmt::format("\"{}\" is neither an https URL nor a path such as \"/subscriptions/...?api-version=...\"", request.url));
  }
  asked.host = url->host;
  asked.port = url->port;
  asked.target = url->target;
  return asked;
}

// Empty: no reader of HTTP takes offence at it.
std::string why_unreadable(std::string_view target, const Config& config) {
  if (target.size() > config.limits.target_bytes)
    return fmt::format("its target is longer than {} bytes (limits.target_bytes)", config.limits.target_bytes);
  if (http::is_target(target)) return {};
  return "its target has a blank, a control character, a fragment or a byte beyond ASCII; percent-encode it";
}

policy::Actors actor_of(const std::string& client, const Config& config) {
  const auto declared = config.clients.find(client);
  return declared == config.clients.end() ? policy::Actors::Unknown : declared->second.actor;
}

rules::Merging merging_of(const std::string& client, const Config& config) {
  const auto declared = config.clients.find(client);
  return declared == config.clients.end() ? config.merge : std::max(config.merge, declared->second.merge);
}

// What is said about a request into which armgate does not look; nothing about any other.
std::optional<std::vector<Fact>> tunnel_of(const Asked& asked, const Config& config) {
  if (asked.host.empty()) return std::nullopt;
  std::string why;
  if (!net::matches_host(asked.host, config.intercept)) {
    why = "intercept does not name this host";
  } else if (asked.port != kInterceptedPort) {
    why = fmt::format("only port {} of the hosts in intercept is looked into", kInterceptedPort);
  } else {
    return std::nullopt;
  }
  return std::vector<Fact>{{"host", fmt::format("{}:{}", asked.host, asked.port), {}},
                           {"what is done", "tunnelled untouched: " + why, std::string(kConfiguration)}};
}

// Where the host is really reached, if that is somewhere else.
void add_address(std::vector<Fact>& facts, const std::string& host, const Config& config) {
  const auto given = config.hosts.find(host);
  if (given == config.hosts.end() || given->second.address.empty()) return;
  facts.push_back({"reached at", given->second.address, std::string(kConfiguration)});
}

std::string_view words_for(policy::Actors actors) {
  switch (actors) {
    case policy::Actors::Single: return "one actor";
    case policy::Actors::Unknown: return "one actor, unless a write looks stale";
    case policy::Actors::Many: return "any number of actors";
  }
  return {};
}

void add_client(std::vector<Fact>& facts, const std::string& name, const Config& config) {
  if (name.empty()) return;
  const bool known = config.clients.contains(name);
  const auto actors = actor_of(name, config);
  facts.push_back(
      {"client", fmt::format("{}, {}", name, words_for(actors)), known ? std::string(kConfiguration) : "the default"});
}

// What the body's own references lock; those that the write drops are not known here.
void add_references(std::vector<Fact>& facts, const std::optional<std::string>& body, const rules::Plan& plan) {
  if (plan.referring.empty()) return;
  const rules::Rule& rule = *plan.referring.front();
  std::string keys;
  if (body) {
    for (const auto& reference : rules::without_duplicates(rules::referenced_keys(rule, *body), plan.keys)) {
      keys += fmt::format("{}{} ({}, until the {})", keys.empty() ? "" : ", ", reference.key.id,
                          reference.key.mode == rules::LockMode::Shared ? "shared" : "exclusive",
                          reference.until == rules::LeaseUntil::Request ? "answer" : "operation ends");
    }
    if (keys.empty()) keys = "none";
  } else {
    keys = "what it refers to; give it with --body to see";
  }
  facts.push_back({"locks by its body", keys, rules::words_for(rule)});
}

Fact wait_of(const std::string& user_agent, const rules::QueueTimeouts& queue_timeouts, const Config& config) {
  const auto* rule = queue_timeouts.find(user_agent);
  const Duration wait_max = rule != nullptr ? rule->wait_max : config.queue.wait_max;
  std::string decided_by(kConfiguration);
  if (rule != nullptr) decided_by = fmt::format("\"{}\" at {}:{}", rule->user_agent, rule->place.file, rule->place.line);
  return {"waits for others", fmt::format("{} at most", rules::to_text(wait_max)), std::move(decided_by)};
}

void add_body(std::vector<Fact>& facts, const std::string& body, const rules::Plan& plan) {
  const auto etag = arm::etag_in_body(body);
  if (!etag) {
    facts.push_back({"ETag in the body", "none", {}});
    return;
  }
  const bool counts = !policy::body_etag(plan, body).empty();
  facts.push_back({"ETag in the body",
                   fmt::format("{}: {}", *etag, counts ? "goes along as If-Match" : "does not count for this request"),
                   {}});
}

// A list of paths that is too long for a line has one on each.
std::string value_text(std::string_view value, size_t indent) {
  constexpr size_t kLine = 120;
  constexpr std::string_view kBetween = ", ";
  const auto is_list_of_paths = [&] {
    for (size_t at = 0; at != value.npos && at < value.size(); at = value.find(kBetween, at)) {
      if (at != 0) at += kBetween.size();
      if (!value.substr(at).starts_with('/')) return false;
    }
    return true;
  };
  if (value.size() <= kLine || !is_list_of_paths()) return std::string(value);
  std::string text;
  for (size_t next; (next = value.find(kBetween)) != value.npos; value.remove_prefix(next + kBetween.size()))
    text += fmt::format("{},\n{:{}}", value.substr(0, next), "", indent);
  return text.append(value);
}

std::string to_text(const std::vector<Fact>& facts) {
  size_t width = 0;
  for (const Fact& fact : facts) width = std::max(width, fact.name.size());
  std::string text;
  for (const Fact& fact : facts) {
    // Of the request, much of it.
    text += fmt::format("{:<{}}  {}", printable(fact.name), width, value_text(printable(fact.value), width + 2));
    if (!fact.decided_by.empty()) text += fmt::format("   [{}]", printable(fact.decided_by));
    text += '\n';
  }
  return text;
}

// {"lock keys": {"value": ..., "decided_by": ...}, ...}; what is told several times, by several who say it, is an array of
// these.
std::string to_json(const std::vector<Fact>& facts) {
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  for (const Fact& fact : facts) {
    nlohmann::ordered_json entry{{"value", fact.value}};
    if (!fact.decided_by.empty()) entry["decided_by"] = fact.decided_by;
    nlohmann::ordered_json& told = document[fact.name];
    if (told.is_object()) told = nlohmann::ordered_json::array({std::move(told)});
    if (told.is_array())
      told.push_back(std::move(entry));
    else
      told = std::move(entry);
  }
  return dump_json(document, 2) + "\n";
}

}  // namespace

std::string to_output(const std::vector<rules::Fact>& facts, ExplainAs form) {
  return form == ExplainAs::Json ? to_json(facts) : to_text(facts);
}

Result<std::string> explain_request(const ExplainRequest& request, const Config& config, ExplainAs form) {
  const auto asked = read_request(request);
  if (!asked) return asked.error();
  if (const auto why = why_unreadable(asked->target, config); !why.empty())
    return bad(fmt::format("armgate would refuse the request: {}", why));
  std::vector<Fact> facts;
  if (auto tunnelled = tunnel_of(*asked, config)) {
    facts = *std::move(tunnelled);
  } else {
    const rules::Ruleset rules(config.rules, config.errors, config.queue_timeouts, config.facts);
    auto explained = rules::explain_plan(rules, config.mode, asked->method, asked->target, merging_of(request.client, config));
    if (!explained) return bad(fmt::format("armgate would refuse the request: {}", explained.error().context));
    facts = *std::move(explained);
    add_address(facts, asked->host, config);
    const auto plan = rules::make_plan(rules, config.mode, asked->method, asked->target);
    if (plan->kind == rules::PlanKind::Write) {
      facts.push_back(wait_of(request.user_agent, rules.queue_timeouts(), config));
    }
    add_references(facts, request.body, *plan);
    if (request.body) add_body(facts, *request.body, *plan);
    if (request.body && !request.shown.empty()) {
      const ShownBefore before{request.shown, request.there, actor_of(request.client, config),
                               merging_of(request.client, config)};
      auto shown = explain_shown(*request.body, before, *plan);
      std::move(shown.begin(), shown.end(), std::back_inserter(facts));
    }
  }
  add_client(facts, request.client, config);
  return to_output(facts, form);
}

}  // namespace armgate
