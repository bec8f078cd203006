#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/expiry.hpp"
#include "reactor/http/client.hpp"
#include "reactor/http/wire.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

namespace reactor::http {

/// One pooled connection.
struct connection {
  connection(std::unique_ptr<stream> s, std::uint64_t g) : w(std::move(s)), generation(g) {}
  wire w;
  std::uint64_t generation;  // of the TLS settings it was made with
  bool reused = false;
  nanoseconds waited{0};  // for its turn, before it was made
  steady_time idle_since{};
};

/// The connections of a client, shared with its requests under way. They are counted by permits:
/// one per request, so that max_connections bounds both, because a new connection is made only
/// while none is idle. Streams have permits of their own (max_streams).
class connection_pool : public std::enable_shared_from_this<connection_pool> {
public:
  connection_pool(loop& l, client_options options);
  ~connection_pool();
  connection_pool(const connection_pool&) = delete;
  connection_pool& operator=(const connection_pool&) = delete;

  /// The right to use one connection; given back, or handed to the caller that waits longest, at
  /// its end.
  class permit {
  public:
    permit(std::shared_ptr<connection_pool> from, request::lasts of) noexcept
        : from_(std::move(from)), of_(of) {}
    permit(permit&& other) noexcept = default;
    permit& operator=(permit&&) = delete;
    ~permit() {
      if (from_) from_->release_permit(of_);
    }

  private:
    std::shared_ptr<connection_pool> from_;
    request::lasts of_;
  };

  /// False when the deadline came first; else the caller makes a permit of it.
  awaitable<bool> acquire(request::lasts of, steady_time deadline);
  std::size_t most(request::lasts of) const noexcept {
    return of == request::lasts::as_a_stream ? options_.max_streams : options_.max_connections;
  }
  /// The most recently used connection that is still good, so that the others can age; null when
  /// there is none.
  std::unique_ptr<connection> take_idle();
  awaitable<result<std::unique_ptr<connection>>> open_connection(steady_time deadline);

  /// Connections that carry a message; stop() closes them.
  using place = std::list<connection*>::iterator;
  place note_in_use(connection& c) { return in_use_.insert(in_use_.end(), &c); }
  /// The message on it is complete: it can serve another request.
  void give_back(std::unique_ptr<connection> c, place at);
  /// It can serve no request any more.
  void drop(std::unique_ptr<connection> c, place at);
  void drop_idle();

  /// An answer is here, or its connection is gone: a server that offers sessions would have done so
  /// by now.
  void introduced_as_far_as_it_goes(bool answered);
  void replace_tls(tls_settings tls);

  /// A request is under way as long as one of these lives; stop() waits for them.
  class request_under_way {
  public:
    explicit request_under_way(std::shared_ptr<connection_pool> in) : pool_(std::move(in)) {
      ++pool_->requests_;
    }
    ~request_under_way() {
      if (--pool_->requests_ == 0) pool_->ended_.wake_all();
    }
    request_under_way(const request_under_way&) = delete;
    request_under_way& operator=(const request_under_way&) = delete;

  private:
    std::shared_ptr<connection_pool> pool_;
  };

  loop& owner() noexcept { return loop_; }
  const client_options& options() const noexcept { return options_; }
  std::size_t open() const noexcept { return open_; }
  bool is_stopping() const noexcept { return stopping_; }
  /// No new connection from now on, and no idle one.
  void begin_stop();
  awaitable<void> stop();
  fault stopped() const;

private:
  /// The permits of requests, or those of streams.
  struct permits {
    permits(loop& l, std::size_t most) : turn(l), left(most) {}
    waiters turn;
    std::size_t left;
  };
  permits& permits_of(request::lasts of) noexcept {
    return of == request::lasts::as_a_stream ? streams_ : moments_;
  }
  void release_permit(request::lasts of);
  /// When the longest unused one is closed.
  steady_time next_close() const;
  void reap();
  awaitable<void> wait_for_session(steady_time deadline);
  bool wants_introduction() const;
  void end_introduction();
  void new_session();

  loop& loop_;
  client_options options_;
  permits moments_, streams_;
  waiters ended_, introduced_;
  std::shared_ptr<allowance> peer_;
  std::size_t open_ = 0;
  std::size_t requests_ = 0;
  std::uint64_t generation_ = 0;  // of the TLS settings
  bool stopping_ = false;
  bool introducing_ = false;  // the first connection is on its way to a session
  bool no_session_ = false;   // the server offers none
  std::shared_ptr<tls_resumption> session_;
  std::shared_ptr<tls_context> context_;           // kept between connections
  std::vector<std::unique_ptr<connection>> idle_;  // the longest unused first
  expiry reaper_;
  std::list<connection*> in_use_;
  task_group tasks_{loop_};
};

}  // namespace reactor::http
