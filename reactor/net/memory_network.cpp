#include "reactor/net/memory_network.hpp"

#include "reactor/expiry.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/waiters.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

namespace reactor {
namespace memory {

constexpr std::size_t capacity_bytes = 64 * 1024;
constexpr std::size_t max_backlog = 1024;

struct connection;

/// Shared by the network and by the connections to that host.
struct host {
  explicit host(loop& l) : changed(l) {}
  memory_network::reach how = memory_network::reach::open;
  waiters changed;
  std::vector<std::weak_ptr<connection>> connections;
  std::size_t forget_dead_at = 16;
};

/// Bytes from one side to the other.
struct direction {
  explicit direction(loop& l) : readable(l), writable(l) {}
  struct piece {
    enum class kind { bytes, end, cut };
    kind what;
    steady_time when;
    std::string bytes;
  };

  std::size_t held_bytes() const {
    return ready.size() - read_bytes + under_way_bytes + lost_bytes;
  }

  std::string ready;  // delivered; the first read_bytes of it are consumed
  std::size_t read_bytes = 0;
  std::deque<piece> under_way;
  std::size_t under_way_bytes = 0;
  std::size_t lost_bytes = 0;
  std::size_t sent_bytes = 0;
  steady_time last_when{};
  timer_id timer = 0;
  bool ended = false;     // the reader has seen or will see the end
  bool losing = false;    // what is sent from now on is lost
  bool silenced = false;  // what is under way is lost too
  bool cut_queued = false;
  waiters readable, writable;
};

enum side : int { client = 0, server = 1 };
constexpr side other(side s) {
  return s == client ? server : client;
}

/// Both ends of a pipe. Owned by its open ends; timers only observe it.
struct connection : std::enable_shared_from_this<connection> {
  connection(loop& l, std::shared_ptr<host> h, link_faults f)
      : loop_(l), host_(std::move(h)), faults(std::move(f)), sent_by{direction(l), direction(l)} {}
  ~connection() { disarm(); }

  void start() {
    if (faults.cut_after) {
      cut_timer = loop_.timers().arm(loop_.now() + *faults.cut_after, [this] {
        const auto alive = shared_from_this();
        cut();
      });
    }
  }

  void disarm() noexcept {
    loop_.timers().disarm(std::exchange(cut_timer, 0));
    for (direction& d : sent_by) loop_.timers().disarm(std::exchange(d.timer, 0));
  }

  void wake(side s) {
    sent_by[other(s)].readable.wake_all();
    sent_by[s].writable.wake_all();
  }

  /// Takes as many bytes as there is room for.
  std::size_t send(side from, std::span<const char> bytes) {
    direction& d = sent_by[from];
    const std::size_t held = d.held_bytes();
    const std::size_t n = std::min(bytes.size(), capacity_bytes - std::min(capacity_bytes, held));
    if (n == 0) return 0;
    const auto& cut_at =
        from == client ? faults.cut_to_server_after_bytes : faults.cut_to_client_after_bytes;
    const auto& lose_at =
        from == client ? faults.lose_to_server_after_bytes : faults.lose_to_client_after_bytes;
    std::size_t arriving = n;
    if (cut_at) arriving = std::min(arriving, *cut_at - std::min(*cut_at, d.sent_bytes));
    if (lose_at) {
      const std::size_t kept = std::min(arriving, *lose_at - std::min(*lose_at, d.sent_bytes));
      d.lost_bytes += arriving - kept;
      d.losing |= kept < arriving;
      arriving = kept;
    }
    d.sent_bytes += n;
    for (std::size_t done = 0; done < arriving;) {
      std::size_t length = arriving - done;
      if (faults.piece_limit_bytes > 0) {
        const std::size_t most = std::min(length, faults.piece_limit_bytes);
        length = loop_.random().between(std::uint64_t{1}, std::uint64_t{most});
      }
      enqueue(from, direction::piece::kind::bytes, std::string(bytes.data() + done, length));
      done += length;
    }
    if (cut_at && d.sent_bytes >= *cut_at && !std::exchange(d.cut_queued, true))
      enqueue(from, direction::piece::kind::cut, {});
    return n;
  }

  void enqueue(side from, direction::piece::kind what, std::string bytes) {
    direction& d = sent_by[from];
    steady_time when = loop_.now() + faults.latency;
    if (faults.jitter.count() > 0) when += loop_.random().between(nanoseconds(0), faults.jitter);
    d.last_when = when = std::max(when, d.last_when);
    d.under_way_bytes += bytes.size();
    d.under_way.push_back({what, when, std::move(bytes)});
    arm(from);
  }

