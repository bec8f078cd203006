#pragma once

#include "reactor/net/stream.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace reactor {

class loop;

namespace memory {
struct host;
struct listener;
}  // namespace memory

/// What goes wrong on one connection. "Client" is the side that connected. Byte counts are per
/// direction and from the connection's first byte, so a recorded conversation can be broken at each
/// of its bytes.
struct link_faults {
  nanoseconds latency{0};  // one way
  nanoseconds jitter{0};   // up to this much more, per piece; order is kept
  // 0 = as written, else delivered in random pieces of 1 … this many bytes.
  std::size_t piece_limit_bytes = 0;
  enum class ending { reset, end_of_stream };
  ending cut_as = ending::reset;         // what both sides see when the connection is cut
  std::optional<nanoseconds> cut_after;  // since the connection was made
  std::optional<std::size_t> cut_to_client_after_bytes, cut_to_server_after_bytes;
  double cut_chance = 0;  // per delivered piece
  // half-open: the rest vanishes
  std::optional<std::size_t> lose_to_client_after_bytes, lose_to_server_after_bytes;
};

/// Pipes between the two ends of a program, with faults. Deterministic: all randomness comes from
/// loop.random(), and every byte is delivered by a timer of the loop, in a turn of its own even
/// without latency.
/// Shape     a direction holds 64 KiB, delivered or under way; a writer waits for room. What was
///           lost keeps its room, like bytes that are never acknowledged.
/// Errors    a cut gives connection_reset after what was already delivered; no listener gives
///           connection_refused.
/// Lifetime  the loop outlives it; streams may outlive it.
class memory_network final : public network {
public:
  explicit memory_network(loop& l);
  ~memory_network() override;

  using network::connect;
  awaitable<result<std::unique_ptr<stream>>> connect(endpoint to, steady_time deadline,
                                                     precedence how) override;
  result<std::unique_ptr<acceptor>> listen(endpoint at) override;

  /// The network of a simulated loop. Requires that no other was installed.
  static memory_network& of(loop& l);

  /// Faults of the connections that will be made to `host`; those of "" are the default.
  link_faults& faults(const std::string& host) { return faults_[host]; }
  /// Decides the faults of each new connection after the table above.
  std::function<void(const endpoint& to, link_faults& decided)> on_connect;

  enum class reach {
    open,
    refused,    // connecting fails at once; what is connected stays
    stalled,    // nothing arrives and connecting hangs, until it is open again: then all of it
                // arrives
    blackhole,  // what is sent is lost for good, silently, and connecting hangs
  };
  /// For existing connections to `host` and new ones.
  void set_reach(const std::string& host, reach r);
  /// Cuts the connections to `host` as their faults say; returns how many.
  std::size_t cut_all(const std::string& host);
  /// Cuts every connection, as a restart of the machine would.
  std::size_t cut_everything();
  /// Connections to `host` that have at least one end open.
  std::size_t connections(const std::string& host) const;

private:
  std::shared_ptr<memory::host> host_of(const std::string& name);
  std::shared_ptr<memory::listener> find_listener(const endpoint& to) const;
  link_faults decide(const endpoint& to) const;

  loop& loop_;
  std::map<std::string, link_faults> faults_;
  std::map<std::string, std::shared_ptr<memory::host>> hosts_;
  std::map<endpoint, std::weak_ptr<memory::listener>> listeners_;
  std::uint64_t last_connection_ = 0;
  std::uint16_t last_port_ = 30'000;
};

std::unique_ptr<network> make_memory_network(loop& l);

}  // namespace reactor
