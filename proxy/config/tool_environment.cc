#include "proxy/config/tool_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include "base/client_name.h"
#include "base/hash.h"
#include "base/text.h"
#include "certs/secret_file.h"
#include "json/tree.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kReadableByAll = 0644;  // certificates are no secret

// Loopback, which armgate opens no tunnel to, and Azure's metadata and wire servers, which must be asked directly
// (learn.microsoft.com, Azure Instance Metadata Service; What is IP address 168.63.129.16).
constexpr std::array<std::string_view, 5> kDirectHosts = {"localhost", "127.0.0.1", "::1", "169.254.169.254", "168.63.129.16"};

constexpr std::array kAdding = {"NODE_EXTRA_CA_CERTS", "DENO_CERT"};

// Debian and its kin, Fedora and its kin, openSUSE, Alpine.
constexpr std::array kSystemBundles = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                       "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

std::string value_of(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

Result<std::string> system_certificates() {
  for (const char* file : kSystemBundles) {
    std::error_code error;
    if (fs::is_regular_file(file, error)) return certs::read_file(file);
  }
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("there is no file of trusted certificates such as {}; install the package "
                                   "ca-certificates, or set SSL_CERT_FILE, REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE",
                                   kSystemBundles.front()));
}

std::string joined(std::string first, const std::string& second) {
  if (first.find(second) != std::string::npos) return first;  // made by us, in an environment that was set before
  if (!first.empty() && first.back() != '\n') first += '\n';
  return first + second;
}

// As `openssl rehash` names what is to be trusted of a directory: what else lies there (keys, say) is for nobody else.
bool is_hashed_name(const std::string& name) {
  const auto is_hex = [](unsigned char c) { return std::isxdigit(c) != 0; };
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  return name.size() > 9 && name[8] == '.' && std::all_of(name.begin(), name.begin() + 8, is_hex) &&
         std::all_of(name.begin() + 9, name.end(), is_digit);
}

