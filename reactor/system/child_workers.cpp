// One process from its start to its end, and whose turn it is: they share the pipes, the limits and
// why a child was ended, so this file is long.
#include "reactor/system/child_workers.hpp"

#include "reactor/expiry.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/plain/memory.hpp"
#include "reactor/plain/spawn.hpp"
#include "reactor/system/descriptor.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <limits>
#include <span>
#include <utility>

namespace reactor {
namespace {

using descriptor = asio::posix::basic_stream_descriptor<executor>;
constexpr auto token = asio::as_tuple(asio::use_awaitable_t<executor>{});

constexpr const char* doing = "work on a chart in a process of its own";

constexpr std::size_t length_bytes = 8;
/// The kernel's default is 64 KiB, and each pipe full costs a turn of the loop.
constexpr int pipe_bytes = 1 << 20;
/// A pipe is read and written this much at a time, so that a large job does not hold up the loop.
constexpr std::size_t piece_bytes = 128u << 10;
/// How long a child that was killed, or has closed its pipe, may take to be gone.
constexpr nanoseconds gone_within = 2s;

error_code system_code() {
  return {errno, boost::system::system_category()};
}

std::array<char, length_bytes> written_length(std::uint64_t n) {
  std::array<char, length_bytes> out{};
  for (std::size_t i = 0; i < length_bytes; ++i) out[i] = static_cast<char>(n >> (8 * i));
  return out;
}
std::uint64_t read_length(const std::string& bytes) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    n |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return n;
}

/// What the status of a child that has ended says.
struct said {
  child_end why;
  std::string sentence;
};
said said_by(int status) {
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGXCPU)
      return {child_end::processor, "the child process was stopped at its limit of processor time"};
    return {child_end::signal,
            "the child process was ended by signal " + std::to_string(WTERMSIG(status))};
  }
  if (WEXITSTATUS(status) == child_lost_memory)
    return {child_end::memory, "the child process ran out of memory"};
  if (WEXITSTATUS(status) == child_not_confined)
    return {child_end::start, "the child process could not shut itself in"};
  return {child_end::exit,
          "the child process ended with exit status " + std::to_string(WEXITSTATUS(status))};
}

/// The memory of a process that it shares with none; as much as can be where the kernel does not
/// say.
std::size_t own_bytes_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/statm");
  std::size_t size = 0, resident = 0, shared = 0;
  if (!(in >> size >> resident >> shared) || shared > resident)
    return std::numeric_limits<std::size_t>::max();
  return (resident - shared) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

bool has_retired_by(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == child_retired;
}

}  // namespace

std::string_view to_string(child_end why) noexcept {
  constexpr std::array<std::string_view, 8> words{"time",   "processor", "memory", "answer",
                                                  "signal", "exit",      "start",  "abandoned"};
  return words[static_cast<std::size_t>(why)];
}

/// One process. Its pending operations keep it alive.
class child_workers::child : public std::enable_shared_from_this<child> {
public:
  child(loop& l, pid_t pid)
      : changed(l),
        loop_(l),
        pid_(pid),
        process_(l.get_executor()),
        to_(l.get_executor()),
        from_(l.get_executor()) {
    ++loop_.live().streams;
  }
  ~child() {
    if (!exited_) {  // only when the loop ends before us
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, WNOHANG);
    }
    --loop_.live().streams;
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  error_code take(int pidfd, int to, int from) {
    error_code failed;
    const std::initializer_list<std::pair<descriptor*, int>> all = {
        {&process_, pidfd}, {&to_, to}, {&from_, from}};
    for (const auto& [into, fd] : all) {
      if (!failed) into->assign(fd, failed);
      if (failed) ::close(fd);
    }
    if (!failed) await_end();
    return failed;
  }

  /// The processor time of one more job: SIGXCPU ends the child that takes more.
  void allow(nanoseconds processor) {
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return;
    rlimit most{};
    if (::prlimit(pid_, RLIMIT_CPU, nullptr, &most) != 0) return;
    // The limit is in whole seconds.
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(processor).count();
    most.rlim_cur = std::min(static_cast<rlim_t>(used.tv_sec + seconds + 1), most.rlim_max);
    (void)::prlimit(pid_, RLIMIT_CPU, &most, nullptr);
  }

  bool has_spoken() {
    int there = 0;
    return ::ioctl(from_.native_handle(), FIONREAD, &there) == 0 && there > 0;
  }

