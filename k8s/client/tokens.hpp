#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/plain/time.hpp"

#include <chrono>

namespace k8s {

class client;

namespace resources {
const resource& service_accounts();
}

/// A token as a server gave it out. Its life is counted by our clock from the moment it was asked
/// for, so that a server whose clock is wrong shortens nothing.
struct issued_token {
  reactor::secret text;
  reactor::wall_time issued{}, expires{};
};

/// A token for a service account of that server (TokenRequest). It may live shorter than asked for:
/// the server's operator can set a limit. Errors: forbidden, not_found (the account), invalid (less
/// than ten minutes); malformed. `asked_at` is now, by our clock.
awaitable<result<issued_token>> request_token(client& api, object_key account,  // borrowed
                                              std::chrono::seconds life,
                                              reactor::wall_time asked_at);

}  // namespace k8s
