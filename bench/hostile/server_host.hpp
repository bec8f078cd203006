#pragma once

#include "bench/hostile/servers.hpp"
#include "reactor/net/certificates.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/net/tls.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/task_group.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace reactor {
class loop;
}

namespace bench::hostile {

/// What a small good API server answers, whole with its head; empty for what is no plain answer (a
/// watch). `uid` names the cluster.
std::string good_answer(std::string_view method, std::string_view target, std::string_view uid);
/// The place that a request belongs to; after_list for what is not attacked by name.
place place_of(std::string_view method, std::string_view target);
bool is_watch(std::string_view target);
std::string bookmark(std::string_view kind, std::string_view version);

/// The authority that hostile servers' certificates are signed by; a cluster behind one trusts it.
const reactor::certified_key& authority();
/// A good certificate for "hostile", "good" and 127.0.0.1.
const reactor::certified_key& good_certificate();

/// Plays a server of the table, or a good one without a script, on the loop's network.
/// Lifetime: loop and behaviour outlive it; co_await stop() before destruction.
class server_host {
public:
  enum class security { plain, tls };
  /// A good server's nodes change every `heartbeat`.
  server_host(reactor::loop& l, const server* behaviour, security s,
              reactor::nanoseconds heartbeat = 5s);
  reactor::result<void> start(reactor::endpoint at);
  reactor::endpoint local() const { return acceptor_->local(); }
  awaitable<void> stop();

  /// Connections open now, the most there were, and how many there were in all.
  std::size_t connections() const noexcept { return open_; }
  std::size_t most_connections() const noexcept { return most_; }
  std::size_t visits() const noexcept { return visits_; }

private:
  awaitable<void> accept();
  awaitable<void> serve(std::unique_ptr<reactor::stream> to);
  awaitable<void> answer_requests(reactor::stream& to);  // borrowed
  awaitable<void> follow(visit& v);                      // borrowed

  reactor::loop& loop_;
  const server* behaviour_;
  security security_;
  reactor::nanoseconds heartbeat_;
  std::string uid_;
  std::unique_ptr<reactor::acceptor> acceptor_;
  std::uint64_t newest_ = 1'000;  // the version of the last change of its nodes
  std::size_t nth_ = 0, lists_ = 0, open_ = 0, most_ = 0, visits_ = 0;
  reactor::task_group tasks_;
};

}  // namespace bench::hostile
