#include "simulation/small_server.hpp"

#include "reactor/loop.hpp"

#include <string>
#include <utility>

namespace simulation {
namespace {

constexpr std::size_t most_request_bytes = 16UL * 1024;

}  // namespace

std::unique_ptr<reactor::http::server> small_server(
    reactor::loop& l, std::string_view host, std::uint16_t port,
    std::function<reactor::http::response(const reactor::http::request&)> answer) {
  reactor::http::server_options o;
  o.at = l.simulated() ? reactor::endpoint{std::string(host), port}
                       : reactor::endpoint{"127.0.0.1", 0};
  o.max_connections = 50;
  o.header_limit_bytes = o.body_limit_bytes = most_request_bytes;
  return std::make_unique<reactor::http::server>(
      l, std::move(o),
      [answer = std::move(answer)](reactor::http::request r,
                                   reactor::http::responder& to) -> reactor::awaitable<void> {
        reactor::http::response out = answer(r);
        (void)co_await to.send(std::move(out));
      });
}

}  // namespace simulation
