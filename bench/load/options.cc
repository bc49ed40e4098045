#include "bench/load/options.h"

#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "arm/url.h"
#include "rules/file/units.h"

namespace armgate::load {
namespace {

constexpr std::string_view kHelp =
    "Loads one HTTPS server, or two in turn, and tells latency, throughput and what a request costs.\n\n"
    "A target is NAME=https://HOST[:PORT] followed by any of\n"
    "  ,connect=HOST:PORT           where the TCP connection goes (HOST above stays the name in TLS and Host)\n"
    "  ,proxy=http://USER@HOST:PORT go through CONNECT; {c} in USER is the connection's number\n"
    "  ,ca=FILE                     PEM certificates to verify the server by\n"
    "  ,pid=N                       tell this process's CPU time (and instructions, if the kernel allows)\n";

constexpr std::string_view kPath =
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/load/providers/Microsoft.Network/virtualNetworks/"
    "vnet{n}?api-version=2023-09-01";

Error bad(std::string text) { return client_error(ErrorKind::BadInput, std::move(text)); }

template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const size_t colon = text.rfind(':');
  const auto port = colon == text.npos ? std::nullopt : number_of<uint16_t>(text.substr(colon + 1));
  if (!port || *port == 0 || colon == 0) return bad(fmt::format("'{}' is not HOST:PORT", text));
  return Endpoint{std::string(text.substr(0, colon)), *port};
}

Result<void> set_proxy(Target& target, std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  if (!text.starts_with(kScheme)) return bad(fmt::format("proxy={}: a proxy is http://[USER@]HOST:PORT", text));
  std::string_view rest = text.substr(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (const size_t at = rest.rfind('@'); at != rest.npos) {
    target.proxy_user = std::string(rest.substr(0, at));
    rest.remove_prefix(at + 1);
  }
  auto endpoint = parse_endpoint(rest);
  if (!endpoint) return bad("proxy=" + std::string(text) + ": " + endpoint.error().context);
  target.proxy = *std::move(endpoint);
  return {};
}

Result<void> set_attribute(Target& target, std::string_view name, std::string_view value) {
  if (name == "proxy") return set_proxy(target, value);
  if (name == "connect") {
    auto endpoint = parse_endpoint(value);
    if (!endpoint) return bad("connect=: " + endpoint.error().context);
    target.connect = *std::move(endpoint);
    return {};
  }
  if (name == "ca") {
    target.ca_file = std::filesystem::path(value);
    if (!std::filesystem::exists(*target.ca_file)) return bad(fmt::format("ca={}: there is no such file", value));
    return {};
  }
  if (name == "pid") {
    const auto pid = number_of<int>(value);
    if (!pid || *pid <= 0) return bad(fmt::format("pid={}: not the number of a process", value));
    target.pid = *pid;
    return {};
  }
  return bad(fmt::format("'{}' is none of connect, proxy, ca, pid", name));
}

Result<std::string> read_file(const std::string& name) {
  std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) return bad(fmt::format("{}: cannot be read, or is empty", name));
  return text.str();
}

// The command line before it is checked.
struct Raw {
  std::vector<std::string> targets;
  std::string mix = "get=1";
  std::string warm_up = "1s";
  std::string duration = "5s";
  std::string timeout = "60s";
  std::string body_file;
  size_t body_bytes = 1500;
  std::string token_file;
  size_t token_bytes = 1200;
  size_t clients = 1;
  bool new_connections = false;
  bool own_resources = false;
  bool quiet = false;
};

void declare(CLI::App& app, Raw& raw, LoadOptions& options) {
  app.add_option("target", raw.targets, "One target, or two to be compared")->required()->expected(1, 2);
  app.add_option("--path", options.path, "Target of requests; {n} is the resource's number")->capture_default_str();
  app.add_option("--put-path", options.put_path, "The same for PUT, if it differs");
  app.add_option("--resources", options.resources, "How many resources")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--zipf", options.zipf, "Exponent of their popularity; 0: all alike")
      ->check(CLI::Range(0.0, 5.0))
      ->capture_default_str();
  app.add_flag("--own-resources", raw.own_resources, "Connection c touches resource c only");
  app.add_option("--mix", raw.mix, "Weights of get, put and rmw (read-modify-write)")->capture_default_str();
  app.add_option("--body", raw.body_file, "File with the body of PUTs; {v} in it is a number that changes");
  app.add_option("--body-bytes", raw.body_bytes, "Or: size of a made-up one")
      ->check(CLI::Range(2, 64 << 20))
      ->capture_default_str();
  app.add_option("--connections", options.connections, "Connections at once")
      ->check(CLI::Range(1, 50'000))
      ->capture_default_str();
  app.add_flag("--new-connections", raw.new_connections, "A new connection, with a full handshake, for each operation");
  app.add_option("--rate", options.rate,
                 "Operations a second (open loop: latency counts from when each was due); 0: each "
                 "connection sends as soon as it has its answer")
      ->check(CLI::Range(0.0, 1e7))
      ->capture_default_str();
  app.add_option("--warm-up", raw.warm_up, "Unmeasured beginning of each round")->capture_default_str();
  app.add_option("--duration", raw.duration, "Measured part of each round")->capture_default_str();
  app.add_option("--timeout", raw.timeout, "When a request counts as failed")->capture_default_str();
  app.add_option("--rounds", options.rounds, "Rounds for each target, in turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--token-file", raw.token_file, "File with the bearer token (a file, so that no process list shows it)");
  app.add_option("--token-bytes", raw.token_bytes, "Or: size of a made-up one; 0: none")
      ->check(CLI::Range(0, 16'000))
      ->capture_default_str();
  app.add_option("--clients", raw.clients, "How many principals have such a token; connection c is number c modulo that")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--header", options.headers, "A further header field, 'Name: value'");
  app.add_option("--seed", options.seed, "Of the sequence of operations")->capture_default_str();
  app.add_option("--json", options.json_file, "Write the result here; '-': to standard output");
  app.add_option("--html", options.html_file, "Write a report with plots here");
  app.add_flag("--quiet", raw.quiet, "No progress display");
}

Result<void> set_time(Duration& to, std::string_view option, const std::string& text) {
  const auto duration = rules::parse_duration(text);
  if (!duration) return bad(fmt::format("{} {}: not a duration such as 500ms, 5s or 2m", option, text));
  to = *duration;
  return {};
}

Result<void> set_times(const Raw& raw, LoadOptions& options) {
  auto set = set_time(options.warm_up, "--warm-up", raw.warm_up);
  if (set) set = set_time(options.duration, "--duration", raw.duration);
  if (set) set = set_time(options.timeout, "--timeout", raw.timeout);
  if (set && options.duration < std::chrono::milliseconds(100)) return bad("--duration: at least 100ms");
  if (set && options.timeout < std::chrono::milliseconds(100)) return bad("--timeout: at least 100ms");
  return set;
}

Result<void> set_contents(const Raw& raw, LoadOptions& options) {
  options.body = make_body(raw.body_bytes);
  if (!raw.body_file.empty()) {
    auto body = read_file(raw.body_file);
    if (!body) return bad("--body " + body.error().context);
    options.body = *std::move(body);
  }
  for (size_t i = 0; i < raw.clients && raw.token_bytes > 0; ++i) options.tokens.push_back(make_token(raw.token_bytes, i));
  if (!raw.token_file.empty()) {
    auto token = read_file(raw.token_file);
    if (!token) return bad("--token-file " + token.error().context);
    while (token->ends_with('\n') || token->ends_with('\r')) token->pop_back();
    if (raw.clients > 1) return bad("--clients: a token file has the token of one");
    options.tokens = {token->starts_with("Bearer ") ? *token : "Bearer " + *token};
  }
  for (const auto& header : options.headers) {
    const bool has_name = header.find(": ") != std::string::npos && header.find(": ") > 0;
    if (!has_name || header.find_first_of("\r\n") != std::string::npos) {
      return bad(fmt::format("--header '{}': not 'Name: value'", header));
    }
  }
  return {};
}

Result<void> finish(const Raw& raw, LoadOptions& options) {
  for (const auto& text : raw.targets) {
    auto target = parse_target_spec(text);
    if (!target) return target.error();
    options.targets.push_back(*std::move(target));
  }
  if (options.targets.size() == 2 && options.targets[0].name == options.targets[1].name) {
    return bad(fmt::format("both targets are called '{}': write NAME=https://...", options.targets[0].name));
  }
  auto mix = parse_mix(raw.mix);
  if (!mix) return mix.error();
  options.mix = *mix;
  if (!options.path.starts_with('/')) return bad(fmt::format("--path {}: begins with no slash", options.path));
  if (options.put_path.empty()) options.put_path = options.path;
  if (!options.put_path.starts_with('/')) return bad(fmt::format("--put-path {}: begins with no slash", options.put_path));
  options.reuse = raw.new_connections ? Connections::New : Connections::Kept;
  options.pick = raw.own_resources ? Pick::OwnOfConnection : Pick::Zipf;
  options.verbosity = raw.quiet ? Verbosity::Quiet : Verbosity::Progress;
  if (auto set = set_times(raw, options); !set) return set;
  return set_contents(raw, options);
}

}  // namespace

Result<Target> parse_target_spec(std::string_view text) {
  const auto parts = split(text, ',');
  Target target;
  std::string_view url = parts[0];
  if (const size_t equals = url.find("=https://"); equals != url.npos) {
    target.name = std::string(url.substr(0, equals));
    url.remove_prefix(equals + 1);
  }
  const auto parsed = arm::parse_url(url);
  if (!parsed || parsed->target != "/") {
    return bad(fmt::format("target '{}': not [NAME=]https://HOST[:PORT] (paths are given by --path)", parts[0]));
  }
  target.origin = target.connect = {parsed->host, parsed->port};
  if (target.name.empty()) target.name = parsed->host;
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = std::min(parts[i].find('='), parts[i].size());
    const auto value = parts[i].substr(std::min(equals + 1, parts[i].size()));
    if (auto set = set_attribute(target, parts[i].substr(0, equals), value); !set) {
      return bad(fmt::format("target '{}': {}", parts[0], set.error().context));
    }
  }
  if (target.proxy && target.connect.port != target.origin.port) {
    return bad(fmt::format("target '{}': with proxy=, connect= has no meaning: the proxy connects", parts[0]));
  }
  return target;
}

Result<Mix> parse_mix(std::string_view text) {
  Mix mix{0, 0, 0};
  for (const auto part : split(text, ',')) {
    const size_t equals = part.find('=');
    const auto name = part.substr(0, equals);
    double* weight = name == "get" ? &mix.get : name == "put" ? &mix.put : name == "rmw" ? &mix.update : nullptr;
    const auto value = equals == part.npos ? std::nullopt : number_of<double>(part.substr(equals + 1));
    if (weight == nullptr || !value || *value < 0 || !std::isfinite(*value)) {
      return bad(fmt::format("--mix {}: '{}' is not get=, put= or rmw= and a weight", text, part));
    }
    *weight = *value;
  }
  if (mix.get + mix.put + mix.update <= 0) return bad(fmt::format("--mix {}: all weights are zero", text));
  return mix;
}

std::string make_body(size_t bytes) {
  const std::string head =
      R"({"location":"westeurope","tags":{"load":"{v}"},"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/16"]},"notes":[")";
  const std::string tail = R"("]}})";
  std::string body = head;
  const size_t fixed = head.size() + tail.size();
  for (size_t left = bytes > fixed ? bytes - fixed : 0, column = 0; left > 0; --left, ++column) {
    const bool breaks = column % 64 == 60 && left > 3;
    if (breaks) left -= 2;
    body += breaks ? std::string("\",\"") : std::string(1, static_cast<char>('a' + column % 26));
  }
  return body + tail;
}

std::string make_token(size_t bytes, size_t principal) {
  // What armgate reads of a token, and filler as its signature.
  const std::string claims = fmt::format(R"({{"tid":"load","oid":"load-{:08}"}})", principal);
  const std::string encoded = absl::WebSafeBase64Escape(claims);
  std::string token = "Bearer eyJhbGciOiJub25lIn0." + encoded + ".";
  while (token.size() < bytes) token += static_cast<char>('A' + token.size() % 26);
  return token;
}

Parsed parse_arguments(int count, const char* const* arguments) {
  CLI::App app(std::string(kHelp), "armgate_load");
  Raw raw;
  LoadOptions options;
  options.path = kPath;
  declare(app, raw, options);
  try {
    app.parse(count, arguments);
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, app.help(), 0};
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, fmt::format("armgate_load: {}\nTry armgate_load --help.\n", error.what()), 2};
  }
  if (auto finished = finish(raw, options); !finished) {
    return {std::nullopt, fmt::format("armgate_load: {}\nTry armgate_load --help.\n", finished.error().context), 2};
  }
  return {std::move(options), {}, 0};
}

}  // namespace armgate::load
