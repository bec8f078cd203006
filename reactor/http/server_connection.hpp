#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/http/server.hpp"
#include "reactor/stream.hpp"

#include <memory>
#include <string>

namespace reactor {
class task_group;
}

namespace reactor::http {

/// Answers the requests of one connection, in order, until either side ends it. Handlers run in
/// `tasks`, which is cancelled before options and handler die.
awaitable<void> serve_connection(loop& l, task_group& tasks, const server_options& options,
                                 const handler& handle, std::unique_ptr<stream> s,
                                 std::string client_name);  // borrowed

}  // namespace reactor::http
