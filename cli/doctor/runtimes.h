// runtimes.h – the runtimes that tools are written in, each with a small program of its own that connects as its tools do.
//
// Why: each runtime looks for proxies and certificates in places of its own, so only the runtime itself knows whether it
// trusts. The programs print who issued the certificate that they were shown: one that goes around armgate is told ARM's own.
// Threads   one; the command line's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/process/child_command.h"
#include "proxy/config/tool_environment.h"

namespace armgate {

struct Runtime {
  std::string name;      // "node"; also the program that is looked for in PATH
  std::string serves;    // what is written in it
  std::string variable;  // where it looks for certificates
};

// curl, Python, Node, Go and Java, in this order.
const std::vector<Runtime>& runtimes();

struct RuntimeQuestion {
  std::string host;   // of ARM
  std::string proxy;  // "host:port" of armgate
  Environment environment;
};

struct RuntimeVerdict {
  enum class Kind {
    Trusts,
    TrustsInPart,  // it does, but some of its tools go around armgate
    Around,        // it was shown a certificate that is not armgate's
    Distrusts,     // it was shown armgate's, and refuses it
    Fails,         // it did not get that far
    Missing,       // it is not installed
    CannotTry,     // it is, but not in a form that runs a program from its source
    NotThrough,    // its settings name no proxy, and it does not look at HTTPS_PROXY
  } kind = Kind::Missing;
  std::string text;  // what it said, or why
};

// Runs one; `run` as SystemTrust has it.
using RunQuietly = std::function<Finished(const std::vector<std::string>& words)>;
RuntimeVerdict try_runtime(const Runtime& runtime, const RuntimeQuestion& question, const RunQuietly& run);

}  // namespace armgate
