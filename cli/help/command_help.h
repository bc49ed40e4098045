// command_help.h – the command line as plain values: what --help says, for shell completion and man pages.
//
// Why: the commands are declared once, to the parser (declare.cc). What is made of that declaration needs neither the parser
// nor its headers, which are the heaviest of all.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace armgate {

struct HelpFlag {
  std::vector<std::string> names;  // "-h", "--help"
  std::string value;               // what stands behind it: "FILE", "DIR", "TEXT", ...; empty: nothing
  std::vector<std::string> choices;
  std::string text;
  std::string standard;  // its default; empty: none is shown
};

struct HelpArgument {
  std::string name;
  std::string value;  // "DIR", ...
  std::vector<std::string> choices;
  std::string text;
  bool required = false;
};

struct CommandHelp {
  std::string path;  // "ca init"; empty: the program itself
  std::string text;
  std::string footer;
  std::vector<HelpFlag> flags;
  std::vector<HelpArgument> arguments;
  std::vector<CommandHelp> commands;

  std::string name() const { return path.substr(path.rfind(' ') + 1); }
};

CommandHelp help_of(const CLI::App& app);

// The command and all below it, each before its own.
std::vector<const CommandHelp*> all_commands(const CommandHelp& program);

}  // namespace armgate
