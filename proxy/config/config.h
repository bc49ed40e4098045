// config.h – everything an operator can set, as one plain value, and how it gets from files into it.
//
// Why: only the gateway and the command line include this header; every other component takes its own small Options, so that no
// component depends on all options. Names, bounds and meanings stand in option_table.cc. The defaults stand here; components
// repeat those that they take, for tests and the simulator, and tests/proxy/gateway/options_test.cc holds the two equal
// (docs/decisions/0020).
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "proxy/journal/durability.h"
#include "proxy/observability/log.h"
#include "proxy/policy/bases.h"
#include "rules/facts/fact_entry.h"
#include "rules/file/error_table.h"
#include "rules/file/fault_list.h"
#include "rules/file/queue_timeouts.h"
#include "rules/rule.h"

namespace armgate::rules {
struct RuleSource;
}  // namespace armgate::rules

namespace armgate {

// Where a host is really reached, and by which authorities its certificate is verified there.
struct HostOverride {
  std::string address;  // "host:port"; empty: the host itself, port 443
  std::string ca_file;  // empty: upstream.ca_file
  friend bool operator==(const HostOverride&, const HostOverride&) = default;
};

struct ClientOptions {
  policy::Actors actor = policy::Actors::Unknown;
  rules::Merging merge = rules::Merging::On;
  friend bool operator==(const ClientOptions&, const ClientOptions&) = default;
};

// What no other machine can reach for this one: loopback, link-local and Azure's platform services (as kDirectHosts of
// tool_environment.cc).
inline std::vector<std::string> local_places() {
  return {"localhost", "127.0.0.0/8", "::1", "169.254.0.0/16", "168.63.129.16"};
}

// A proxy that the environment names.
struct EnvironmentProxy {
  std::string variable;  // empty: there is none
  std::string url;       // with a password, it may be
  std::vector<std::string> no_proxy;
};

struct Config {
  rules::Mode mode = rules::Mode::Protect;
  rules::Mode unruled = rules::Mode::Protect;     // the most that a rule for any type ("*") may do
  rules::Merging merge = rules::Merging::On;      // the most that a rule or a client's entry may allow
  int threads = 0;                                // 0: one per processor
  Duration drain_delay{};                         // new connections are still taken for so long after /readyz has fallen
  Duration drain_max = std::chrono::seconds(25);  // below the half minute after which Kubernetes kills
  bool core_dumps = false;                        // a crash leaves an image of the memory, secrets and all

  struct Listen {
    std::string proxy = "127.0.0.1:8080";
    std::string tls;    // empty: none
    std::string admin;  // empty: none
  } listen;

  std::vector<std::string> intercept{"management.azure.com", "*.management.azure.com"};
  std::map<std::string, HostOverride> hosts;
  std::vector<std::string> allow_connect_to;

  struct Ca {
    std::string directory = "~/.armgate/ca";
  } ca;

  struct Upstream {
    std::string ca_file;              // empty: the system's trust store
    std::string proxy;                // empty: what the environment names, under `run` and `exec`; "direct": none
    std::string proxy_password_file;  // empty: its user has none
    std::string proxy_ca_file;        // empty: no further authorities
    std::vector<std::string> no_proxy = local_places();
    size_t connections_per_host = 256;
    size_t idle_per_host = 256;                    // of the connections that there may be
    Duration idle_max = std::chrono::seconds(55);  // below the minute or more after which ARM's front ends close
    Duration connect_max = std::chrono::seconds(10);
    size_t lookups_max = 4;
    Duration handshake_max = std::chrono::seconds(10);
    Duration unacknowledged_max = std::chrono::seconds(30);
    Duration answer_max = std::chrono::minutes(5);
    Duration stall_max = std::chrono::seconds(60);
  } upstream;

  struct Limits {
    size_t connections = 10'000;
    size_t head_bytes = 64 * 1024;
    size_t fields = 200;
    size_t target_bytes = 16 * 1024;
    size_t request_body_bytes = 8 * 1024 * 1024;
    size_t request_bodies_total = 1024 * 1024 * 1024;
    Duration handshake_max = std::chrono::seconds(10);
    Duration head_max = std::chrono::seconds(10);
    Duration body_max = std::chrono::seconds(60);
    Duration idle_max = std::chrono::minutes(2);
    Duration tunnel_idle_max = std::chrono::minutes(10);
  } limits;

  struct Queue {
    Duration wait_max = std::chrono::seconds(50);
    size_t waiters_per_key = 1'000;
    size_t waiters_total = 100'000;
    Duration reservation_ttl = std::chrono::minutes(1);
    Duration claim_timeout = std::chrono::seconds(5);
    Duration reservation_age_max = std::chrono::minutes(30);
  } queue;

