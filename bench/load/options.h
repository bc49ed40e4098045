// options.h – what a load test is asked to do, read from its command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace armgate::load {

struct Endpoint {
  std::string host;
  uint16_t port = 443;
};

// Where the requests go, and whose cost is measured.
struct Target {
  std::string name;
  Endpoint origin;                               // named by TLS and in Host
  Endpoint connect;                              // where the TCP connection goes; the origin unless `connect=` says otherwise
  std::optional<Endpoint> proxy;                 // CONNECT through this one
  std::string proxy_user;                        // "{c}" in it is the number of the connection
  std::optional<std::filesystem::path> ca_file;  // the system's trust store without one
  int pid = 0;                                   // of the process whose CPU time is told; 0: of none
};

// Weights of the three kinds of operation.
struct Mix {
  double get = 1;
  double put = 0;
  double update = 0;  // read-modify-write: a GET, then a PUT of what it gave with one tag changed
};

enum class Connections { Kept, New };       // New: one connection for each operation
enum class Pick { Zipf, OwnOfConnection };  // which resource an operation touches
enum class Verbosity { Progress, Quiet };

struct LoadOptions {
  std::vector<Target> targets;  // one or two
  std::string path;             // "{n}" in it is the number of the resource
  size_t resources = 1000;
  double zipf = 1.0;
  Pick pick = Pick::Zipf;
  Mix mix;
  std::string put_path;  // for PUT, if it differs from `path`
  std::string body;      // for PUT; "{v}" in it is a number that changes with each
  size_t connections = 16;
  Connections reuse = Connections::Kept;
  double rate = 0;  // operations a second (open loop); 0: closed loop
  Duration warm_up = std::chrono::seconds(1);
  Duration duration = std::chrono::seconds(5);
  Duration timeout = std::chrono::seconds(60);
  int rounds = 3;
  std::vector<std::string> tokens;  // connection c sends token c modulo their number; none: no Authorization field
  std::vector<std::string> headers;
  uint64_t seed = 1;
  std::string json_file;
  std::string html_file;
  Verbosity verbosity = Verbosity::Progress;
};

// What is to be done, or what is to be printed instead: help, or what is wrong with the command line.
struct Parsed {
  std::optional<LoadOptions> options;
  std::string text;
  int exit_code = 0;
};
Parsed parse_arguments(int count, const char* const* arguments);

// "NAME=https://HOST[:PORT][,connect=HOST:PORT][,proxy=http://USER@HOST:PORT][,ca=FILE][,pid=N]"
Result<Target> parse_target_spec(std::string_view text);
// "get=70,put=20,rmw=10"
Result<Mix> parse_mix(std::string_view text);

// A JSON resource of exactly `bytes` bytes, as far as that is possible (at least about 200), with a "{v}" in it.
std::string make_body(size_t bytes);
// "Bearer " and an unsigned token of about `bytes` bytes, as long as real ones are, of the principal with that number.
std::string make_token(size_t bytes, size_t principal);

}  // namespace armgate::load
