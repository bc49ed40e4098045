// address_policy.h – which addresses a tunnel must not reach, and which are this machine's own.
//
// Why: a proxy that tunnels anywhere lets whoever may use it reach what only this machine may: its own services, its
// neighbours' link-local ones, and the metadata service that hands out credentials.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string_view>

namespace armgate::net {

// Why tunnels to this address are refused ("a loopback address"); nothing if they are not.
std::optional<std::string_view> refused_address(const boost::asio::ip::address& address);

// The address that a CONNECT host spells, IPv6 in brackets; nothing if it is a name.
std::optional<boost::asio::ip::address> address_of(std::string_view host);

// Whether it is an address of one of this machine's own interfaces, and not only a loopback one. Asks the kernel's routes;
// sends nothing.
bool is_own_address(const boost::asio::ip::address& address);

// Whether who has this address is on this machine. ::ffff:127.0.0.1 is one of them.
bool is_loopback(const boost::asio::ip::address& address);

}  // namespace armgate::net
