#include "proxy/config/option_checks.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "certs/certificate.h"
#include "proxy/config/clouds.h"
#include "proxy/config/proxy_url.h"
#include "proxy/net/upstream/no_proxy.h"

namespace armgate {
namespace {

bool is_address(const std::string& text) {
  in6_addr ignored{};
  return inet_pton(AF_INET, text.c_str(), &ignored) == 1 || inet_pton(AF_INET6, text.c_str(), &ignored) == 1;
}

bool is_host_or_address(const std::string& text) { return is_address(text) || certs::is_host_name(text); }

enum class ZeroPort { Allowed, Refused };

std::optional<std::string> check_endpoint(std::string& text, ZeroPort zero) {
  const auto complaint = "is not \"host:port\", such as \"127.0.0.1:8080\", \"[::1]:8080\" or \"arm.example.com:443\"";
  text = lower_text(text);
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return complaint;
  std::string host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (bracketed != (host.find(':') != host.npos) || !is_host_or_address(host)) return complaint;
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return complaint;
  if (port == 0 && zero == ZeroPort::Refused) return "has port 0, where nothing can be reached";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> check_listen(std::string& text) {
  if (auto complaint = check_endpoint(text, ZeroPort::Allowed)) return complaint;
  const bool is_name = !text.starts_with('[') && !is_address(text.substr(0, text.rfind(':')));
  if (is_name) return "names a host; name an address of this machine, such as \"127.0.0.1:8080\" or \"0.0.0.0:8080\"";
  return std::nullopt;
}

std::optional<std::string> check_optional_listen(std::string& text) { return text.empty() ? std::nullopt : check_listen(text); }

std::optional<std::string> check_target(std::string& text) { return check_endpoint(text, ZeroPort::Refused); }

std::optional<std::string> check_host(std::string& text) {
  text = lower_text(text);
  if (!is_address(text) && certs::is_host_name(text)) return std::nullopt;
  return "is not a host name such as \"management.azure.com\"";
}

std::optional<std::string> check_host_pattern(std::string& text) {
  text = lower_text(text);
  if (hosts_of_cloud(text)) return std::nullopt;
  if (text.starts_with("azure") && text.find('.') == text.npos)
    return fmt::format("is no cloud that is known here: {}", kCloudNames);
  std::string host = text.starts_with("*.") ? text.substr(2) : text;
  if (!check_host(host)) return std::nullopt;
  return "is not a host name such as \"management.azure.com\" or \"*.management.azure.com\", nor a cloud's, such as "
         "\"AzureUSGovernment\"";
}

std::optional<std::string> check_destination(std::string& text) {
  text = lower_text(text);
  if (is_host_or_address(text)) return std::nullopt;
  return "is not a host name or an address, such as \"localhost\", \"127.0.0.1\" or \"::1\"";
}

std::optional<std::string> check_proxy(std::string& text) {
  if (equal_ignoring_case(text, kDirect)) text = kDirect;
  if (text.empty() || text == kDirect) return std::nullopt;
  if (text.find_first_of(":.@") == text.npos)
    return fmt::format(
        "is a single word, and neither \"{}\" nor a proxy with its port, such as \"http://proxy.corp.example:3128\"", kDirect);
  const auto parsed = parse_proxy_url(text);
  if (!parsed) return parsed.error().context;
  if (!parsed->password.empty())
    return "has a password in it; put that into a file of its own, which upstream.proxy_password_file names";
  return std::nullopt;
}

std::optional<std::string> check_no_proxy(std::string& text) {
  text = lower_text(text);
  if (net::NoProxy::is_entry(text)) return std::nullopt;
  return "is no host, domain, address or block of addresses, such as \"corp.example\", \"10.0.0.0/8\" or \"arm.corp.example:8443\"";
}

std::optional<std::string> check_not_empty(std::string& text) {
  if (!text.empty()) return std::nullopt;
  return "must not be empty";
}

std::optional<std::string> check_optional_engine(std::string& text) {
  const bool is_url = text.starts_with("postgres://") || text.starts_with("postgresql://");
  if (text.empty() || is_url) return std::nullopt;
  return "is no URL of a PostgreSQL: \"postgres://USER@HOST/DATABASE\", its password in a file that PGPASSFILE names";
}

}  // namespace armgate
