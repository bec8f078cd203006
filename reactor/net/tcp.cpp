#include "reactor/net/tcp.hpp"

#include "reactor/expiry.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/net/metadata_address.hpp"
#include "reactor/system/file_limit.hpp"
#include "reactor/waiters.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace reactor {
namespace {

using tcp = asio::ip::tcp;
using tcp_socket = asio::basic_stream_socket<tcp, executor>;
using tcp_listener = asio::basic_socket_acceptor<tcp, executor>;
using address_list = std::vector<asio::ip::address>;

constexpr auto token = asio::as_tuple(asio::use_awaitable_t<executor>{});

// A silent peer is probed after 10 s and every 3 s; without an answer for 15 s the kernel ends the
// connection, which the next probe notices: 16 s on an idle connection, 15 s on one with bytes
// under way (tcp(7), TCP_USER_TIMEOUT).
constexpr int keepalive_idle_seconds = 10, keepalive_interval_seconds = 3, keepalive_probes = 3;
constexpr unsigned user_timeout_milliseconds = 15'000;

template <class T>
void set_option(int socket, int level, int name, T value) {
  // Each only speeds things up or notices more, so a kernel that lacks one is no reason to fail.
  (void)::setsockopt(socket, level, name, &value, sizeof value);
}

void tune(tcp_socket& socket) {
  const int s = socket.native_handle();
  set_option(s, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(s, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(s, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_seconds);
  set_option(s, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval_seconds);
  set_option(s, IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes);
  set_option(s, IPPROTO_TCP, TCP_USER_TIMEOUT, user_timeout_milliseconds);
}

endpoint to_endpoint(const tcp::endpoint& e) {
  asio::ip::address address = e.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  return {address.to_string(), e.port()};
}

class tcp_stream final : public stream {
public:
  tcp_stream(loop& l, tcp_socket socket, std::string peer)
      : loop_(l),
        socket_(std::move(socket)),
        peer_(std::move(peer)),
        expiry_(l, [this] { cancel(); }) {
    tune(socket_);
    ++loop_.live().streams;
  }
  ~tcp_stream() override {
    close();
    --loop_.live().streams;
  }

  awaitable<result<std::size_t>> read_some(std::span<char> into) override {
    if (auto code = not_usable()) co_return failed(code, "read from ");
    auto [code, n] =
        co_await socket_.async_read_some(asio::buffer(into.data(), into.size()), token);
    if (code == asio::error::eof) co_return std::size_t{0};
    if (code) co_return failed(code, "read from ");
    co_return n;
  }

  awaitable<result<void>> wait_readable() override {
    if (auto code = not_usable()) co_return failed(code, "read from ");
    auto [code] = co_await socket_.async_wait(tcp_socket::wait_read, token);
    if (code) co_return failed(code, "read from ");
    if (!loop_slice::charge(peer_allowance_)) co_await loop_slice::yield();
    co_return result<void>();
  }

  result<std::optional<std::size_t>> try_read(std::span<char> into) override {
    if (auto code = not_usable()) return failed(code, "read from ");
    // A reader that wants more waits for it like for anything else, which lets the others run.
    if (loop_slice::is_over() || is_drained()) return std::optional<std::size_t>();
    for (;;) {
      const ssize_t n = ::recv(socket_.native_handle(), into.data(), into.size(), MSG_DONTWAIT);
      if (n >= 0) {
        if (n > 0 && static_cast<std::size_t>(n) < into.size()) drained_in_ = loop_slice::number();
        loop_slice::spend(static_cast<std::size_t>(n));
        return std::optional<std::size_t>(static_cast<std::size_t>(n));
      }
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return std::optional<std::size_t>();
      return failed(error_code(errno, boost::system::system_category()), "read from ");
    }
  }

  awaitable<result<void>> write_all(std::span<const char> bytes) override {
    // Piece by piece rather than asio::async_write: a deadline that passes between two of its
    // pieces finds nothing to cancel there, and the next piece would wait without one.
    while (!bytes.empty()) {
      if (auto code = not_usable()) co_return failed(code, "write to ");
      auto [code, n] =
          co_await socket_.async_write_some(asio::buffer(bytes.data(), piece(bytes)), token);
      if (code) co_return failed(code, "write to ");
      bytes = bytes.subspan(n);
    }
    co_return result<void>();
  }

  std::size_t try_write(std::span<const char> bytes) noexcept override {
    if (not_usable()) return 0;
    const ssize_t n =
        ::send(socket_.native_handle(), bytes.data(), piece(bytes), MSG_DONTWAIT | MSG_NOSIGNAL);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }

  void expire_at(steady_time deadline) override { expiry_.set(deadline); }

  void close() noexcept override {
    expiry_.clear();
    error_code ignored;
    socket_.close(ignored);
  }

  void charge_to(std::shared_ptr<allowance> peer) override { peer_allowance_ = std::move(peer); }
  std::string peer() const override { return peer_; }

private:
  /// How much of it the kernel is handed at once: it would copy megabytes in one call.
  static std::size_t piece(std::span<const char> bytes) noexcept {
    return std::min(bytes.size(), loop_slice::most_bytes);
  }
  bool is_drained() const noexcept { return drained_in_ && drained_in_ == loop_slice::number(); }
  void cancel() {
    error_code ignored;
    socket_.cancel(ignored);
  }
  error_code not_usable() const {
    if (!socket_.is_open()) return asio::error::operation_aborted;
    return expiry_.expired() ? make_error_code(errc::timed_out) : error_code{};
  }
  fault failed(error_code code, std::string_view doing) const {
    if (code == asio::error::operation_aborted && expiry_.expired()) code = errc::timed_out;
    return make_fault(code, std::string(doing) + peer_);
  }

  loop& loop_;
  tcp_socket socket_;
  std::string peer_;
  std::shared_ptr<allowance> peer_allowance_;
  // the turn in which the kernel had less than was asked for: it is not asked again in it
  std::optional<std::uint64_t> drained_in_;
  expiry expiry_;
};

class tcp_acceptor final : public acceptor {
public:
  tcp_acceptor(loop& l, tcp_listener listener) : loop_(l), listener_(std::move(listener)) {
    error_code ignored;
    local_ = to_endpoint(listener_.local_endpoint(ignored));
    ++loop_.live().streams;
  }
  ~tcp_acceptor() override {
    close();
    --loop_.live().streams;
  }

  awaitable<result<std::unique_ptr<stream>>> accept() override {
    for (;;) {
      if (!listener_.is_open())
        co_return make_fault(asio::error::operation_aborted, "accept on " + local_.text());
      tcp_socket socket(loop_.get_executor());
      tcp::endpoint from;
      auto [code] = co_await listener_.async_accept(socket, from, token);
      if (!code) {
        co_return std::unique_ptr<stream>(
            std::make_unique<tcp_stream>(loop_, std::move(socket), to_endpoint(from).text()));
      }
      if (is_cancelled(code)) co_return make_fault(code, "accept on " + local_.text());
      // accept(2) hands over errors of the one connection that was lost; the listener is still
      // good.
      if (code == asio::error::connection_aborted || code == asio::error::network_down ||
          code == asio::error::host_unreachable || code == asio::error::network_unreachable ||
          code == boost::system::errc::protocol_error)
        continue;
      // Out of descriptors or memory, or whatever else a kernel or its filters think of: nothing
      // but close() ends listening. Until some connection has ended; without it this would spin.
      co_await loop_.sleep_for(100ms);
    }
  }

  endpoint local() const override { return local_; }
  void close() noexcept override {
    error_code ignored;
    listener_.close(ignored);
  }

private:
  loop& loop_;
  tcp_listener listener_;
  endpoint local_;
};

/// Blocks; runs on the worker.
result<address_list> look_up(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (status == EAI_SYSTEM)
    return make_fault(error_code(errno, boost::system::system_category()), "resolve " + host);
  if (status == EAI_NONAME || status == EAI_NODATA)
    return make_fault(errc::not_found, "resolve " + host, ::gai_strerror(status));
  if (status != 0)
    return make_fault(asio::error::host_not_found_try_again, "resolve " + host,
                      ::gai_strerror(status));
  address_list addresses;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    if (a->ai_family == AF_INET) {
      const auto* in = reinterpret_cast<const sockaddr_in*>(a->ai_addr);
      addresses.emplace_back(asio::ip::address_v4(ntohl(in->sin_addr.s_addr)));
    } else if (a->ai_family == AF_INET6) {
      const auto* in = reinterpret_cast<const sockaddr_in6*>(a->ai_addr);
      asio::ip::address_v6::bytes_type bytes;
      std::copy_n(in->sin6_addr.s6_addr, bytes.size(), bytes.begin());
      addresses.emplace_back(asio::ip::address_v6(bytes, in->sin6_scope_id));
    }
  }
  ::freeaddrinfo(found);
  if (addresses.empty())
    return make_fault(errc::not_found, "resolve " + host, "the name has no address");
  // A name is foreign text; a caller that means such an address writes it.
  std::erase_if(addresses, is_metadata_address);
  if (addresses.empty())
    return make_fault(errc::refused, "resolve " + host,
                      "the name leads to an address where clouds keep credentials");
  return addresses;
}

class tcp_network final : public network {
public:
  explicit tcp_network(loop& l) : loop_(l) {}

  awaitable<result<std::unique_ptr<stream>>> connect(endpoint to, steady_time deadline,
                                                     precedence how) override {
    const std::string doing = "connect to " + to.text();
    auto addresses = co_await resolve(to.host, deadline);
    if (!addresses) co_return while_doing(doing, addresses.error());
    fault last = make_fault(errc::timed_out, doing);
    std::string details;
    for (std::size_t i = 0; i < addresses->size(); ++i) {
      const tcp::endpoint address((*addresses)[i], to.port);
      const steady_time now = loop_.now();
      if (now >= deadline) break;
      const auto rest = static_cast<std::int64_t>(addresses->size() - i);
      const steady_time until =
          deadline == never ? now + longest_attempt : now + (deadline - now) / rest;
      tcp_socket socket(loop_.get_executor());
      const error_code code = co_await attempt(socket, address, until, how);
      if (!code) {
        co_return std::unique_ptr<stream>(
            std::make_unique<tcp_stream>(loop_, std::move(socket), to.text()));
      }
      if (is_cancelled(code)) co_return make_fault(code, doing);
      last.code = code;
      if (addresses->size() > 1) {
        if (!details.empty()) details += ", ";
        details += to_endpoint(address).text() + " " + code.message();
      }
    }
    last.detail = details;
    co_return last;
  }

  result<std::unique_ptr<acceptor>> listen(endpoint at) override {
    const std::string doing = "listen on " + at.text();
    error_code code;
    asio::ip::address address;
    const bool any = at.host.empty();
    if (any) {
      address = asio::ip::address_v6::any();
    } else if (at.host == "localhost") {
      address = asio::ip::address_v4::loopback();
    } else {
      address = asio::ip::make_address(at.host, code);
      if (code) return make_fault(errc::refused, doing, "\"" + at.host + "\" is not an IP address");
    }
    tcp_listener listener(loop_.get_executor());
    listener.open(address.is_v6() ? tcp::v6() : tcp::v4(), code);
    if (code && any) {  // a machine without IPv6
      address = asio::ip::address_v4::any();
      listener.open(tcp::v4(), code);
    }
    if (!code && address.is_v6()) listener.set_option(asio::ip::v6_only(!any), code);
    if (!code) listener.set_option(tcp_listener::reuse_address(true), code);
    if (!code) listener.bind(tcp::endpoint(address, at.port), code);
    if (!code) listener.listen(tcp_listener::max_listen_connections, code);
    if (code) return make_fault(code, doing);
    return std::unique_ptr<acceptor>(std::make_unique<tcp_acceptor>(loop_, std::move(listener)));
  }

private:
  static constexpr nanoseconds longest_attempt = 30s;  // where the caller sets no deadline

  /// One look-up that everybody waits for who asks for the same name meanwhile: while a name server
  /// hangs, the workers' queue holds each name once, however often its clusters reconnect.
  struct lookup {
    explicit lookup(loop& l) : done(l) {}
    event done;
    result<address_list> found = address_list();
  };
  using lookups = std::map<std::string, std::shared_ptr<lookup>>;

  awaitable<result<address_list>> resolve(std::string host, steady_time deadline) {
    error_code code;
    const auto literal = asio::ip::make_address(host, code);
    if (!code) co_return address_list{literal};
    auto& running = (*lookups_)[host];
    if (!running) {
      running = std::make_shared<lookup>(loop_);
      const auto job = [](loop& l, const std::string& name, const std::shared_ptr<lookups>& all) {
        l.post([name, found = look_up(name), all] {
          const auto ended = all->extract(name).mapped();
          ended->found = found;
          ended->done.set();
        });
      };
      loop_.start_on_worker(job, std::ref(loop_), host, lookups_);
    }
    const std::shared_ptr<lookup> mine = running;
    const bool done = co_await mine->done.wait(deadline);
    if (!done) co_return make_fault(errc::timed_out, "resolve " + host);
    co_return mine->found;
  }

  awaitable<error_code> attempt(tcp_socket& socket, tcp::endpoint to, steady_time until,
                                precedence how) {  // borrowed
    bool expired = false;
    expiry limit(loop_, [&] {
      expired = true;
      error_code ignored;
      socket.close(ignored);
    });
    error_code code;
    socket.open(to.protocol(), code);
    const std::size_t most =
        how == precedence::essential ? most_essential_connections() : most_connections();
    if (!code && static_cast<std::size_t>(socket.native_handle()) >= most)
      code = make_error_code(boost::system::errc::too_many_files_open);
    if (code) co_return code;
    limit.set(until);
    auto [connected] = co_await socket.async_connect(to, token);
    co_return expired ? make_error_code(errc::timed_out) : connected;
  }

  loop& loop_;
  std::shared_ptr<lookups> lookups_ = std::make_shared<lookups>();
};

}  // namespace

std::unique_ptr<network> make_tcp_network(loop& l) {
  return std::make_unique<tcp_network>(l);
}

}  // namespace reactor
