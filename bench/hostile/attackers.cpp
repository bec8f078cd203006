#include "bench/hostile/attackers.hpp"

#include "bench/hostile/callers.hpp"
#include "bench/hostile/server_host.hpp"
#include "bench/hostile/servers.hpp"
#include "reactor/http/server.hpp"
#include "reactor/loop.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

namespace bench::hostile {
namespace {

/// Plays callers when it is asked to.
class conductor {
public:
  explicit conductor(reactor::loop& l)
      : loop_(l), playing_(std::make_unique<reactor::task_group>(l)) {}

  awaitable<void> answer(reactor::http::request r, reactor::http::responder& to) {
    const reactor::http::target_parts target = reactor::http::split_target(r.target);
    if (target.path == "/call") {
      const std::size_t n = std::strtoul(target.get("n").value_or("0").c_str(), nullptr, 10);
      const auto port = static_cast<std::uint16_t>(
          std::strtoul(target.get("port").value_or("0").c_str(), nullptr, 10));
      if (n < callers().size()) playing_->start("caller", play(n, port));
    } else {
      co_await playing_->cancel_and_join();
      playing_ = std::make_unique<reactor::task_group>(loop_);
    }
    reactor::http::response done;
    done.body = "ok\n";
    (void)co_await to.send(std::move(done));
  }

private:
  awaitable<void> play(std::size_t n, std::uint16_t port) {
    call c{loop_, {"127.0.0.1", port}};
    for (;;) {
      (void)co_await callers()[n].run(c);
      co_await loop_.yield();
    }
  }
  reactor::loop& loop_;
  std::unique_ptr<reactor::task_group> playing_;
};

}  // namespace

std::string to_text(const attackers_at& a) {
  std::string text = a.ca_file + " " + std::to_string(a.control);
  for (const std::uint16_t port : a.servers) text += " " + std::to_string(port);
  return text;
}

attackers_at parse_attackers(const std::string& text) {
  attackers_at a;
  std::istringstream in(text);
  in >> a.ca_file >> a.control;
  for (std::uint16_t port = 0; in >> port;) a.servers.push_back(port);
  return a;
}

int run_attackers() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  attackers_at at;
  at.ca_file = "/tmp/windlass-hostile-" + std::to_string(getpid()) + ".pem";
  std::ofstream(at.ca_file) << authority().certificate_pem;
  reactor::loop l;
  std::vector<std::unique_ptr<server_host>> hosts;
  for (const server& s : servers()) {
    hosts.push_back(std::make_unique<server_host>(l, &s, server_host::security::tls));
    if (auto started = hosts.back()->start({"127.0.0.1", 0}); !started) {
      std::fprintf(stderr, "bench: %s\n", started.error().message().c_str());
      return 1;
    }
    at.servers.push_back(hosts.back()->local().port);
  }
  conductor callers_here(l);
  reactor::http::server_options o;
  o.at = {"127.0.0.1", 0};
  reactor::http::server control(l, std::move(o),
                                [&](reactor::http::request r, reactor::http::responder& to) {
                                  return callers_here.answer(std::move(r), to);
                                });
  if (auto started = control.start(); !started) {
    std::fprintf(stderr, "bench: %s\n", started.error().message().c_str());
    return 1;
  }
  at.control = control.local().port;
  std::printf("%s\n", to_text(at).c_str());
  std::fflush(stdout);
  l.run();
  return 0;
}

}  // namespace bench::hostile
