// tool_environment.h – the environment variables that lead a tool through armgate, whatever it is written in.
//
// Why so many: each runtime has its own variable for trusted certificates. Some of them add (Node, Deno), most replace
// what is trusted, and tools also talk to hosts that armgate does not look into; so those get the old certificates and
// ours in one file.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace armgate {

using Environment = std::map<std::string, std::string>;

// Says that a tool's traffic goes through armgate already, and where that listens ("127.0.0.1:8080").
inline constexpr const char* kActiveVariable = "ARMGATE_ACTIVE";

// Those that name files which replace what a tool trusts. OpenSSL, Go, .NET, Ruby, Rust; Python's requests and so the Azure
// CLI; curl.
inline constexpr std::array kReplacingVariables = {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"};

// Where that says; empty if it is not set, or to nothing, which is how shells without `unset` take it back.
std::string active_gateway(const Environment& environment);

struct ToolSettings {
  std::string proxy;                     // "host:port" where armgate listens
  std::string name;                      // of the client; see base/client_name.h
  std::filesystem::path ca;              // the certificate to trust
  std::filesystem::path bundles;         // the directory for the files that the variables name
  std::vector<std::string> intercepted;  // host patterns
};

// The name of a program without its directory, made fit for is_client_name().
std::string name_of_program(std::string_view program);

// "http://NAME:x@HOST:PORT". Clients that ignore a user name without a password get one.
std::string proxy_url(std::string_view name, std::string_view proxy);

// `proxy` as it is reached from this machine: a listener on every address is reached on loopback.
std::string reachable(const std::string& proxy);

// How to use a service that listens there, by hand: one line without its end.
std::string usage_hint(const std::string& proxy, const std::string& ca);

// What to say if the environment names a proxy that is not armgate, and the variables take its place. Else empty.
std::string other_proxy_notice(const Environment& present);

// The first entry of a NO_PROXY, in lower case, that leads some tool's requests around armgate to a host that is intercepted by
// name, or to all of a pattern, on port 443; and that host or pattern. A name below a pattern may be another service's.
struct EntryAround {
  std::string entry;
  std::string host;
};
std::optional<EntryAround> entry_around(std::string_view no_proxy, const std::vector<std::string>& intercepted);

// The variables to set, given the tool's present environment. Writes the certificate files. What the environment names
// already stays trusted; NO_PROXY keeps its entries, but for those that would lead intercepted hosts around armgate.
Result<Environment> tool_variables(const ToolSettings& settings, const Environment& present);

enum class Shell { Sh, Fish, PowerShell, Json };

// The commands that set the variables, or one JSON object.
std::string to_commands(const Environment& variables, Shell shell);

}  // namespace armgate