  awaitable<error_code> write(std::span<const char> bytes) {  // borrowed
    while (!bytes.empty()) {
      const std::size_t n = std::min(bytes.size(), piece_bytes);
      auto [code, done] = co_await to_.async_write_some(asio::buffer(bytes.data(), n), token);
      if (code) co_return code;
      bytes = bytes.subspan(done);
      loop_slice::spend(done);
      if (loop_slice::is_over()) co_await loop_slice::yield();
    }
    co_return error_code();
  }

  /// Memory is touched as bytes come, not as many as the child says there will be.
  awaitable<error_code> read(std::string& into, std::size_t size) {  // borrowed
    std::string piece(std::min(size, piece_bytes), '\0');
    while (into.size() < size) {
      const std::size_t n = std::min(size - into.size(), piece.size());
      auto [code, done] = co_await from_.async_read_some(asio::buffer(piece.data(), n), token);
      if (code) co_return code;
      into.append(piece, 0, done);
      loop_slice::spend(done);
      if (loop_slice::is_over()) co_await loop_slice::yield();
    }
    co_return error_code();
  }

  void kill() {
    if (!exited_) ::kill(pid_, SIGKILL);
    error_code ignored;
    to_.close(ignored);
    from_.close(ignored);
  }

  awaitable<void> wait_until_gone() {
    const steady_time until = loop_.now() + gone_within;
    while (!exited_ && loop_.now() < until) co_await changed.wait(until);
  }

  bool is_gone() const noexcept { return exited_; }
  int status() const noexcept { return status_; }
  pid_t pid() const noexcept { return pid_; }