  void arm(side from) {
    direction& d = sent_by[from];
    if (d.timer != 0 || d.under_way.empty() || host_->how == memory_network::reach::stalled) return;
    // Small enough to be kept without an allocation; destroying this disarms it.
    d.timer = loop_.timers().arm(d.under_way.front().when, [this, from] {
      const auto alive = shared_from_this();
      sent_by[from].timer = 0;
      deliver(from);
    });
  }

  void deliver(side from) {
    direction& d = sent_by[from];
    if (host_->how == memory_network::reach::stalled) return;
    while (!d.under_way.empty() && d.under_way.front().when <= loop_.now()) {
      direction::piece p = std::move(d.under_way.front());
      d.under_way.pop_front();
      d.under_way_bytes -= p.bytes.size();
      if (d.silenced || host_->how == memory_network::reach::blackhole) {
        d.silenced = true;
        d.lost_bytes += p.bytes.size();
        continue;
      }
      if (p.what == direction::piece::kind::cut) return cut();
      if (faults.cut_chance > 0 && loop_.random().fraction() < faults.cut_chance) return cut();
      if (p.what == direction::piece::kind::end) {
        d.ended = true;
      } else if (closed[other(from)]) {  // no reader: the answer to the bytes is a reset
        fail(from, asio::error::connection_reset, asio::error::broken_pipe);
        return;
      } else if (d.ready.empty()) {
        d.ready = std::move(p.bytes);
      } else {
        d.ready += p.bytes;
      }
      d.readable.wake_all();
      if (faults.piece_limit_bytes > 0) break;  // so that the reader sees the pieces apart
    }
    arm(from);
  }

  void fail(side s, error_code reading, error_code writing) {
    if (!read_failure[s]) read_failure[s] = reading;
    if (!write_failure[s]) write_failure[s] = writing;
    wake(s);
  }

  void cut() {
    disarm();
    for (side s : {client, server}) {
      direction& d = sent_by[s];
      d.under_way.clear();
      d.under_way_bytes = 0;
      if (faults.cut_as == link_faults::ending::end_of_stream) d.ended = true;
    }
    for (side s : {client, server})
      fail(s, asio::error::connection_reset, asio::error::connection_reset);
  }

  void close(side s) {
    if (std::exchange(closed[s], true)) return;
    direction& incoming = sent_by[other(s)];
    std::string().swap(incoming.ready);
    incoming.read_bytes = 0;
    wake(s);
    if (closed[other(s)]) return disarm();
    incoming.writable.wake_all();
    if (!write_failure[s] && !sent_by[s].losing) enqueue(s, direction::piece::kind::end, {});
  }

  loop& loop_;
  std::shared_ptr<host> host_;
  link_faults faults;
  direction sent_by[2];
  error_code read_failure[2], write_failure[2];
  bool closed[2] = {false, false};
  timer_id cut_timer = 0;
};

class pipe_end final : public stream {
public:
  pipe_end(loop& l, std::shared_ptr<connection> c, side s, std::string peer)
      : loop_(l), connection_(std::move(c)), side_(s), peer_(std::move(peer)), expiry_(l, [this] {
          connection_->wake(side_);
        }) {
    ++loop_.live().streams;
  }
  ~pipe_end() override {
    close();
    --loop_.live().streams;
  }

  awaitable<result<std::size_t>> read_some(std::span<char> into) override {
    for (;;) {
      if (loop_slice::is_over()) co_await loop_slice::yield();
      auto read = try_read(into);
      if (!read) co_return read.error();
      if (*read) co_return **read;
      co_await incoming().readable.wait();
    }
  }

  awaitable<result<void>> wait_readable() override {
    if (loop_slice::is_over()) co_await loop_slice::yield();
    for (;;) {
      if (auto code = not_usable()) co_return make_fault(code, "read from " + peer_);
      const direction& d = incoming();
      if (d.ready.size() > d.read_bytes || d.ended || connection_->read_failure[side_])
        co_return result<void>();
      co_await incoming().readable.wait();
    }
  }

