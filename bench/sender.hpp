#pragma once

#include "k8s/client/kubeconfig.hpp"
#include "reactor/http/server.hpp"

#include <functional>
#include <string>

namespace bench {

class child;

/// The sender's process: serves on a loopback port of its choice, pinned to the last core, until it
/// is killed. Prints its URL and, with TLS, the path of its CA certificate as the first line.
int run_sender(bool tls, const std::function<reactor::http::handler(reactor::loop&)>& make_handler);

/// How to connect to the sender behind `process`; reads its first line. Throws std::runtime_error
/// when it did not come up.
k8s::connection sender_connection(child& process);

}  // namespace bench
