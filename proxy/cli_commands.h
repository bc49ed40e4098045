// cli_commands.h – what each command of the command line does, once its words are read (cli.cc).
//
// Each returns the exit code, and says on context.err why it is not 0.
#pragma once

#include <string>
#include <vector>

#include "proxy/cli.h"
#include "rules/fault_list.h"

namespace armgate::commands {

// What was asked for; empty texts were not given.
struct Asked {
  std::string config;
  std::string mode;
  std::string listen;
  std::string ca_directory;
  bool force = false;
  bool all = false;  // roots, of whatever authority
  std::string name;
  std::string actor;
  std::string log_file;
  std::string shell = "sh";
  std::vector<std::string> words;  // the command of exec
  std::string method;              // of the request to explain
  std::string url;
  std::string body_file;
  std::vector<std::string> shown_files;
  std::string client;
  std::string user_agent;
  std::string resource;  // to unlock, or whose history or queue is asked for
  size_t last = 20;      // writes of it
  double interval = 1;   // seconds between two looks
  size_t looks = 0;      // 0: without end
  std::string output = "text";
};

// What stands behind flags; wrong is the command line then, not the configuration.
rules::FaultList faults_of_flags(const Asked& asked);

int run(const Asked& asked, const CliContext& context);
int exec(const Asked& asked, const CliContext& context);
int env(const Asked& asked, const CliContext& context);
int check(const Asked& asked, const CliContext& context);
int explain(const Asked& asked, const CliContext& context);
int status(const Asked& asked, const CliContext& context);
int queue(const Asked& asked, const CliContext& context);
int top(const Asked& asked, const CliContext& context);
int history(const Asked& asked, const CliContext& context);
int unlock(const Asked& asked, const CliContext& context);
int ca_init(const Asked& asked, const CliContext& context);
int ca_path(const Asked& asked, const CliContext& context);
int ca_show(const Asked& asked, const CliContext& context);
int ca_trust(const Asked& asked, const CliContext& context);
int ca_untrust(const Asked& asked, const CliContext& context);

}  // namespace armgate::commands