  result<std::optional<std::size_t>> try_read(std::span<char> into) override {
    if (auto code = not_usable()) return make_fault(code, "read from " + peer_);
    if (loop_slice::is_over()) return std::optional<std::size_t>();
    direction& d = incoming();
    if (const std::size_t n = std::min(into.size(), d.ready.size() - d.read_bytes); n > 0) {
      d.ready.copy(into.data(), n, d.read_bytes);
      d.read_bytes += n;
      if (d.read_bytes == d.ready.size()) {
        d.read_bytes = 0;
        // A burst must not leave its buffer behind on an idle stream.
        if (d.ready.capacity() > 4096)
          std::string().swap(d.ready);
        else
          d.ready.clear();
      }
      d.writable.wake_all();
      loop_slice::spend(n);
      return std::optional<std::size_t>(n);
    }
    if (d.ended) return std::optional<std::size_t>(0);
    if (auto code = connection_->read_failure[side_]) return make_fault(code, "read from " + peer_);
    return std::optional<std::size_t>();
  }

  awaitable<result<void>> write_all(std::span<const char> bytes) override {
    while (!bytes.empty()) {
      if (auto code = not_usable()) co_return make_fault(code, "write to " + peer_);
      if (auto code = connection_->write_failure[side_])
        co_return make_fault(code, "write to " + peer_);
      bytes = bytes.subspan(connection_->send(side_, bytes));
      if (bytes.empty()) break;
      co_await connection_->sent_by[side_].writable.wait();
    }
    co_return result<void>();
  }

  std::size_t try_write(std::span<const char> bytes) noexcept override {
    if (not_usable() || connection_->write_failure[side_]) return 0;
    return connection_->send(side_, bytes);
  }

  void expire_at(steady_time deadline) override { expiry_.set(deadline); }
  void close() noexcept override {
    expiry_.clear();
    connection_->close(side_);
  }
  std::string peer() const override { return peer_; }
  void cut() { connection_->cut(); }

private:
  direction& incoming() { return connection_->sent_by[other(side_)]; }
  error_code not_usable() const {
    if (connection_->closed[side_]) return asio::error::operation_aborted;
    return expiry_.expired() ? make_error_code(errc::timed_out) : error_code{};
  }

  loop& loop_;
  std::shared_ptr<connection> connection_;
  side side_;
  std::string peer_;
  expiry expiry_;
};

struct listener {
  explicit listener(loop& l) : arrived(l) {}
  std::deque<std::unique_ptr<pipe_end>> pending;
  waiters arrived;
  bool closed = false;
};

class pipe_acceptor final : public acceptor {
public:
  pipe_acceptor(loop& l, std::shared_ptr<listener> shared, endpoint at)
      : loop_(l), listener_(std::move(shared)), local_(std::move(at)) {
    ++loop_.live().streams;
  }
  ~pipe_acceptor() override {
    close();
    --loop_.live().streams;
  }

  awaitable<result<std::unique_ptr<stream>>> accept() override {
    for (;;) {
      if (listener_->closed)
        co_return make_fault(asio::error::operation_aborted, "accept on " + local_.text());
      if (!listener_->pending.empty()) {
        std::unique_ptr<stream> first = std::move(listener_->pending.front());
        listener_->pending.pop_front();
        co_return std::move(first);
      }
      co_await listener_->arrived.wait();
    }
  }

