#include "proxy/config/option_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "json/tree.h"
#include "proxy/config/option_checks.h"
#include "rules/file/editor_schema.h"
#include "rules/file/setting_text.h"

namespace armgate {
namespace {

using rules::ByteSize;
using rules::Entries;
using rules::Removed;
using rules::SettingTable;
using rules::Text;
using rules::TextCheck;
using rules::TextList;
using rules::TimeSpan;
using rules::WholeNumber;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr size_t kGiB = 1024 * kMiB;

// What arm::basic_user() can give. Spaces and letters beyond ASCII can be had: clients decode %20 in the proxy's URL.
std::optional<std::string> check_client(std::string& text) {
  if (auto complaint = check_not_empty(text)) return complaint;
  const bool ends_early = std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == ':' || byte < ' ' || byte == 0x7f;
  });
  if (!ends_early) return std::nullopt;
  return "is no client's name: no user name in a proxy URL has a \":\" or a control character in it; use letters, digits and "
         "\"._~-\", and the same name there";
}

SettingTable settings_of(HostOverride& host) {
  return {
      {"/address", Text{&host.address, check_target}, "where the host is really reached"},
      {"/ca_file", Text{&host.ca_file, {}}, "certificates (PEM) that the host's own is verified by there"},
  };
}

auto merge_choice(rules::Merging* merge) {
  using rules::Merging;
  return rules::choice(merge, {{"on", Merging::On}, {"maps", Merging::Maps}, {"off", Merging::Off}});
}

SettingTable settings_of(ClientOptions& client) {
  using policy::Actors;
  return {
      {"/actor",
       rules::choice(&client.actor, {{"unknown", Actors::Unknown}, {"single", Actors::Single}, {"many", Actors::Many}}),
       "how many independent writers the name stands for: \"single\": one, that builds each write on what it was shown last; "
       "\"unknown\": the same, unless a write looks stale; \"many\": any number, and a write may be built on anything shown lately"},
      {"/merge", merge_choice(&client.merge), "the same as merge, for this client alone; the more careful of the two holds"}};
}

void add_service(SettingTable& table, Config& config) {
  using rules::Mode;
  table.insert(
      table.end(),
      {
          {"/mode", rules::choice(&config.mode, {{"protect", Mode::Protect}, {"observe", Mode::Observe}, {"off", Mode::Off}}),
           "\"observe\" tells what would be done and changes nothing; \"off\" passes everything through unchanged"},
          {"/unruled",
           rules::choice(&config.unruled, {{"protect", Mode::Protect}, {"observe", Mode::Observe}, {"off", Mode::Off}}),
           "the same for the types that no rule names, if there is a rule for any (\"*\")"},
          {"/merge", merge_choice(&config.merge),
           "what is done with a full write if others have changed something else since its client read the resource: \"on\": both "
           "changes stay; \"maps\": only in tags and the like; \"off\": it is refused (412)"},
          {"/threads", WholeNumber{&config.threads, 0, 256}, "event loops; 0: one per processor"},
          {"/drain_delay", TimeSpan{&config.drain_delay, seconds(0), minutes(5)},
           "how long a stop still takes new connections after /readyz has said that it ends, until balancers have seen that"},
          {"/drain_max", TimeSpan{&config.drain_max, seconds(0), hours(24)},
           "how long a stop waits for writes that are under way"},
          {"/core_dumps", rules::choice(&config.core_dumps, {{"off", false}, {"on", true}}),
           "on: a crash may leave an image of the memory, with tokens, bodies and the authority's key in it, and a debugger may look "
           "in; for whoever debugs armgate itself"},
          {"/listen/proxy", Text{&config.listen.proxy, check_listen},
           "where clients reach the proxy (HTTPS_PROXY); port 0: any free one"},
          {"/listen/tls", Text{&config.listen.tls, check_optional_listen},
           "where clients reach intercepted hosts directly with TLS, without CONNECT; \"\": nowhere"},
          {"/listen/admin", Text{&config.listen.admin, check_optional_listen},
           "where /healthz, /readyz, /metrics, /status and, on this machine, /unlock are answered, without a password; \"\": nowhere"},
          {"/intercept", TextList{&config.intercept, check_host_pattern, 1},
           "hosts whose traffic is looked into; the local authority can sign for these only"},
          {"/hosts", Entries{check_host, [&config](const std::string& name) { return settings_of(config.hosts[name]); }},
           "hosts whose port 443 is reached elsewhere, also such as are only tunnelled: {\"management.azure.com\": {\"address\": "
           "\"10.0.0.4:443\", \"ca_file\": \"private.pem\"}}"},
          {"/allow_connect_to", TextList{&config.allow_connect_to, check_destination},
           "loopback, link-local and metadata destinations, and own addresses of this machine, that CONNECT may reach all the same"},
          {"/ca/directory", Text{&config.ca.directory, check_not_empty},
           "where the local certificate authority is kept; \"~/\" is the user's home"},
          {"/clients", Entries{check_client, [&config](const std::string& name) { return settings_of(config.clients[name]); }},
           "what is known about clients, by the user name in their proxy URL: {\"nightly\": {\"actor\": \"single\"}}"},
          {"/rules", TextList{&config.rule_paths, check_not_empty},
           "rule files, or directories of them, in the order in which they decide; \"shipped\": those that came with armgate; "
           "\"shipped/optional/azurerm-parity.json\": one of those that are off by default"},
      });
}