  struct History {
    Duration think_max = std::chrono::minutes(5);
    Duration observation_age = std::chrono::hours(12);
    Duration in_doubt_max = std::chrono::minutes(5);
    Duration answer_keep = std::chrono::minutes(5);
    Duration repeat_keep = std::chrono::hours(12);
    size_t answer_bytes = 8u << 20;
    size_t client_bytes = 32u << 20;
    size_t total_bytes = 512u << 20;
    size_t list_scan_max = 4u << 20;
    size_t body_keep_max = 4u << 20;
    size_t versions_compared_max = 4;
  } history;

  struct Operations {
    Duration poll_first = std::chrono::seconds(1);
    Duration poll_waited = std::chrono::seconds(10);
    Duration poll_unwaited = std::chrono::seconds(60);
    size_t owned_max = 10'000;
    size_t resend_bytes = 32u << 20;
  } operations;

  struct Sick {
    size_t failures = 10;
    Duration window = std::chrono::minutes(15);
    Duration stuck_after = std::chrono::hours(1);
  } sick;

  struct Budgets {
    size_t own_percent = 20;
    bool fair = false;
    size_t waiters_max = 1000;
  } budgets;

  struct Journal {
    std::string file;  // empty: records are kept in memory only
    journal::Durability durability = journal::Durability::Process;
    Duration write_max = std::chrono::seconds(5);
    size_t records_max = 100'000;
  } journal;

  struct Cluster {
    std::string engine;    // empty: this process is alone
    std::string key_file;  // shared by all replicas
    bool experimental = false;
    std::string replica;  // empty: the machine's name
    Duration write_max = std::chrono::seconds(5);
    Duration quiet = std::chrono::seconds(60);
    bool sends_fenced = false;  // when_away
  } cluster;

  std::map<std::string, ClientOptions> clients;
  std::vector<std::string> rule_paths{"shipped"};

  struct Log {
    LogLevel level = LogLevel::Info;
    std::string file;  // empty: standard error
  } log;

  EnvironmentProxy environment_proxy;  // no option: what upstream.proxy leaves to the environment

  // Not options: what loading made of them.
  std::string source;                                    // the file it was read from; empty: the built-in defaults
  std::vector<rules::Rule> rules;                        // of all files in rule_paths, in order
  rules::FactEntries facts;                              // the same; null before they are loaded
  std::vector<rules::ErrorRule> errors;                  // the same
  std::vector<rules::QueueTimeout> queue_timeouts;       // the same
  std::shared_ptr<const rules::RuleSource> rule_source;  // of all of them (rule_documents.h)
  rules::FaultList rule_warnings;                        // what in those files has no effect
};

// What loading needs to know about the machine.
struct Surroundings {
  std::filesystem::path home;           // for "~/"
  std::filesystem::path shipped_rules;  // for "shipped"
};

struct LoadedConfig {
  Config config;
  // Not empty: nothing may be run with the config. What it says of places that no fault names is what the file says; of a file
  // that is no JSON only listen.admin is known, if it stands before the fault.
  rules::FaultList faults;
  std::vector<std::string> kept;  // for people: each option that a flag says otherwise than the file
};

// Where it was read from, for people: the file, or "the built-in defaults".
std::string source_text(const Config& config);

// Whether "host:port" is where this configuration listens. A name is taken for another machine's.
bool is_own_listener(const Config& config, const std::string& address);

// What makes the certificate authority of this configuration: "armgate ca init --config FILE".
std::string ca_init_command(const Config& config);

// What leads a shell through the service of this configuration: "eval "$(armgate env --config FILE)"".
std::string env_command(const Config& config);

// What else of this configuration stands in `file`, to which a log is to be added; empty: it has the file for itself.
std::vector<std::string> faults_of_log_file(const Config& config, const std::string& file);

// Loads the configuration again as it was asked for when the process started.
using LoadAgain = std::function<LoadedConfig()>;

// What needs only options, such as the local authority's place, must work while a rule file is wrong or missing.
// armgate's own tests try the cases of the shipped files, so that not every start has to; a change to one is found by Prove.
enum class RuleFiles { Load, Prove, Leave };

// Reads the file (empty path: the built-in defaults) and every rule file it names. Relative paths in it are relative to
// the file. All faults of all files are found at once.
LoadedConfig load_config(const std::filesystem::path& file, const Surroundings& surroundings,
                         RuleFiles rule_files = RuleFiles::Load);

// The same from text, without its rule files; `file` names it in faults and is what paths are relative to.
LoadedConfig parse_config(const std::string& file, std::string_view text, const Surroundings& surroundings);

}  // namespace armgate