  waiters changed;
  bool at_work = false;
  std::string owner;           // of its jobs
  std::uint64_t last_job = 0;  // its number among all; 0: it has done none

private:
  void await_end() {
    process_.async_wait(descriptor::wait_read, [self = shared_from_this()](const error_code& code) {
      if (code == asio::error::operation_aborted) return;
      if (code) ::kill(self->pid_, SIGKILL);  // or waiting for it would stop the loop
      siginfo_t info{};
      const bool there =
          !code &&
          ::waitid(P_PID, static_cast<id_t>(self->pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          info.si_pid == 0;
      if (there) return self->await_end();
      while (::waitpid(self->pid_, &self->status_, 0) < 0 && errno == EINTR) {
      }
      self->exited_ = true;
      self->changed.wake_all();
    });
  }

  loop& loop_;
  const pid_t pid_;
  descriptor process_, to_, from_;
  int status_ = 0;
  bool exited_ = false;
};

/// While a job is under way, within its limits. When its caller leaves before the answer, the child
/// is ended.
class child_workers::turn_of_a_child {
public:
  /// What came of it: an answer, or why there is none.
  struct ending {
    std::optional<std::string> answer;
    said why{};
    bool has_retired = false;  // before it began
  };
  turn_of_a_child(child_workers& of, std::shared_ptr<child> c)
      : of_(of), child_(std::move(c)), limit_(of.loop_, [this] {
          too_late_ = true;
          child_->kill();
        }) {
    child_->at_work = true;
    ++of_.working_;
    child_->allow(of_.options_.processor);
    limit_.set(of_.loop_.now() + of_.options_.wall);
  }
  ~turn_of_a_child() {
    --of_.working_;
    child_->at_work = false;
    if (!answered_ || child_->owner.empty()) of_.drop(child_);
    if (!answered_ && !told_)
      (void)of_.ended(child_end::abandoned, "the caller of the child process's job is gone");
    of_.free_.wake_all();
  }
  turn_of_a_child(const turn_of_a_child&) = delete;
  turn_of_a_child& operator=(const turn_of_a_child&) = delete;

  /// False where the child is gone.
  awaitable<bool> send(const std::string& bytes) {  // borrowed
    const auto head = written_length(bytes.size());
    error_code code = co_await child_->write(head);
    if (!code) code = co_await child_->write(bytes);
    co_return !code;
  }
  awaitable<ending> answer() {
    std::string length, bytes;
    error_code code = co_await child_->read(length, length_bytes);
    if (code) co_return co_await end(length.empty());
    const std::uint64_t size = read_length(length);
    const std::size_t most = of_.options_.longest_answer_bytes;
    if (size > most)
      co_return because(child_end::answer, "the answer of the child process has more than " +
                                               std::to_string(most) + " bytes");
    if (!memory_allows([&] { bytes.reserve(static_cast<std::size_t>(size)); }))
      co_return because(child_end::answer,
                        "there is no memory for the answer of the child process");
    code = co_await child_->read(bytes, static_cast<std::size_t>(size));
    if (code) co_return co_await end(false);
    limit_.clear();
    answered_ = true;
    ending out;
    out.answer = std::move(bytes);
    co_return out;
  }
  /// Why the child is gone.
  awaitable<ending> end(bool is_silent) {
    if (too_late_)
      co_return because(child_end::time, "the child process was stopped after " +
                                             format_duration(of_.options_.wall));
    // It closed its end of the pipe: whatever else it does, it is at its end.
    co_await child_->wait_until_gone();
    if (!child_->is_gone())
      co_return because(child_end::answer, "the child process closed its pipe without an answer");
    ending out;
    out.why = said_by(child_->status());
    out.has_retired = is_silent && has_retired_by(child_->status());
    co_return out;
  }
  fault failed(said is) {
    told_ = true;
    return of_.ended(is.why, std::move(is.sentence));
  }
  /// This end is not told.
  void pass_over() noexcept { told_ = true; }

private:
  static ending because(child_end why, std::string sentence) {
    ending out;
    out.why = {why, std::move(sentence)};
    return out;
  }
  child_workers& of_;
  std::shared_ptr<child> child_;
  expiry limit_;
  bool too_late_ = false, answered_ = false, told_ = false;
};

class child_workers::stream_to_a_child final : public foreign_stream {
public:
  stream_to_a_child(child_workers& of, std::shared_ptr<child> c) : turn_(of, std::move(c)) {}
  awaitable<result<void>> put(std::string piece) override {
    if (piece.empty()) co_return result<void>();
    const bool sent = co_await turn_.send(piece);
    if (sent) co_return result<void>();
    turn_of_a_child::ending gone = co_await turn_.end(false);
    co_return turn_.failed(std::move(gone.why));
  }
  awaitable<result<std::string>> finish() override {
    const std::string nothing;
    (void)co_await turn_.send(nothing);
    turn_of_a_child::ending e = co_await turn_.answer();
    if (e.answer) co_return std::move(*e.answer);
    co_return turn_.failed(std::move(e.why));
  }

private:
  turn_of_a_child turn_;
};

child_workers::child_workers(loop& l, options o) : loop_(l), options_(std::move(o)), free_(l) {}

child_workers::~child_workers() = default;

fault child_workers::ended(child_end why, std::string sentence) {
  if (options_.on_end && !stopping_) options_.on_end(why, sentence);
  const errc code = why == child_end::time || why == child_end::processor ? errc::timed_out
                    : why == child_end::answer                            ? errc::malformed
                                                                          : errc::closed;
  return make_fault(code, doing, sentence);
}

void child_workers::drop(std::shared_ptr<child> c) {
  c->kill();
  if (std::erase(children_, c) > 0) going_.push_back(std::move(c));
}

namespace {

/// The ends of both pipes as a child has them, and a place for what it complains of.
struct ends_for_child {
  int job[2] = {-1, -1}, answer[2] = {-1, -1}, nothing = -1;
  ends_for_child() = default;
  ~ends_for_child() {
    for (const int fd : {job[0], job[1], answer[0], answer[1], nothing})
      if (fd >= 0) ::close(fd);
  }
  ends_for_child(const ends_for_child&) = delete;
  ends_for_child& operator=(const ends_for_child&) = delete;
  bool open() {
    nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing < 0 || ::pipe2(job, O_CLOEXEC) != 0 || ::pipe2(answer, O_CLOEXEC) != 0)
      return false;
    // Only faster; the kernel may have no more to give to us.
    (void)::fcntl(job[1], F_SETPIPE_SZ, pipe_bytes);
    (void)::fcntl(answer[0], F_SETPIPE_SZ, pipe_bytes);
    return true;
  }
};

}  // namespace

/// Those that are gone, or have said what was not asked, are children no more.
void child_workers::look_after() {
  std::erase_if(children_, [this](const std::shared_ptr<child>& c) {
    if (c->at_work) return false;
    if (!c->is_gone() && c->has_spoken()) {  // what is there already would answer another job
      c->kill();
      (void)ended(child_end::answer, "the child process spoke without being asked");
      return true;
    }
    if (!c->is_gone()) return false;
    c->kill();
    if (has_retired_by(c->status())) return true;
    const said is = said_by(c->status());
    (void)ended(is.why, is.sentence + ", without a job");
    return true;
  });
  std::erase_if(going_, [](const std::shared_ptr<child>& c) { return c->is_gone(); });
}

/// Starts as many as there may be. Errors: one cannot be started, and there is no other.
result<void> child_workers::fill_up() {
  while (children_.size() < options_.count) {
    ends_for_child ends;
    const auto failed = [&](const error_code& code) -> fault {
      return ended(child_end::start, "the child process cannot be started: " + code.message());
    };
    if (!ends.open()) return failed(system_code());
    spawn_request r;
    r.argv = options_.argv;
    r.environment.emplace();
    r.in = ends.job[0];
    r.out = ends.answer[1];
    r.err = ends.nothing;
    const auto pid = spawn(std::move(r));
    if (!pid) {
      if (!children_.empty()) break;  // one is left, and the next call tries again
      return failed(pid.error().code);
    }
    const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0));
    if (pidfd < 0) {
      const error_code why = system_code();
      ::kill(*pid, SIGKILL);
      ::waitpid(*pid, nullptr, 0);
      return failed(why);
    }
    ::fcntl(pidfd, F_SETFD, FD_CLOEXEC);
    auto made = std::make_shared<child>(loop_, *pid);
    if (const error_code why =
            made->take(pidfd, std::exchange(ends.job[1], -1), std::exchange(ends.answer[0], -1))) {
      made->kill();
      return failed(why);
    }
    children_.push_back(std::move(made));
  }
  return {};
}

