#include "reactor/loop.hpp"

#include "reactor/allowance.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/net/memory_network.hpp"
#include "reactor/net/tcp.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/plain/thread_time.hpp"
#include "reactor/system/kernel_watches.hpp"
#include "reactor/waiters.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace reactor {
namespace {

/// Enough that one hanging name server does not hold up the other offloaded work.
constexpr std::size_t worker_threads = 4;

/// Where virtual wall time starts: 2026-01-01T00:00:00Z.
constexpr wall_time virtual_epoch{std::chrono::seconds(1'767'225'600)};

/// Callbacks are measured together until they took that long: to ask for processor time costs as
/// much as a small one of them takes.
constexpr nanoseconds measured_together = 50us;

/// Jobs draw their moments from a sequence of their own: how many there are changes nothing else
/// that is drawn.
constexpr std::uint64_t salt_of_moments = 0x6a6f'6273'6a6f'6273;

/// How many callbacks of others come before a job at most, where it takes no time.

/// What Asio has the kernel watch for it.
constexpr std::size_t wake_ups_and_timers = 2;

/// The loop that this thread runs now. A second one inside it would hear neither the signals nor
/// the cancellations that are meant for the first, and would hold up everything that the first has
/// to do.
thread_local const loop* running_here = nullptr;

void refuse_a_second_one() {
  if (running_here)
    throw std::logic_error(
        "a loop of this thread is running: what waits in it awaits, and does not run another");
}

/// What a job has left on the stack of its thread: copies of secrets, too. The dynamic linker saves
/// there the vector registers, which hold what was copied last, at each first call between two
/// libraries; ours are bound at the start, those of others are not.
[[gnu::noinline]] void wipe_stack() noexcept {
  char left[64 * 1024];
  wipe(left, sizeof left);
}

struct marked_as_running {
  explicit marked_as_running(const loop& l) {
    refuse_a_second_one();
    running_here = &l;
  }
  ~marked_as_running() { running_here = nullptr; }
  marked_as_running(const marked_as_running&) = delete;
  marked_as_running& operator=(const marked_as_running&) = delete;
};

}  // namespace

/// A stop() ends one run, the present one or else the next; also when an exception ends it.
struct loop::served_stop {
  bool& stopped;
  ~served_stop() {
    stopped = false;
    loop_slice::begin(nullptr);
  }
};

struct loop::real_parts {
  using timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                           asio::wait_traits<std::chrono::steady_clock>, executor>;
  /// asio::thread_pool waits for ever for its first thread where the second cannot be started.
  /// Fewer do as well.
  explicit real_parts(executor e) : wakeup(e) { start(ours, worker_threads); }
  ~real_parts() { join(); }
  real_parts(const real_parts&) = delete;
  real_parts& operator=(const real_parts&) = delete;

  struct pool {
    asio::io_context workers;
    asio::executor_work_guard<asio::io_context::executor_type> more_may_come{
        workers.get_executor()};
    std::vector<std::thread> threads;
  };
  static void start(pool& p, std::size_t count) {
    for (std::size_t i = p.threads.size(); i < count; ++i) {
      try {
        p.threads.emplace_back([&p] { p.workers.run(); });
      } catch (const std::system_error&) {
        if (p.threads.empty()) throw;
        break;
      }
    }
  }
  /// What was handed over is done first.
  void join() {
    for (pool* p : {&ours, &strangers}) {
      p->more_may_come.reset();
      for (std::thread& t : p->threads)
        if (t.joinable()) t.join();
    }
  }
  /// Hands a job over. `kept` keeps run() going until it has come back.
  template <class Kept>
  void hand_over(of whose, std::function<void()> job, Kept kept) {
    pool& to = whose == of::ours ? ours : strangers;
    if (whose == of::strangers) start(to, 1);
    {
      const std::scoped_lock lock(counting);
      ++unfinished;
    }
    asio::post(to.workers, [this, job = std::move(job), kept = std::move(kept)]() mutable {
      job();
      job = nullptr;
      wipe_stack();
      const std::scoped_lock lock(counting);
      --unfinished;
      fewer.notify_all();
    });
  }
  timer wakeup;
  pool ours, strangers;
  std::mutex counting;
  std::condition_variable fewer;
  std::size_t unfinished = 0;
};

loop::loop(mode m, std::uint64_t seed)
    : mode_(m),
      // One thread runs it. A simulated one has no others beside it, and takes no locks.
      context_(std::make_unique<asio::io_context>(
          m == mode::simulated ? BOOST_ASIO_CONCURRENCY_HINT_UNSAFE : 1)),
      later_(std::make_unique<waiters>(*this)),
      moments_(seed ^ salt_of_moments) {
  if (simulated()) {
    virtual_now_ = steady_time(1h);
    entropy_ = std::make_unique<seeded_entropy>(seed);
    network_ = make_memory_network(*this);
  } else {
    refuse_a_second_one();
    entropy_ = std::make_unique<system_entropy>();
    const kernel_watches before = look_at_kernel_watches();
    real_ = std::make_unique<real_parts>(get_executor());
    const kernel_watches made = look_at_kernel_watches(before.pollers);
    if (!made.pollers.empty() && made.watched < wake_ups_and_timers)
      throw std::system_error(ENOMEM, std::system_category(), "the kernel refused to watch timers");
    timers_.on_next_changed = [this] { arm_real_timer(); };
    network_ = make_tcp_network(*this);
  }
  health_.since = now();
}

loop::~loop() {
  ending_ = true;
  if (real_) real_->join();
  // As threads would: what was handed over is done, though no caller waits for it.
  while (!aside_.empty()) finish(aside_.begin()->first);
  later_.reset();
  timers_.on_next_changed = nullptr;
  real_.reset();
  network_.reset();
  // Suspended coroutines die with the context and may still touch timers and counts, so it goes
  // before those.
  context_.reset();
}

steady_time loop::now() const noexcept {
  return simulated() ? virtual_now_ : steady_time(std::chrono::steady_clock::now());
}

wall_time loop::wall() const noexcept {
  return simulated() ? virtual_epoch + virtual_now_.time_since_epoch() + wall_shift_
                     : wall_time(std::chrono::system_clock::now());
}

void loop::arm_real_timer() {
  const steady_time next = timers_.next();
  if (next == never) {
    real_->wakeup.cancel();
    return;
  }
  real_->wakeup.expires_at(std::chrono::time_point_cast<std::chrono::steady_clock::duration>(next));
  real_->wakeup.async_wait([this](const error_code& ec) {
    if (ec) return;
    while (!loop_slice::is_over() && timers_.fire_one(now())) loop_slice::spend();
    arm_real_timer();
  });
}

void loop::run() {
  if (simulated()) {
    run_until(never);
    return;
  }
  const marked_as_running now_running(*this);
  const served_stop at_end{stopped_};
  context_->restart();
  nanoseconds before = thread_cpu();
  steady_time measured = now();
  nanoseconds unmeasured{0};
  loop_slice::begin(this);
  while (!stopped_) {
    // Asking without waiting costs a look at the kernel, so only where a coroutine has given way.
    if ((later_->size() > 0 ? context_->poll_one() : context_->run_one()) == 0) {
      if (run_a_later_one()) continue;
      break;
    }
    ++health_.callbacks;
    const steady_time ended = now();
    if (!charged_ && ended - measured < measured_together) {
      unmeasured = ended - measured;
      loop_slice::begin(this);
      continue;
    }
    // Processor time, because run_one also sleeps in epoll.
    const nanoseconds after = thread_cpu();
    const nanoseconds took = after - before;
    before = after;
    measured = ended;
    health_.busy += took;
    if (took > health_.longest_stall) health_.longest_stall = took;
    if (took > loop_health::a_stall) ++health_.stalls;
    spent_ += took;
    if (charged_)
      std::exchange(charged_, nullptr)->use(std::max(took - unmeasured, nanoseconds(0)));
    unmeasured = {};
    if (later_->size() > 0 && (ahead_ += took) >= loop_slice::most_ahead) run_a_later_one();
    loop_slice::begin(this);
  }
}

/// The one that has waited longest is made ready. False when there is none.
bool loop::run_a_later_one() {
  if (later_->size() == 0) return false;
  if (context_->stopped()) context_->restart();
  ahead_ = {};
  callbacks_ahead_ = 0;
  later_->wake_one();
  return true;
}

void loop::run_until(steady_time until) {
  const marked_as_running now_running(*this);
  const served_stop at_end{stopped_};
  for (;;) {
    while (!stopped_ && poll_simulated()) {
    }
    if (stopped_) return;
    const steady_time next = timers_.next();
    if (next == never || next > until) {
      if (until != never && until > virtual_now_) virtual_now_ = until;
      return;
    }
    if (next > virtual_now_) virtual_now_ = next;
    timers_.fire_one(virtual_now_);
  }
}

/// One callback that is ready, or else of one that gave way; none when only a timer is left.
bool loop::poll_simulated() {
  // "out of work" is not the end: a timer may make some
  if (context_->stopped()) context_->restart();
  if (later_->size() > 0 && ++callbacks_ahead_ > loop_slice::most_ahead_callbacks)
    run_a_later_one();
  loop_slice::begin(this);
  if (context_->poll_one() == 0 && (!run_a_later_one() || context_->poll_one() == 0)) return false;
  ++health_.callbacks;
  return true;
}

bool loop::run_one() {
  if (poll_simulated()) return true;
  const steady_time next = timers_.next();
  if (next == never) return false;
  if (next > virtual_now_) virtual_now_ = next;
  return timers_.fire_one(virtual_now_);
}

void loop::stop() noexcept {
  stopped_ = true;
  if (!simulated()) context_->stop();
}

void loop::post(std::function<void()> f) {
  asio::post(get_executor(), std::move(f));
}

awaitable<void> loop::sleep_for(nanoseconds d) {
  return sleep_until(now() + d);
}

awaitable<void> loop::sleep_until(steady_time t) {
  waiters alone(*this);
  co_await alone.wait(t);
}

awaitable<void> loop::yield() {
  co_await asio::post(get_executor(), asio::use_awaitable_t<executor>{});
}

awaitable<void> loop::run_on_worker(of whose, std::function<void()> job) {
  if (simulated() && !jobs_take_time()) {
    job();
    co_await yield();
    co_return;
  }
  auto done = std::make_shared<event>(*this);
  std::function<void()> whole = [this, job = std::move(job), done] {
    job();
    post([done] { done->set(); });
  };
  run_aside(std::move(whole), whose);
  co_await done->wait();
}

void loop::run_aside(std::function<void()> job, of whose) {
  if (jobs_take_time() && !ending_) {
    const std::uint64_t number = ++jobs_;
    aside_.emplace(number, std::move(job));
    timers_.arm(now() + moments_.between(nanoseconds(0), longest_job_),
                [this, number] { finish(number); });
    return;
  }
  // At once where jobs take no time, and where the loop ends: what its last coroutines owned is
  // given back.
  if (!real_) return job();
  real_->hand_over(whose, std::move(job),
                   asio::prefer(get_executor(), asio::execution::outstanding_work.tracked));
}

bool loop::finish_jobs(nanoseconds within) {
  if (!real_) return true;
  std::unique_lock lock(real_->counting);
  return real_->fewer.wait_for(lock, within, [this] { return real_->unfinished == 0; });
}

/// Runs a job that was handed over, unless it ran already.
void loop::finish(std::uint64_t job) {
  auto found = aside_.extract(job);
  if (!found.empty()) found.mapped()();
}

std::shared_ptr<entropy> loop::entropy_for_worker() {
  if (simulated()) return std::make_shared<seeded_entropy>(entropy_->next());
  return std::make_shared<system_entropy>();
}

worker_clock loop::clock_for_worker() const noexcept {
  return simulated() ? worker_clock(now().time_since_epoch()) : worker_clock();
}

loop_health loop::take_health() noexcept {
  const loop_health taken = health_;
  health_ = {};
  health_.since = now();
  return taken;
}

}  // namespace reactor
