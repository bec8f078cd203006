#pragma once

#include "reactor/foreign_work.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/waiters.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {

/// Why a child process was ended, or ended itself.
enum class child_end : std::uint8_t {
  time,       // its job passed the limit by the clock
  processor,  // or that of processor time
  memory,     // it had no memory for itself
  answer,     // what it said is none of the answers that there are
  signal,  // another signal ended it: a fault in what it runs, or the kernel's out-of-memory killer
  exit,    // it left by itself
  start,   // it could not be started, or did not shut itself in
  abandoned,  // the caller of its job is gone
};
/// "time", "processor", … as a metric's label and a log line have it.
std::string_view to_string(child_end why) noexcept;

/// What a child's exit status says; others are of no meaning. One that has grown retires between
/// two jobs, and its memory with it.
inline constexpr int child_retired = 0, child_lost_memory = 1, child_not_confined = 3;

/// Long-lived child processes that do jobs: each reads a job on its standard input and writes the
/// answer to its standard output, both as a length (8 bytes, the lowest first) and so many bytes.
///          A job of pieces is followed by them in the same form, and by a length of 0.
/// Shape    `at_work` of the `count` children do a job at a time; the others stand ready, so that
///          one that is ended is not waited for. They are started when they are needed first. A
///          child works for one owner: a job of another owner gets another child, and takes the
///          place of the one that was not used for longest.
/// Bounds   a job's `processor` and `wall` time, after which its child gets SIGKILL; the length of
///          what crosses. The caller is told why; another child takes the next job.
/// Ends     a cancelled caller costs its child: nothing else stops a computation.
/// Lifetime the loop outlives it. co_await stop() before destruction.
class child_workers final : public foreign_workers {
public:
  struct options {
    /// Without a shell, with an empty environment and no descriptor but its two pipes and
    /// /dev/null.
    std::vector<std::string> argv;
    std::size_t count = 2, at_work = 1;
    std::size_t longest_job_bytes = 40u << 20, longest_answer_bytes = 32u << 20;
    nanoseconds processor = 5s, wall = 60s;
    /// Memory of its own that a child which has worked may keep while another one works.
    std::size_t waiting_bytes = 8u << 20;
    /// Each end of a child but that of stop(), with a sentence.
    std::function<void(child_end why, const std::string& sentence)> on_end;
  };
  child_workers(loop& l, options o);
  ~child_workers() override;

  awaitable<result<std::string>> run(std::string job, std::string owner) override;
  /// Lifetime of the stream: ends before stop().
  awaitable<result<std::unique_ptr<foreign_stream>>> open(std::string job) override;
  awaitable<void> stop() override;
  /// The children that there are now; for tests and benches.
  std::vector<int> pids() const;

private:
  class child;
  class turn_of_a_child;
  class stream_to_a_child;
  void look_after();
  result<void> fill_up();
  result<std::shared_ptr<child>> take(const std::string& owner);
  awaitable<result<std::shared_ptr<child>>> next_child(std::string owner);
  void drop(std::shared_ptr<child> c);
  fault ended(child_end why, std::string sentence);

  loop& loop_;
  options options_;
  std::vector<std::shared_ptr<child>> children_;  // those that live
  std::vector<std::shared_ptr<child>> going_;     // those that were killed
  std::size_t working_ = 0;
  std::uint64_t jobs_ = 0;  // so far
  bool stopping_ = false;
  waiters free_;
};

}  // namespace reactor
