// cluster_command.cc – armgate cluster: the tables that several armgates share.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/commands.h"
#include "cli/load.h"
#include "json/tree.h"
#include "proxy/cluster/engine/pg.h"
#include "proxy/cluster/engine/seal.h"
#include "proxy/cluster/engine/setup.h"
#include "proxy/gateway/cluster/import.h"
#include "proxy/gateway/cluster/requirements.h"

namespace armgate::commands {
namespace {

constexpr Duration kConnectMax = std::chrono::seconds(5);

using nlohmann::ordered_json;

// What every one of these commands needs.
struct Reached {
  cluster::PgConnection engine;
  cluster::ClusterKey key;
};

Result<Reached> reach(const Config& config, cluster::PgConnection::For what) {
  if (config.cluster.engine.empty() || config.cluster.key_file.empty()) {
    return gateway_error(ErrorKind::BadInput,
                         "the configuration names no cluster: it takes cluster.engine and cluster.key_file");
  }
  auto key = cluster::ClusterKey::load(config.cluster.key_file);
  if (!key) return std::move(key).error();
  auto engine = cluster::PgConnection::open(config.cluster.engine, kConnectMax, what);
  if (!engine) return std::move(engine).error();
  return Reached{*std::move(engine), *key};
}

void warn(const CliContext& context, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) fmt::print(context.err, "armgate: warning: {}\n", warning);
}

ordered_json to_json(const cluster::Found& found, const std::vector<std::string>& warnings) {
  ordered_json json = {{"version", found.version ? ordered_json(*found.version) : ordered_json(nullptr)},
                       {"standby", found.is_standby},
                       {"synchronous_standbys", found.synchronous ? ordered_json(*found.synchronous) : ordered_json(nullptr)},
                       {"lease_seconds", std::chrono::duration<double>(found.membership_lease).count()},
                       {"log_rows", found.rows},
                       {"log_bytes", found.bytes},
                       {"warnings", warnings},
                       {"replicas", ordered_json::array()}};
  for (const auto& member : found.members) {
    json["replicas"].push_back({{"id", member.id},
                                {"name", member.name},
                                {"version", member.program},
                                {"state", member.state},
                                {"joined_seconds_ago", member.seconds}});
  }
  return json;
}

std::string to_text(const cluster::Found& found) {
  if (!found.version) return {};
  std::string text = fmt::format("tables of version {}, lease {} s, {} rows in the log ({} bytes), {} synchronous standby(s)\n",
                                 *found.version, std::chrono::duration<double>(found.membership_lease).count(), found.rows,
                                 found.bytes, found.synchronous ? std::to_string(*found.synchronous) : "unknown");
  for (const auto& member : found.members) {
    text += fmt::format("{:>6}  {:<7} {}  armgate {}, joined {} s ago\n", member.id, member.state, member.name, member.program,
                        member.seconds);
  }
  return text;
}

}  // namespace

int cluster_init(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  auto reached = reach(*config, cluster::PgConnection::For::Writing);
  if (!reached) return fail(context, reached.error());
  const auto lease = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(asked.membership_lease));
  if (const auto made = cluster::make_tables(reached->engine, reached->key, lease); !made) return fail(context, made.error());
  if (const auto found = cluster::look_at(reached->engine)) warn(context, cluster::warnings_of(*found));
  fmt::print(context.out, "armgate: the cluster's tables are made\n");
  return kExitDone;
}

int cluster_upgrade(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  auto reached = reach(*config, cluster::PgConnection::For::Writing);
  if (!reached) return fail(context, reached.error());
  const auto before = cluster::upgrade_tables(reached->engine);
  if (!before) return fail(context, before.error());
  const auto found = cluster::look_at(reached->engine);
  if (!found) return fail(context, found.error());
  fmt::print(context.out, "armgate: the cluster's tables were of version {} and are of {}\n", *before,
             found->version.value_or(0));
  return kExitDone;
}

int cluster_import(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Load);
  if (!config) return kExitBadInput;
  auto reached = reach(*config, cluster::PgConnection::For::Writing);
  if (!reached) return fail(context, reached.error());
  const auto done = import_into_cluster(*config, asked.journal, reached->engine, reached->key);
  if (!done) return fail(context, done.error());
  if (!done->is_new) {
    fmt::print(context.out, "armgate: {} was imported before; nothing is done\n", asked.journal);
    return kExitDone;
  }
  fmt::print(
      context.out,
      "armgate: taken over from {}: {} operations that run, {} writes in doubt, {} that ended lately; {} that no rule of now "
      "would hold are given up. Do not start an armgate with that journal again\n",
      asked.journal, done->running, done->in_doubt, done->ended, done->dropped);
  return kExitDone;
}

int cluster_status(const Asked& asked, const CliContext& context) {
  const auto config = load_asked(asked, context, RuleFiles::Leave);
  if (!config) return kExitBadInput;
  auto reached = reach(*config, cluster::PgConnection::For::Anything);
  if (!reached) return fail_asked(asked, context, reached.error());
  const auto found = cluster::look_closely_at(reached->engine);
  if (!found) return fail_asked(asked, context, found.error());
  auto warnings = cluster::warnings_of(*found);
  if (auto weak = weak_way_to_engine(*config)) warnings.push_back(*std::move(weak));
  const auto is_alive = [](const cluster::Found::Member& member) { return member.state == "alive"; };
  const auto longest = std::find_if(found->members.rbegin(), found->members.rend(), is_alive);
  if (longest != found->members.rend()) {
    for (auto& told : cluster::differences(*longest, found->members)) warnings.push_back(std::move(told));
  }
  context.out << (asked.output == "json" ? dump_json(to_json(*found, warnings), 2) + "\n" : to_text(*found));
  if (asked.output != "json") warn(context, warnings);
  if (const auto fits = cluster::check_joinable(*found, reached->key); !fits) return fail(context, fits.error());
  if (const auto fits = check_cluster_options(*config); !fits) return fail(context, fits.error());
  return kExitDone;
}

}  // namespace armgate::commands