// Of a file, or of the files of a directory that a tool would find there (requests takes one, too), each once.
Result<std::string> certificates_at(const fs::path& place) {
  std::error_code error;
  if (fs::is_other(place, error)) return gateway_error(ErrorKind::BadInput, place.string() + " is a pipe or a device");
  if (!fs::is_directory(place, error)) return certs::read_file(place);
  std::set<fs::path> files;
  for (fs::directory_iterator entry(place, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (is_hashed_name(entry->path().filename()) && entry->is_regular_file(gone))
      files.insert(fs::canonical(entry->path(), gone));
  }
  if (error) return gateway_error(ErrorKind::BadInput, fmt::format("cannot read {}: {}", place.string(), error.message()));
  std::string all;
  for (const fs::path& file : files) {
    const auto text = certs::read_file(file);
    if (text) all = joined(std::move(all), *text);  // what this user may not read no tool of theirs would
  }
  return all;
}

// What an entry of NO_PROXY means without its port and the dots and the star about its name: "*.Azure.com.:443" is "azure.com".
// Empty: every host. A port counts for Go alone, and a dot at the end is to curl what it is to DNS; to leave an entry out is
// never wrong.
std::string domain_of(std::string_view entry) {
  const size_t colon = entry.find(':');
  const bool is_ipv6 = colon != entry.npos && entry.find(':', colon + 1) != entry.npos;
  if (colon != entry.npos && !is_ipv6) entry = entry.substr(0, colon);
  while (entry.ends_with('.')) entry.remove_suffix(1);
  if (entry.starts_with('*')) entry.remove_prefix(1);
  while (entry.starts_with('.')) entry.remove_prefix(1);
  return lower_text(entry);
}

std::string_view name_in(std::string_view pattern) { return pattern.starts_with("*.") ? pattern.substr(2) : pattern; }

// Whether an entry takes some of this host pattern's hosts out for some tool. To Python's requests any end of the name does.
bool covers(std::string_view entry, std::string_view pattern) {
  const std::string domain = domain_of(entry);
  return name_in(pattern).ends_with(domain) || is_at_or_below(domain, name_in(pattern));
}

// Whether it takes all of them out, on the port that is intercepted.
bool takes(std::string_view entry, std::string_view pattern) {
  const size_t colon = entry.find(':');
  const std::string_view port = colon == entry.npos ? std::string_view() : entry.substr(colon + 1);
  return (port.empty() || port == "443") && name_in(pattern).ends_with(domain_of(entry));
}

bool leads_around(std::string_view entry, const std::vector<std::string>& intercepted) {
  return std::any_of(intercepted.begin(), intercepted.end(),
                     [&](const std::string& pattern) { return covers(entry, pattern); });
}

// Commas divide them; to curl and others blanks do, too.
std::vector<std::string> entries_of(std::string_view no_proxy) {
  std::vector<std::string> entries;
  while (!no_proxy.empty()) {
    const size_t end = std::min(no_proxy.find_first_of(", \t\r\n"), no_proxy.size());
    if (end > 0) entries.push_back(lower_text(no_proxy.substr(0, end)));
    no_proxy.remove_prefix(std::min(end + 1, no_proxy.size()));
  }
  return entries;
}

std::string no_proxy(const std::string& present, const std::vector<std::string>& intercepted) {
  std::vector<std::string> entries;
  const auto add = [&entries](std::string_view entry) {
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.emplace_back(entry);
  };
  for (const std::string& entry : entries_of(present)) {
    if (!leads_around(entry, intercepted)) add(entry);
  }
  for (const std::string_view host : kDirectHosts) add(host);
  return fmt::format("{}", fmt::join(entries, ","));
}

// Makes the files that certificate variables name.
class Bundles {
 public:
  static Result<Bundles> make(const ToolSettings& settings) {
    auto ours = certs::read_file(settings.ca);
    if (!ours) return std::move(ours).error();
    return Bundles(settings, *std::move(ours));
  }

  // The system's certificates, or those that the variable names already, with ours.
  Result<std::string> for_replacing(const std::string& variable, const std::string& present) {
    const std::string common = (settings_.bundles / "bundle.pem").string();
    if (!present.empty() && present != common) return extended(variable, present);
    if (!common_made_) {
      const auto system = system_certificates();
      if (!system) return system.error();
      if (auto written = certs::write_file(common, joined(*system, ours_), kReadableByAll); !written) return written.error();
      common_made_ = true;
    }
    return common;
  }

  // Ours alone, unless the variable names others already.
  Result<std::string> for_adding(const std::string& variable, const std::string& present) {
    if (present.empty() || present == settings_.ca) return settings_.ca.string();
    return extended(variable, present);
  }

 private:
  Bundles(const ToolSettings& settings, std::string ours) : settings_(settings), ours_(std::move(ours)) {}

  Result<std::string> extended(const std::string& variable, const std::string& present) {
    const auto theirs = certificates_at(present);
    if (!theirs) {
      return gateway_error(ErrorKind::BadInput,
                           fmt::format("{}: {}; name certificates (PEM) or unset it", variable, theirs.error().context));
    }
    // OpenSSL's other words for the same: "TRUSTED CERTIFICATE", "X509 CERTIFICATE".
    if (theirs->find("-----BEGIN ") == theirs->npos || theirs->find("CERTIFICATE-----") == theirs->npos) {
      return gateway_error(
          ErrorKind::BadInput,
          fmt::format("{}: {} holds no PEM certificate; name certificates (PEM) or unset it", variable, present));
    }
    // Named after what it holds: another shell, in which the variable names something else, has another one.
    const std::string text = joined(*theirs, ours_);
    const std::string file = (settings_.bundles / ("bundle-" + Hasher(HashKey{}).hash(text).hex() + ".pem")).string();
    if (auto written = certs::write_file(file, text, kReadableByAll); !written) return written.error();
    return file;
  }

  const ToolSettings& settings_;
  const std::string ours_;
  bool common_made_ = false;
};

std::string quoted_for_sh(const std::string& value) {
  std::string text = "'";
  for (const char c : value) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string quoted_for_fish(const std::string& value) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += '\\';
    text += c;
  }
  return text + "'";
}

