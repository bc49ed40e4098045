// no_proxy.h – which hosts are reached without the parent proxy, in the words of NO_PROXY.
//
// A file of its own, because what reads the configuration needs this and nothing else of the network.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace armgate::net {

class NoProxy {
 public:
  // Each entry is as parse() takes it; others are passed over.
  explicit NoProxy(const std::vector<std::string>& entries = {});

  // `host`: lower case, a name or an address.
  bool covers(std::string_view host, uint16_t port) const;

  // Whether the text is an entry: "*"; a domain, for itself and all below it ("corp.example", ".corp.example",
  // "*.corp.example"); an address or a block of addresses ("10.0.0.0/8"); any of them but a block with a port
  // ("arm.corp.example:8443").
  static bool is_entry(std::string_view text);

 private:
  struct Entry {
    std::string domain;  // empty: an address
    bool all = false;
    boost::asio::ip::address network;
    int prefix_bits = 0;
    std::optional<uint16_t> port;
  };
  static std::optional<Entry> parse(std::string_view text);
  static bool is_within(const Entry& entry, const boost::asio::ip::address& address);

  std::vector<Entry> entries_;
};

}  // namespace armgate::net
