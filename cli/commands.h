// commands.h – what each command of the command line does, once its words are read (declare.h).
//
// Each returns the exit code, and says on context.err why it is not 0.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "rules/file/fault_list.h"

namespace armgate::commands {

// What was asked for; empty texts were not given.
struct Asked {
  std::string config;
  std::string mode;
  std::string listen;
  std::string ca_directory;
  bool force = false;
  bool all = false;         // roots, of whatever authority
  std::string fingerprint;  // of the root to trust
  std::string name;
  std::string actor;
  std::string log_file;
  std::string shell = "sh";
  std::vector<std::string> words;  // the command of exec
  std::string method;              // of the request to explain
  std::string url;
  std::string body_file;
  std::vector<std::string> shown_files;
  std::string there_file;
  std::string client;
  std::string user_agent;
  std::string resource;  // to unlock, or whose history or queue is asked for
  size_t last = 20;      // writes of it
  double interval = 1;   // seconds between two looks
  size_t looks = 0;      // 0: without end
  std::string output = "text";
  std::string type;                // to tell about; empty: all
  std::string checkout;            // of Azure/bicep-types-az
  std::string output_file;         // empty: standard output
  std::string journal;             // to import
  std::vector<std::string> files;  // to migrate
  bool dry_run = false;            // only tell what would be done
  std::string completed_shell;
  double membership_lease = 10;  // seconds, of a cluster's replicas
  struct Heal {
    std::string cluster;
    std::string pool = "system";
    std::string api_version;  // empty: Target's own
    bool confirm = false;
    bool undo = false;
    bool list = false;
    bool skip_detection = false;
    size_t threshold = 10;   // failures that make a storm...
    size_t window_min = 15;  // ...within so long
    size_t deadline_min = 60;
    double poll_s = 30;
    double settle_s = 15;
    size_t stand_in_nodes = 0;  // 0: as many as the pool
    std::string kubeconfig;     // empty: Kubernetes is not asked
    double nodes_min = 20;
    bool without_kubeconfig = false;
    bool drain = false;
    double drain_min = 10;
    std::string runs;  // the directory; empty: the user's own
  } heal;
};

// What stands behind flags; wrong is the command line then, not the configuration.
rules::FaultList faults_of_flags(const Asked& asked);

int run(const Asked& asked, const CliContext& context);
int exec(const Asked& asked, const CliContext& context);
int env(const Asked& asked, const CliContext& context);
int check(const Asked& asked, const CliContext& context);
int doctor(const Asked& asked, const CliContext& context);
int explain(const Asked& asked, const CliContext& context);
int status(const Asked& asked, const CliContext& context);
int queue(const Asked& asked, const CliContext& context);
int top(const Asked& asked, const CliContext& context);
int history(const Asked& asked, const CliContext& context);
int blame(const Asked& asked, const CliContext& context);
int sick(const Asked& asked, const CliContext& context);
int unlock(const Asked& asked, const CliContext& context);
int types(const Asked& asked, const CliContext& context);
int types_import(const Asked& asked, const CliContext& context);
int migrate(const Asked& asked, const CliContext& context);
int cluster_init(const Asked& asked, const CliContext& context);
int cluster_upgrade(const Asked& asked, const CliContext& context);
int cluster_import(const Asked& asked, const CliContext& context);
int cluster_status(const Asked& asked, const CliContext& context);
int heal_system_pool(const Asked& asked, const CliContext& context);
int heal_list(const Asked& asked, const CliContext& context);
int ca_init(const Asked& asked, const CliContext& context);
int ca_path(const Asked& asked, const CliContext& context);
int ca_show(const Asked& asked, const CliContext& context);
int ca_trust(const Asked& asked, const CliContext& context);
int ca_untrust(const Asked& asked, const CliContext& context);

}  // namespace armgate::commands