void add_upstream_and_limits(SettingTable& table, Config& config) {
  Config::Upstream& upstream = config.upstream;
  Config::Limits& limits = config.limits;
  table.insert(
      table.end(),
      {
          {"/upstream/ca_file", Text{&upstream.ca_file, {}},
           "certificates (PEM) that ARM's own is verified by; \"\": the system's trust store"},
          {"/upstream/proxy", Text{&upstream.proxy, check_proxy, true},
           "the proxy through which ARM and tunnels are reached: \"http://proxy.corp.example:3128\", with \"USER@\" if it wants one; \"\": "
           "what HTTPS_PROXY names where `armgate run` or `exec` starts; \"direct\": none"},
          {"/upstream/proxy_password_file", Text{&upstream.proxy_password_file, {}},
           "the file that holds the password of its user, readable by its owner only"},
          {"/upstream/proxy_ca_file", Text{&upstream.proxy_ca_file, {}},
           "certificates (PEM) of a proxy that looks into TLS; they count besides the others, for what is reached through it"},
          {"/upstream/no_proxy", TextList{&upstream.no_proxy, check_no_proxy},
           "what is reached without it: hosts, domains, addresses, blocks of addresses"},
          {"/upstream/connections_per_host", WholeNumber{&upstream.connections_per_host, 1, 10'000},
           "open connections to one upstream host and for one event loop, at most"},
          {"/upstream/idle_per_host", WholeNumber{&upstream.idle_per_host, 0, 10'000},
           "of these, how many are kept open while unused; fewer cost handshakes as soon as more requests run at once"},
          {"/upstream/idle_max", TimeSpan{&upstream.idle_max, seconds(1), hours(1)},
           "how long an unused upstream connection is kept"},
          {"/upstream/connect_max", TimeSpan{&upstream.connect_max, milliseconds(100), minutes(5)},
           "name resolution and TCP connection to an upstream host, at most"},
          {"/upstream/lookups_max", WholeNumber{&upstream.lookups_max, 1, 64},
           "names that are resolved at once for one event loop: so many of upstream hosts, and as many that tunnels lead to. One that no "
           "server answers for takes its place until the system gives up (resolv.conf(5): 10 s and more)"},
          {"/upstream/handshake_max", TimeSpan{&upstream.handshake_max, milliseconds(100), minutes(5)},
           "TLS handshake with an upstream host, at most"},
          {"/upstream/unacknowledged_max", TimeSpan{&upstream.unacknowledged_max, seconds(1), hours(1)},
           "how long bytes to an upstream host may stay unacknowledged; then the connection is given up, and they do not arrive later"},
          {"/upstream/answer_max", TimeSpan{&upstream.answer_max, seconds(1), hours(1)},
           "from the request to the head of ARM's answer, at most"},
          {"/upstream/stall_max", TimeSpan{&upstream.stall_max, seconds(1), hours(1)},
           "between two pieces of ARM's answer, at most"},
          {"/limits/connections", WholeNumber{&limits.connections, 1, 1'000'000}, "client connections, at most"},
          {"/limits/head_bytes", ByteSize{&limits.head_bytes, kKiB, kMiB}, "the head of a request or an answer, at most"},
          {"/limits/fields", WholeNumber{&limits.fields, 10, 10'000}, "header fields of a request or an answer, at most"},
          {"/limits/target_bytes", ByteSize{&limits.target_bytes, kKiB, kMiB}, "path and query of a request, at most"},
          {"/limits/request_body_bytes", ByteSize{&limits.request_body_bytes, kKiB, kGiB},
           "body of a request, at most; ARM itself takes 4 MiB"},
          {"/limits/request_bodies_total", ByteSize{&limits.request_bodies_total, kMiB, 1024 * kGiB},
           "bodies of all requests that are under way, at most; those of up to 16 KiB are not counted"},
          {"/limits/handshake_max", TimeSpan{&limits.handshake_max, milliseconds(100), minutes(5)},
           "TLS handshake with a client, at most"},
          {"/limits/head_max", TimeSpan{&limits.head_max, milliseconds(100), minutes(5)},
           "from the first to the last byte of a request's head, at most"},
          {"/limits/body_max", TimeSpan{&limits.body_max, milliseconds(100), hours(1)},
           "the whole of a request's body, at most"},
          {"/limits/idle_max", TimeSpan{&limits.idle_max, seconds(1), hours(24)},
           "how long a client connection may rest between requests"},
          {"/limits/tunnel_idle_max", TimeSpan{&limits.tunnel_idle_max, seconds(1), hours(24)},
           "how long a tunnel to another host may rest without a byte in either direction"},
      });
}

void add_protection(SettingTable& table, Config& config) {
  Config::Queue& queue = config.queue;
  Config::History& history = config.history;
  Config::Operations& operations = config.operations;
  table.insert(
      table.end(),
      {
          {"/queue/wait_max", TimeSpan{&queue.wait_max, milliseconds(0), hours(24)},
           "how long a write waits for others before its client is told to come back (503); clients give up after 60s and more"},
          {"/queue/waiters_per_key", WholeNumber{&queue.waiters_per_key, 1, 1'000'000},
           "writes waiting for one resource, at most"},
          {"/queue/waiters_total", WholeNumber{&queue.waiters_total, 1, 10'000'000}, "writes waiting in all, at most"},
          {"/queue/reservation_ttl", TimeSpan{&queue.reservation_ttl, seconds(0), hours(24)},
           "how long a client that was told to come back, or left, may stay away from its position while it could go on; 0s: no positions are kept"},
          {"/queue/claim_timeout", TimeSpan{&queue.claim_timeout, seconds(0), hours(1)},
           "how long others wait for such a client when it is first in line; then they go by"},
          {"/queue/reservation_age_max", TimeSpan{&queue.reservation_age_max, seconds(1), hours(24)},
           "how long its position is kept in all"},
          {"/history/think_max", TimeSpan{&history.think_max, seconds(1), hours(24)},
           "how long a client may work on an older state after it was delivered a newer one"},
          {"/history/observation_age", TimeSpan{&history.observation_age, minutes(1), hours(720)},
           "how long what a client has read is remembered"},
          {"/history/in_doubt_max", TimeSpan{&history.in_doubt_max, seconds(1), hours(24)},
           "how long a write without a known outcome holds back its own repetition"},
          {"/history/answer_keep", TimeSpan{&history.answer_keep, seconds(0), hours(24)},
           "how long the answer to a write that did not arrive is kept for the client that asks again"},
          {"/history/repeat_keep", TimeSpan{&history.repeat_keep, minutes(5), hours(720)},
           "how long a request with a Repeatability-Request-ID is remembered, so that its repetition is answered and not carried out"},
          {"/history/answer_bytes", ByteSize{&history.answer_bytes, 0, kGiB},
           "answers that did not arrive, or are given again, kept for one client, at most"},
          {"/history/client_bytes", ByteSize{&history.client_bytes, 0, 64 * kGiB},
           "list pages that one client was shown, kept to compare with, at most"},
          {"/history/total_bytes", ByteSize{&history.total_bytes, kMiB, 1024 * kGiB},
           "states of all resources, kept to compare with, at most; and as much again for list pages"},
          {"/history/list_scan_max", ByteSize{&history.list_scan_max, 0, kGiB}, "the largest list answer that is looked into"},
          {"/history/body_keep_max", ByteSize{&history.body_keep_max, 0, kGiB},
           "the largest body that is kept to compare with"},
          {"/history/versions_compared_max", WholeNumber{&history.versions_compared_max, 0, 64},
           "for one write, the other api-versions at which a resource is read to compare it with what was read at those, at most"},
          {"/operations/poll_first", TimeSpan{&operations.poll_first, milliseconds(100), hours(1)},
           "how soon a long-running operation is asked about while a write waits for it and ARM names no pause; the pauses grow as it runs"},
          {"/operations/poll_waited", TimeSpan{&operations.poll_waited, milliseconds(100), hours(1)},
           "the longest that these pauses become"},
          {"/operations/poll_unwaited", TimeSpan{&operations.poll_unwaited, milliseconds(100), hours(24)},
           "how often it is asked about while nothing waits for it"},
          {"/operations/owned_max", WholeNumber{&operations.owned_max, 1, 10'000'000},
           "operations behind URLs of armgate's own (retry.operation of a rule) that are remembered, at most; what has ended is forgotten first"},
          {"/operations/resend_bytes", ByteSize{&operations.resend_bytes, 0, 64 * kGiB},
           "the bodies that are kept to be sent again if their operations fail, at most; what has no room has ARM's own URL"},
          {"/sick/failures", WholeNumber{&config.sick.failures, 1, 100},
           "a resource is sick from so many operations on that have failed with the same error within sick.window"},
          {"/sick/window", TimeSpan{&config.sick.window, seconds(10), hours(168)}, "how long a failure counts"},
          {"/sick/stuck_after", TimeSpan{&config.sick.stuck_after, minutes(1), hours(720)},
           "a resource is sick too if it has been at work (provisioningState) for so long without an operation that is known to run"},
          {"/budgets/own_percent", WholeNumber{&config.budgets.own_percent, 0, 100},
           "of what ARM refills of a budget that is not plenty, so much in the hundred may armgate's own reads take"},
          {"/budgets/fair", rules::choice(&config.budgets.fair, {{"off", false}, {"on", true}}),
           "on: when what ARM takes of a principal for a subscription is used up, its clients' requests wait, each client for its part, in place of 429"},
          {"/budgets/waiters_max", WholeNumber{&config.budgets.waiters_max, 1, 1'000'000},
           "requests that wait for their part of a budget, at most"},
      });
}

void add_journal(SettingTable& table, Config& config) {
  using journal::Durability;
  Config::Journal& journal = config.journal;
  table.insert(
      table.end(),
      {
          {"/journal/file", Text{&journal.file, {}},
           "where writes are recorded, so that the next process knows of those that were under way; \"\": in memory only"},
          {"/journal/durability",
           rules::choice(&journal.durability, {{"process", Durability::Process}, {"power", Durability::Power}}),
           "what a record outlives: the end of the process, or that of the machine too, which waits for the disk before each write"},
          {"/journal/write_max", TimeSpan{&journal.write_max, milliseconds(100), minutes(5)},
           "how long a write waits for its record; then it is not sent"},
          {"/journal/records_max", WholeNumber{&journal.records_max, 1'000, 100'000'000},
           "records that are kept, at most; the oldest that have ended go"},
      });
}

void add_cluster(SettingTable& table, Config& config) {
  Config::Cluster& cluster = config.cluster;
  table.insert(
      table.end(),
      {
          {"/cluster/engine", Text{&cluster.engine, check_optional_engine, true},
           "the PostgreSQL that several armgates share, which then serve as one: \"postgres://armgate@a,b/armgate?sslmode=verify-full\"; "
           "\"\": this one is alone"},
          {"/cluster/key_file", Text{&cluster.key_file, {}},
           "a file that all of them have, with 32 random bytes or more: what they record is sealed with it"},
          {"/cluster/experimental", rules::choice(&cluster.experimental, {{"off", false}, {"on", true}}),
           "on: whoever sets it has read what several armgates do not stand yet (docs/cluster.md); without it cluster.engine is refused"},
          {"/cluster/replica", Text{&cluster.replica, {}}, "what people know this one by; \"\": the machine's name"},
          {"/cluster/write_max", TimeSpan{&cluster.write_max, milliseconds(100), minutes(5)},
           "how long a write waits for its record; then it is not sent"},
          {"/cluster/quiet", TimeSpan{&cluster.quiet, seconds(0), hours(1)},
           "for how long nobody else gets the keys of a write whose replica died and whose outcome nobody knows"},
          {"/cluster/when_away", rules::choice(&cluster.sends_fenced, {{"refuse", false}, {"fenced", true}}),
           "what becomes of writes while nothing can be recorded: refuse: all are told to come again; fenced: those go whose clients "
           "send a precondition of their own (If-Match, If-None-Match: *), unordered and unrecorded"},
      });
}

}  // namespace

SettingTable options_of(Config& config) {
  SettingTable table;
  add_service(table, config);
  add_upstream_and_limits(table, config);
  add_protection(table, config);
  add_journal(table, config);
  add_cluster(table, config);
  table.push_back(
      {"/log/level",
       rules::choice(
           &config.log.level,
           {{"debug", LogLevel::Debug}, {"info", LogLevel::Info}, {"warning", LogLevel::Warning}, {"error", LogLevel::Error}}),
       "the least important lines that are written; one per request at \"info\""});
  table.push_back({"/log/file", Text{&config.log.file, {}},
                   "where lines are added; \"\": standard error. SIGUSR1 opens it anew (logrotate)"});
  return table;
}

SettingTable file_settings(Config& config, std::string& schema) {
  SettingTable table = options_of(config);
  table.insert(table.begin(), {"/$schema", Text{&schema, {}},
                               "where editors find the JSON Schema of this file; armgate itself does not look at it"});
  for (const auto& [old, name] : {std::pair{"/versions", "history"},
                                  {"/queue/ticket_grace", "reservation_ttl"},
                                  {"/queue/ticket_reserve", "claim_timeout"},
                                  {"/queue/ticket_age_max", "reservation_age_max"}}) {
    table.push_back({old, rules::Renamed{name}, ""});
  }
  table.push_back({"/history/insist_after",
                   Removed{"delete it: a client that reads again after a 412 is let through at once, and one that never reads "
                           "by the same bytes after one 412"},
                   ""});
  return table;
}

std::string config_schema() {
  Config config;
  std::string schema;
  return rules::to_schema(file_settings(config, schema), "Configuration of armgate",
                          "Every option of armgate. What is left out keeps its default. The manual is docs/configuration.md.");
}

void set_option(Config& config, std::string_view pointer, std::string_view value, const std::string& origin,
                rules::FaultList& faults) {
  const nlohmann::json::json_pointer place("/" + std::string(pointer));
  nlohmann::json document;
  document[place] = value;
  const std::string text = dump_json(document);
  rules::FaultList found;
  rules::read_json(origin, text, options_of(config), found);
  for (const rules::Fault& fault : found) faults.push_back({origin, 0, "", fault.message});
}

std::vector<std::string> changed_options(Config one, Config other) {
  const SettingTable table = options_of(one);
  const SettingTable others = options_of(other);
  std::vector<std::string> changed;
  for (size_t i = 0; i < table.size(); ++i) {
    const std::string& pointer = table[i].pointer;
    bool same = rules::value_to_json(table[i].value) == rules::value_to_json(others[i].value);
    if (pointer == "/hosts") same = one.hosts == other.hosts;  // what has names of its own is not printed
    if (pointer == "/clients") same = one.clients == other.clients;
    if (!same) changed.push_back(pointer);
  }
  return changed;
}

std::string print_defaults() {
  Config defaults;
  std::string schema = "schema/armgate.schema.json";  // from where the example configuration is kept
  SettingTable table = file_settings(defaults, schema);
  std::erase_if(table, [](const rules::Setting& setting) { return rules::is_gone(setting.value); });
  std::string text =
      "// armgate's configuration. Every option stands here with its default; what is left out keeps it.\n"
      "// Relative paths are relative to this file. `armgate check` tells what is wrong with it, by line.\n{\n";
  std::string group;
  for (size_t i = 0; i < table.size(); ++i) {
    const rules::Setting& setting = table[i];
    const size_t slash = setting.pointer.rfind('/');
    const std::string own_group = setting.pointer.substr(0, slash);
    const bool last_of_group =
        i + 1 == table.size() || table[i + 1].pointer.substr(0, table[i + 1].pointer.rfind('/')) != own_group;
    if (own_group != group && !own_group.empty()) text += fmt::format("  \"{}\": {{\n", own_group.substr(1));
    group = own_group;
    const std::string indent = own_group.empty() ? "  " : "    ";
    const std::string limits = rules::bounds_to_text(setting.value);
    text += fmt::format("{0}// {1}{2}\n{0}\"{3}\": {4}", indent, setting.sentence, limits.empty() ? "" : " (" + limits + ")",
                        setting.pointer.substr(slash + 1), rules::value_to_json(setting.value));
    const bool last = i + 1 == table.size();
    if (own_group.empty())
      text += last ? "\n" : ",\n";
    else
      text += !last_of_group ? ",\n" : last ? "\n  }\n" : "\n  },\n";
  }
  return text + "}\n";
}

}  // namespace armgate
