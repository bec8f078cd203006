#include "reactor/http/connection_pool.hpp"

#include "reactor/allowance.hpp"
#include "reactor/http/connect.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/dial_turns.hpp"
#include "reactor/of_loop.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <optional>

namespace reactor::http {
namespace {

/// How long a connection may be held back for the session of the first one.
constexpr nanoseconds session_patience = 1s;

/// How long one waits for its turn at most; none is passed over, so that it takes the network of
/// very many peers to wait for longer.
constexpr nanoseconds turn_patience = 2min;

/// A connection being made.
struct attempt {
  explicit attempt(loop& l) : done(l) {}
  event done;
  nanoseconds waited{0};                                   // for its turn
  std::optional<result<std::unique_ptr<stream>>> outcome;  // none when it was cancelled
};

/// A parameter, because a task that is cancelled before its first turn never runs its body.
struct finishing {
  explicit finishing(std::shared_ptr<attempt> a) : what(std::move(a)) {}
  finishing(finishing&&) noexcept = default;
  finishing& operator=(finishing&&) = delete;
  ~finishing() {
    if (what) what->done.set();
  }
  std::shared_ptr<attempt> what;
};

/// `within`: from its turn on.
awaitable<void> run(loop& l, connect_plan plan, nanoseconds within, finishing shared) {
  const steady_time began = l.now();
  const auto place =
      co_await of_loop<dial_turns>(l).begin(plan.peer.get(), plan.how, began + turn_patience);
  shared.what->waited = l.now() - began;
  if (!place) {
    shared.what->outcome.emplace(make_fault(errc::timed_out, "connect to " + plan.to.text(),
                                            "too many connections are made before it"));
    co_return;
  }
  auto s = co_await connect(l, std::move(plan), l.now() + within);
  shared.what->outcome.emplace(std::move(s));
}

}  // namespace

connection_pool::connection_pool(loop& l, client_options options)
    : loop_(l),
      options_(std::move(options)),
      moments_(l, options_.max_connections),
      streams_(l, options_.max_streams),
      ended_(l),
      introduced_(l),
      peer_(std::make_shared<allowance>()),
      reaper_(l, [this] { reap(); }) {
  new_session();
}

connection_pool::~connection_pool() {
  session_->on_ready = nullptr;
}

void connection_pool::release_permit(request::lasts of) {
  permits& all = permits_of(of);
  if (all.turn.size() > 0) {
    all.turn.wake_one();  // the permit goes along
  } else {
    ++all.left;
  }
}

awaitable<bool> connection_pool::acquire(request::lasts of, steady_time deadline) {
  permits& all = permits_of(of);
  if (all.left > 0) {
    --all.left;
    co_return true;
  }
  const woken how = co_await all.turn.wait(deadline);
  co_return how == woken::by_call;
}

std::unique_ptr<connection> connection_pool::take_idle() {
  while (!idle_.empty()) {
    std::unique_ptr<connection> c = std::move(idle_.back());
    idle_.pop_back();
    // An idle peer has nothing to say: bytes or an end mean that it gave up on us.
    auto n = c->w.try_fill();
    if (n && !*n && c->w.window().empty()) {
      c->reused = true;
      return c;
    }
    --open_;
  }
  return nullptr;
}

void connection_pool::give_back(std::unique_ptr<connection> c, place at) {
  in_use_.erase(at);
  const bool keep = !stopping_ && c->generation == generation_ && c->w.window().empty();
  if (!keep) {
    --open_;
    return;
  }
  c->w.stream().expire_at(never);
  c->idle_since = loop_.now();
  idle_.push_back(std::move(c));
  reap();
}

void connection_pool::drop(std::unique_ptr<connection> c, place at) {
  in_use_.erase(at);
  introduced_as_far_as_it_goes(false);
  c.reset();
  --open_;
}

void connection_pool::drop_idle() {
  open_ -= idle_.size();
  idle_.clear();
  reaper_.clear();
}

steady_time connection_pool::next_close() const {
  const bool is_spare = idle_.size() > options_.max_idle_connections;
  return idle_.front()->idle_since +
         (is_spare ? options_.spare_connection : options_.idle_connection);
}

void connection_pool::reap() {
  while (!idle_.empty() && next_close() <= loop_.now()) {
    --open_;
    idle_.erase(idle_.begin());
  }
  reaper_.set(idle_.empty() ? never : next_close());
}

/// The first connection to an https origin is made alone. Those that are asked for meanwhile wait
/// for the session that it is given, so that a fleet of watches costs each server one certificate's
/// work, not one for each watch.
awaitable<void> connection_pool::wait_for_session(steady_time deadline) {
  const steady_time until = std::min(loop_.now() + session_patience, deadline);
  while (introducing_ && wants_introduction() && loop_.now() < until)
    (void)co_await introduced_.wait(until);
  introducing_ = wants_introduction();
}

bool connection_pool::wants_introduction() const {
  return options_.origin.tls && !no_session_ && !session_->ready(loop_.wall());
}

/// The first connection has got its session, or will not get one any more.
void connection_pool::end_introduction() {
  introducing_ = false;
  introduced_.wake_all();
}

void connection_pool::introduced_as_far_as_it_goes(bool answered) {
  if (!introducing_) return;
  no_session_ = answered && options_.origin.tls;
  end_introduction();
}

void connection_pool::new_session() {
  if (session_) session_->on_ready = nullptr;
  session_ = std::make_shared<tls_resumption>();
  session_->on_ready = [this] {
    if (introducing_) end_introduction();
  };
  no_session_ = false;
}

void connection_pool::replace_tls(tls_settings tls) {
  options_.tls = std::move(tls);
  ++generation_;
  context_.reset();
  new_session();
  drop_idle();
}

awaitable<result<std::unique_ptr<connection>>> connection_pool::open_connection(
    steady_time deadline) {
  co_await wait_for_session(deadline);
  if (stopping_) co_return stopped();
  auto how = plan_connection(options_);
  if (!how) {
    end_introduction();
    co_return how.error();
  }
  how->session = session_;
  how->peer = peer_;
  context_ = how->tls;
  const std::uint64_t made_with = generation_;
  struct counted {
    std::size_t& n;
    bool kept = false;
    ~counted() { n -= kept ? 0 : 1; }
  } count{++open_};
  // A task of its own, so that stop() can end it; it ends with us, too.
  auto shared = std::make_shared<attempt>(loop_);
  struct started {
    task_group& tasks;
    task_group::task_id id;
    ~started() { tasks.cancel(id); }
  } connecting{tasks_, tasks_.start("connect",
                                    run(loop_, std::move(*how),
                                        std::min(options_.connect_timeout, deadline - loop_.now()),
                                        finishing(shared)))};
  if (connecting.id != 0) co_await shared->done.wait();
  if (stopping_ || !shared->outcome) co_return stopped();
  if (!*shared->outcome) {
    end_introduction();
    co_return shared->outcome->error();
  }
  count.kept = true;
  auto made = std::make_unique<connection>(std::move(**shared->outcome), made_with);
  made->waited = shared->waited;
  co_return made;
}

fault connection_pool::stopped() const {
  return make_fault(asio::error::operation_aborted, "request to " + options_.origin.text(),
                    "the client is stopping");
}

void connection_pool::begin_stop() {
  stopping_ = true;
  drop_idle();
}

awaitable<void> connection_pool::stop() {
  begin_stop();
  for (connection* c : in_use_) c->w.stream().close();
  for (permits* all : {&moments_, &streams_})
    while (all->turn.size() > 0) all->turn.wake_one();
  end_introduction();
  co_await tasks_.cancel_and_join();
  while (requests_ > 0) co_await ended_.wait();
}

}  // namespace reactor::http