  endpoint local() const override { return local_; }
  void close() noexcept override {
    if (std::exchange(listener_->closed, true)) return;
    for (auto& end : listener_->pending) end->cut();
    listener_->pending.clear();
    listener_->arrived.wake_all();
  }

private:
  loop& loop_;
  std::shared_ptr<listener> listener_;
  endpoint local_;
};

namespace {

std::string normal(const std::string& name) {
  if (name == "localhost") return "127.0.0.1";
  if (name == "0.0.0.0" || name == "::") return {};
  return name;
}

}  // namespace
}  // namespace memory

memory_network::memory_network(loop& l) : loop_(l) {}
memory_network::~memory_network() = default;

memory_network& memory_network::of(loop& l) {
  auto* found = dynamic_cast<memory_network*>(&l.net());
  if (found == nullptr) throw std::logic_error("the loop's network is not in memory");
  return *found;
}

std::shared_ptr<memory::host> memory_network::host_of(const std::string& name) {
  auto& found = hosts_[memory::normal(name)];
  if (!found) found = std::make_shared<memory::host>(loop_);
  return found;
}

std::shared_ptr<memory::listener> memory_network::find_listener(const endpoint& to) const {
  for (const std::string& host : {to.host, std::string()}) {
    const auto found = listeners_.find(endpoint{host, to.port});
    if (found == listeners_.end()) continue;
    if (auto l = found->second.lock(); l && !l->closed) return l;
  }
  return nullptr;
}

link_faults memory_network::decide(const endpoint& to) const {
  link_faults decided;
  for (const std::string& host : {to.host, std::string()}) {
    if (const auto found = faults_.find(host); found != faults_.end()) {
      decided = found->second;
      break;
    }
  }
  if (on_connect) on_connect(to, decided);
  return decided;
}

awaitable<result<std::unique_ptr<stream>>> memory_network::connect(endpoint to,
                                                                   steady_time deadline,
                                                                   precedence) {
  const std::string doing = "connect to " + to.text();
  const std::string peer = to.text();
  to.host = memory::normal(to.host);
  const auto host = host_of(to.host);
  link_faults decided = decide(to);
  // There and back; always at least a turn of the loop.
  nanoseconds travel = 2 * decided.latency;
  if (decided.jitter.count() > 0) travel += loop_.random().between(nanoseconds(0), decided.jitter);
  waiters travelling(loop_);
  co_await travelling.wait(std::min(deadline, loop_.now() + travel));
  while (host->how == reach::stalled || host->how == reach::blackhole) {
    const woken how = co_await host->changed.wait(deadline);
    if (how == woken::by_deadline) break;
  }
  if (loop_.now() >= deadline) co_return make_fault(errc::timed_out, doing);
  const auto listener = host->how == reach::open ? find_listener(to) : nullptr;
  if (!listener || listener->pending.size() >= memory::max_backlog)
    co_return make_fault(asio::error::connection_refused, doing);

  auto made = std::make_shared<memory::connection>(loop_, host, std::move(decided));
  made->start();
  if (host->connections.size() >= host->forget_dead_at) {
    std::erase_if(host->connections, [](const auto& weak) { return weak.expired(); });
    host->forget_dead_at = 16 + 2 * host->connections.size();
  }
  host->connections.push_back(made);
  const std::string from = "memory:" + std::to_string(++last_connection_);
  listener->pending.push_back(
      std::make_unique<memory::pipe_end>(loop_, made, memory::server, from));
  listener->arrived.wake_one();
  co_return std::unique_ptr<stream>(
      std::make_unique<memory::pipe_end>(loop_, made, memory::client, peer));
}

result<std::unique_ptr<acceptor>> memory_network::listen(endpoint at) {
  const endpoint asked = at;
  at.host = memory::normal(at.host);
  std::erase_if(listeners_, [](const auto& entry) {
    const auto l = entry.second.lock();
    return !l || l->closed;
  });
  if (at.port == 0) {
    do {
      at.port = ++last_port_ == 0 ? last_port_ = 30'000 : last_port_;
    } while (listeners_.contains(at));
  }
  auto shared = std::make_shared<memory::listener>(loop_);
  if (!listeners_.emplace(at, shared).second)
    return make_fault(asio::error::address_in_use, "listen on " + asked.text());
  return std::unique_ptr<acceptor>(std::make_unique<memory::pipe_acceptor>(
      loop_, std::move(shared), endpoint{asked.host, at.port}));
}

void memory_network::set_reach(const std::string& name, reach r) {
  const auto host = host_of(name);
  host->how = r;
  host->changed.wake_all();
  for (const auto& weak : host->connections) {
    const auto c = weak.lock();
    if (!c) continue;
    c->arm(memory::client);
    c->arm(memory::server);
  }
}

std::size_t memory_network::cut_all(const std::string& name) {
  std::size_t n = 0;
  for (const auto& weak : host_of(name)->connections) {
    if (const auto c = weak.lock()) {
      c->cut();
      ++n;
    }
  }
  return n;
}

std::size_t memory_network::cut_everything() {
  std::size_t n = 0;
  for (const auto& [name, host] : hosts_) n += cut_all(name);
  return n;
}

std::size_t memory_network::connections(const std::string& name) const {
  const auto found = hosts_.find(memory::normal(name));
  if (found == hosts_.end()) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(
      found->second->connections, [](const auto& weak) { return !weak.expired(); }));
}

std::unique_ptr<network> make_memory_network(loop& l) {
  return std::make_unique<memory_network>(l);
}

}  // namespace reactor
