#pragma once

#include "reactor/http/server.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace reactor {
class loop;
}

namespace simulation {

/// A server of small answers: of that name on a simulated network, else on loopback at any port.
std::unique_ptr<reactor::http::server> small_server(
    reactor::loop& l, std::string_view host, std::uint16_t port,
    std::function<reactor::http::response(const reactor::http::request&)> answer);

}  // namespace simulation
