#include "bench/sender.hpp"

#include "bench/child.hpp"
#include "bench/measure.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/certificates.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace bench {

int run_sender(bool tls,
               const std::function<reactor::http::handler(reactor::loop&)>& make_handler) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the benchmark
  pin_to_core(1);
  reactor::loop l;
  reactor::http::server_options options;
  options.at = {"127.0.0.1", 0};
  options.max_connections = 20'000;
  std::string ca_file;
  if (tls) {
    const auto from = l.wall() - std::chrono::hours(1), until = l.wall() + std::chrono::hours(24);
    auto authority = reactor::make_authority("bench", from, until);
    reactor::certificate_request wanted;
    wanted.common_name = "127.0.0.1";
    wanted.ip_addresses = {"127.0.0.1"};
    wanted.not_before = from;
    wanted.not_after = until;
    auto issued = authority ? reactor::issue_certificate(*authority, wanted) : authority;
    if (!issued) {
      std::fprintf(stderr, "bench: %s\n", issued.error().message().c_str());
      return 1;
    }
    options.tls = std::make_unique<reactor::http::server_tls>();
    options.tls->certificate_pem = issued->certificate_pem;
    options.tls->key_pem = issued->key_pem;
    ca_file = "/tmp/windlass-bench-" + std::to_string(getpid()) + ".pem";
    std::ofstream(ca_file) << authority->certificate_pem;
  }
  reactor::http::server server(l, std::move(options), make_handler(l));
  if (auto started = server.start(); !started) {
    std::fprintf(stderr, "bench: %s\n", started.error().message().c_str());
    return 1;
  }
  std::printf("%s://127.0.0.1:%u %s\n", tls ? "https" : "http", server.local().port,
              ca_file.c_str());
  std::fflush(stdout);
  l.run();
  return 0;
}

k8s::connection sender_connection(child& process) {
  const std::string line = process.read_line();
  const auto space = line.find(' ');
  if (space == std::string::npos) throw std::runtime_error("the sender did not come up");
  k8s::connection to;
  to.server = line.substr(0, space);
  to.source = "bench";
  if (const std::string file = line.substr(space + 1); !file.empty()) {
    std::ifstream in(file);
    to.ca.bytes = reactor::secret(std::string(std::istreambuf_iterator<char>(in), {}));
    unlink(file.c_str());
  }
  return to;
}

}  // namespace bench