result<std::shared_ptr<child_workers::child>> child_workers::take(const std::string& owner) {
  look_after();
  const auto free_one = [this](const auto& is) {
    std::shared_ptr<child> oldest;
    for (const auto& c : children_)
      if (!c->at_work && is(*c) && (!oldest || c->last_job < oldest->last_job)) oldest = c;
    return oldest;
  };
  const auto is_fresh = [](const child& c) { return c.last_job == 0; };
  // What it has prepared serves again.
  std::shared_ptr<child> chosen =
      free_one([&](const child& c) { return !is_fresh(c) && !owner.empty() && c.owner == owner; });
  if (!chosen) {
    if (children_.size() >= options_.count && !free_one(is_fresh))
      drop(free_one([](const child&) { return true; }));
    if (auto filled = fill_up(); !filled) return filled.error();
    chosen = free_one(is_fresh);
    // No process could be started, and the ones that there are belong to others.
    if (!chosen) return ended(child_end::start, "another child process cannot be started");
  }
  chosen->owner = owner;
  chosen->last_job = ++jobs_;
  while (const auto large = free_one([&](const child& c) {
           return c.last_job != chosen->last_job && !is_fresh(c) &&
                  own_bytes_of(c.pid()) > options_.waiting_bytes;
         }))
    drop(large);
  return chosen;
}

/// Waits for a child's turn. Errors: there is none.
awaitable<result<std::shared_ptr<child_workers::child>>> child_workers::next_child(
    std::string owner) {
  if (loop_.simulated())
    co_return make_fault(errc::refused, doing, "no process can run in virtual time");
  while (working_ >= options_.at_work && !stopping_) (void)co_await free_.wait();
  if (stopping_) co_return make_fault(errc::closed, doing, "the service ends");
  auto taken = take(owner);
  if (!taken) free_.wake_all();
  co_return taken;
}

awaitable<result<std::string>> child_workers::run(std::string job, std::string owner) {
  if (job.size() > options_.longest_job_bytes)
    co_return make_fault(
        errc::limit, doing,
        "the job has more than " + std::to_string(options_.longest_job_bytes) + " bytes");
  // One that retires as a job comes has not begun it.
  constexpr int tries = 3;
  for (int i = 1;; ++i) {
    auto taken = co_await next_child(owner);
    if (!taken) co_return taken.error();
    turn_of_a_child turn(*this, std::move(*taken));
    const bool sent = co_await turn.send(job);
    turn_of_a_child::ending e;
    if (sent)
      e = co_await turn.answer();
    else
      e = co_await turn.end(true);
    if (e.answer) co_return std::move(*e.answer);
    if (!e.has_retired || i == tries) co_return turn.failed(std::move(e.why));
    turn.pass_over();
  }
}

awaitable<result<std::unique_ptr<foreign_stream>>> child_workers::open(std::string job) {
  auto taken = co_await next_child(std::string());
  if (!taken) co_return taken.error();
  auto stream = std::make_unique<stream_to_a_child>(*this, std::move(*taken));
  std::unique_ptr<foreign_stream> out = std::move(stream);
  auto begun = co_await out->put(std::move(job));
  if (!begun) co_return begun.error();
  co_return std::move(out);
}

awaitable<void> child_workers::stop() {
  stopping_ = true;
  free_.wake_all();
  while (!children_.empty()) drop(children_.back());
  // The caller of its job hears of it, and lets go of the child.
  while (working_ > 0) (void)co_await free_.wait();
  const std::vector<std::shared_ptr<child>> all = std::exchange(going_, {});
  for (const auto& c : all) co_await c->wait_until_gone();
}

std::vector<int> child_workers::pids() const {
  std::vector<int> out;
  for (const auto& c : children_) out.push_back(c->pid());
  return out;
}

}  // namespace reactor
