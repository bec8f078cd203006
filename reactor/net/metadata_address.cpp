#include "reactor/net/metadata_address.hpp"

#include <arpa/inet.h>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace reactor {
namespace {

namespace ip = boost::asio::ip;

struct metadata_place {
  const char* network;
  const char* whose;
};

constexpr std::array<metadata_place, 4> v4_places{{
    {"169.254.0.0/16", "the link: Amazon, Google, Azure, OpenStack and most others"},
    {"100.100.100.200/32", "Alibaba Cloud"},
    {"168.63.129.16/32", "Azure's WireServer"},
    {"192.0.0.192/32", "Oracle Cloud Classic"},
}};
constexpr std::array<metadata_place, 4> v6_places{{
    {"fe80::/10", "the link"},
    {"fd00:ec2::/32", "Amazon: metadata and the identities of pods"},
    {"fd20:ce::254/128", "Google"},
    {"fd00:42::42/128", "Scaleway"},
}};

bool is_one(ip::address_v4 a) {
  return std::ranges::any_of(v4_places, [&](const metadata_place& p) {
    const auto net = ip::make_network_v4(p.network);
    return ip::network_v4(a, net.prefix_length()).canonical() == net.canonical();
  });
}

/// The IPv4 address that a translator or tunnel makes of it: mapped, compatible, NAT64 (RFC 6052)
/// and 6to4 (RFC 3056).
std::optional<ip::address_v4> inner(const ip::address_v6& a) {
  const auto bytes = a.to_bytes();
  const auto four = [&](std::size_t at) {
    return ip::address_v4(
        ip::address_v4::bytes_type{bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]});
  };
  for (const char* prefix : {"::ffff:0:0/96", "::/96", "64:ff9b::/96"}) {
    const auto net = ip::make_network_v6(prefix);
    if (ip::network_v6(a, net.prefix_length()).canonical() == net.canonical()) return four(12);
  }
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return four(2);
  return std::nullopt;
}

}  // namespace

bool is_metadata_address(const ip::address& a) {
  if (a.is_v4()) return is_one(a.to_v4());
  const ip::address_v6 six(a.to_v6().to_bytes());  // without a zone
  if (const auto four = inner(six); four && is_one(*four)) return true;
  return std::ranges::any_of(v6_places, [&](const metadata_place& p) {
    const auto net = ip::make_network_v6(p.network);
    return ip::network_v6(six, net.prefix_length()).canonical() == net.canonical();
  });
}

bool is_metadata_host(std::string_view host) {
  boost::system::error_code no_address;
  if (host.starts_with('['))
    host = host.substr(1, host.find(']') - 1);
  else if (std::ranges::count(host, ':') == 1)
    host = host.substr(0, host.find(':'));
  const std::string text(host.substr(0, host.find('%')));  // without a zone
  if (const auto six = ip::make_address_v6(text, no_address); !no_address)
    return is_metadata_address(six);
  in_addr four{};
  return ::inet_aton(text.c_str(), &four) != 0 &&
         is_metadata_address(ip::address_v4(ntohl(four.s_addr)));
}

}  // namespace reactor
