#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/http/server.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/time.hpp"

#include <functional>
#include <memory>
#include <string>

namespace reactor {
class task_group;
}

namespace reactor::http {

/// What a connection is waiting for: by this a server that needs room chooses which one it ends.
class connection_place {
public:
  enum class waits_for {
    request,  // nothing of the next one is here
    client,   // to send the rest of it, or to read its answer
    handler,  // the request is being answered
  };
  connection_place(steady_time now, stream& s, std::function<void()> on_waiting)
      : since_(now), stream_(&s), on_waiting_(std::move(on_waiting)) {}

  /// From now on.
  void wait_for(waits_for what, steady_time now) {
    what_ = what;
    since_ = now;
    if (what != waits_for::handler && on_waiting_) on_waiting_();
  }
  void replace(stream& s) noexcept { stream_ = &s; }
  bool can_leave() const noexcept { return what_ != waits_for::handler && !leaving_; }
  /// Before, its bytes may be under way.
  steady_time can_leave_at() const noexcept { return since_ + 250ms; }
  bool leaving() const noexcept { return leaving_; }
  /// Which leaves first. One in the middle of a request counts as a second younger than one
  /// who is silent.
  steady_time rank() const noexcept { return what_ == waits_for::request ? since_ : since_ + 1s; }
  void leave() noexcept {
    leaving_ = true;
    stream_->close();
  }

private:
  waits_for what_ = waits_for::request;
  steady_time since_;
  stream* stream_;
  std::function<void()> on_waiting_;
  bool leaving_ = false;
};

/// Answers the requests of one connection, in order, until either side ends it. Handlers run in
/// `tasks`, which is cancelled before options and handler die.
awaitable<void> serve_connection(loop& l, task_group& tasks, const server_options& options,
                                 const handler& handle, std::unique_ptr<stream> s,
                                 std::string client_name,
                                 std::shared_ptr<connection_place> place);  // borrowed

}  // namespace reactor::http
