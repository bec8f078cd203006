#include "reactor/http/socks.hpp"

#include <boost/asio/ip/address.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace reactor::http {
namespace {

namespace ip = asio::ip;

constexpr char socks_version = 5, password_version = 1;
constexpr char no_login = 0, by_password = 2;
constexpr std::size_t longest_text = 255;

/// The methods of login that this client offers.
std::string greeting(const proxy& via) {
  std::string out{socks_version, 1, no_login};
  if (via.user.empty()) return out;
  out[1] = 2;
  out += by_password;
  return out;
}

wiped_string login(const proxy& via) {
  wiped_string out{password_version, static_cast<char>(via.user.size())};
  out += std::string_view(via.user);
  out += static_cast<char>(via.password.reveal().size());
  out += std::string_view(via.password.reveal());
  return out;
}

std::string connect_request(const origin& to) {
  std::string out{socks_version, 1, 0};
  error_code no_address;
  const ip::address address = ip::make_address(to.host, no_address);
  const auto append = [&out](const auto& bytes) {
    for (const unsigned char b : bytes) out += static_cast<char>(b);
  };
  if (no_address) {
    out += {3, static_cast<char>(to.host.size())};
    out += to.host;
  } else if (address.is_v4()) {
    out += 1;
    append(address.to_v4().to_bytes());
  } else {
    out += 4;
    append(address.to_v6().to_bytes());
  }
  out += static_cast<char>(to.port >> 8);
  out += static_cast<char>(to.port & 0xff);
  return out;
}

std::string_view meaning(unsigned char reply) {
  constexpr std::array<std::string_view, 9> texts{"",
                                                  "it failed",
                                                  "its rules do not allow the connection",
                                                  "the network is unreachable",
                                                  "the host is unreachable",
                                                  "the connection is refused",
                                                  "the connection took too long",
                                                  "it does not know the command",
                                                  "it does not know this kind of address"};
  return reply < texts.size() ? texts[reply] : "it gives an unknown reason";
}

/// What the proxy does not allow stays so; the state of the network passes.
errc kind_of(unsigned char reply) {
  return reply == 2 || reply == 7 || reply == 8 ? errc::refused : errc::closed;
}

/// Exactly so many bytes: what follows them belongs to the tunnel.
awaitable<result<std::string>> read_exactly(stream& s, std::size_t n) {  // borrowed
  std::string out(n, '\0');
  for (std::size_t have = 0; have < n;) {
    const auto got = co_await s.read_some({out.data() + have, n - have});
    if (!got) co_return got.error();
    if (*got == 0) co_return make_fault(errc::closed, "", "the proxy ended the connection");
    have += *got;
  }
  co_return out;
}

}  // namespace

awaitable<result<std::unique_ptr<stream>>> open_socks(std::unique_ptr<stream> s,
                                                      connect_plan plan) {
  const proxy& via = plan.via;
  const std::string doing =
      "connect to " + endpoint{plan.to.host, plan.to.port}.text() + " through " + via.text();
  const auto no_socks = [&doing] {
    return make_fault(errc::malformed, doing, "the proxy does not speak SOCKS5");
  };
  if (plan.to.host.size() > longest_text)
    co_return make_fault(errc::malformed, doing, "the host's name is longer than 255 bytes");

  const std::string offer = greeting(via);
  auto sent = co_await s->write_all(offer);
  if (!sent) co_return while_doing(doing, sent.error());
  auto chosen = co_await read_exactly(*s, 2);
  if (!chosen) co_return while_doing(doing, chosen.error());
  if ((*chosen)[0] != socks_version) co_return no_socks();
  const char method = (*chosen)[1];
  if (method == by_password && !via.user.empty()) {
    const wiped_string words = login(via);
    sent = co_await s->write_all(words);
    if (!sent) co_return while_doing(doing, sent.error());
    auto verdict = co_await read_exactly(*s, 2);
    if (!verdict) co_return while_doing(doing, verdict.error());
    if ((*verdict)[1] != 0)
      co_return make_fault(errc::refused, doing,
                           "the proxy does not accept the user name and password of its URL");
  } else if (method != no_login) {
    co_return make_fault(errc::refused, doing,
                         via.user.empty()
                             ? "the proxy wants a login; its URL needs a user name and a password"
                             : "the proxy wants another login than a user name and a password");
  }

  const std::string request = connect_request(plan.to);
  sent = co_await s->write_all(request);
  if (!sent) co_return while_doing(doing, sent.error());
  // Version, reply, a reserved byte, the kind of address and the first byte of it.
  auto head = co_await read_exactly(*s, 5);
  if (!head) co_return while_doing(doing, head.error());
  const auto at = [&head](std::size_t i) { return static_cast<unsigned char>((*head)[i]); };
  if (at(0) != socks_version) co_return no_socks();
  if (at(1) != 0)
    co_return make_fault(kind_of(at(1)), doing,
                         "the proxy says that " + std::string(meaning(at(1))));
  std::size_t address_bytes = 0;
  switch (at(3)) {
    case 1: address_bytes = 4; break;
    case 3: address_bytes = std::size_t{1} + at(4); break;
    case 4: address_bytes = 16; break;
    default: co_return no_socks();
  }
  auto rest = co_await read_exactly(*s, address_bytes - 1 + 2);
  if (!rest) co_return while_doing(doing, rest.error());
  co_return s;
}

}  // namespace reactor::http