std::string quoted_for_powershell(const std::string& value) {
  std::string text = "'";
  for (const char c : value) text += c == '\'' ? std::string("''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::optional<EntryAround> entry_around(std::string_view no_proxy, const std::vector<std::string>& intercepted) {
  for (std::string& entry : entries_of(no_proxy)) {
    for (const std::string& pattern : intercepted) {
      if (takes(entry, pattern)) return EntryAround{std::move(entry), pattern};
    }
  }
  return std::nullopt;
}

std::string active_gateway(const Environment& environment) { return value_of(environment, kActiveVariable); }

std::string name_of_program(std::string_view program) {
  const size_t slash = program.rfind('/');
  std::string name(slash == std::string_view::npos ? program : program.substr(slash + 1));
  name.resize(std::min(name.size(), kClientNameBytesMax));
  for (char& c : name) {
    if (!is_client_name(std::string_view(&c, 1))) c = '-';
  }
  return name.empty() ? "command" : name;
}

std::string proxy_url(std::string_view name, std::string_view proxy) { return fmt::format("http://{}:x@{}", name, proxy); }

std::string reachable(const std::string& proxy) {
  const std::string port = proxy.substr(proxy.rfind(':'));
  if (proxy.starts_with("0.0.0.0:")) return "127.0.0.1" + port;
  if (proxy.starts_with("[::]:")) return "[::1]" + port;
  return proxy;
}

std::string usage_hint(const std::string& proxy, const std::string& ca) {
  return fmt::format("use it with  HTTPS_PROXY={}  and trust  {}", proxy_url("NAME", reachable(proxy)), ca);
}

std::string other_proxy_notice(const Environment& present) {
  const std::string active = active_gateway(present);
  for (const char* name : {"https_proxy", "HTTPS_PROXY"}) {
    const std::string url = value_of(present, name);
    const bool is_other = !url.empty() && (active.empty() || !url.ends_with("@" + active));
    if (is_other) {
      return fmt::format(
          "armgate: {} was set, and leads to armgate from now on; whether armgate goes through that proxy is said by "
          "its own configuration (upstream.proxy)\n",
          name);
    }
  }
  return {};
}

Result<Environment> tool_variables(const ToolSettings& settings, const Environment& present) {
  Environment variables;
  const std::string url = proxy_url(settings.name, settings.proxy);
  for (const char* name : {"HTTPS_PROXY", "https_proxy"}) variables[name] = url;  // either may win where both are known
  std::string exceptions = value_of(present, "no_proxy");
  if (exceptions.empty()) exceptions = value_of(present, "NO_PROXY");
  exceptions = no_proxy(exceptions, settings.intercepted);
  for (const char* name : {"NO_PROXY", "no_proxy"}) variables[name] = exceptions;
  variables["NODE_USE_ENV_PROXY"] = "1";  // without it fetch() of Node 24 and later knows no proxy
  variables[kActiveVariable] = settings.proxy;

  auto bundles = Bundles::make(settings);
  if (!bundles) return std::move(bundles).error();
  for (const char* name : kReplacingVariables) {
    auto file = bundles->for_replacing(name, value_of(present, name));
    if (!file) return std::move(file).error();
    variables[name] = *std::move(file);
  }
  for (const char* name : kAdding) {
    auto file = bundles->for_adding(name, value_of(present, name));
    if (!file) return std::move(file).error();
    variables[name] = *std::move(file);
  }
  return variables;
}

std::string to_commands(const Environment& variables, Shell shell) {
  if (shell == Shell::Json) return nlohmann::json(variables).dump(2) + "\n";
  std::string text;
  for (const auto& [name, value] : variables) {
    switch (shell) {
      case Shell::Sh: text += fmt::format("export {}={}\n", name, quoted_for_sh(value)); break;
      case Shell::Fish: text += fmt::format("set -gx {} {};\n", name, quoted_for_fish(value)); break;
      case Shell::PowerShell: text += fmt::format("$env:{} = {}\n", name, quoted_for_powershell(value)); break;
      case Shell::Json: break;
    }
  }
  return text;
}

}  // namespace armgate
