#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/own_bytes.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/work_memory.hpp"

#include <memory>
#include <optional>
#include <string>

namespace reactor {

class loop;

/// A job whose bytes come in pieces.
class foreign_stream {
public:
  virtual ~foreign_stream() = default;
  /// Errors   those of foreign_workers::run; the job is over then.
  virtual awaitable<result<void>> put(std::string piece) = 0;
  /// After the last piece: the answer.
  virtual awaitable<result<std::string>> finish() = 0;
};

/// A place outside this process where work on what strangers wrote is done.
class foreign_workers {
public:
  virtual ~foreign_workers() = default;
  /// Does one job, which both sides know how to read.
  /// Shape    `owner` names the stranger whose bytes the job works on ("chart sha256:…"). A worker
  ///          that has done a job of one owner does none of another, since it may belong to that
  ///          stranger by then. Empty: the worker does this job alone.
  /// Errors   why there is no answer: a limit, a worker that ended, one that cannot be started. The
  ///          answer itself is as trustworthy as the stranger.
  virtual awaitable<result<std::string>> run(std::string job, std::string owner) = 0;
  /// A job that is followed by pieces, which its worker does alone. It is given up when its stream
  /// ends before the answer.
  virtual awaitable<result<std::unique_ptr<foreign_stream>>> open(std::string job) = 0;
  /// Ends what is under way. Call before destruction.
  virtual awaitable<void> stop() = 0;
  /// What this process itself wrote among strangers: those bytes share one owner.
  own_bytes& own() noexcept { return own_; }
  /// What operations on their answers have in this process; null before they are attached.
  work_memory* memory() noexcept { return memory_ ? &*memory_ : nullptr; }

private:
  friend class attached_workers;
  own_bytes own_;
  std::optional<work_memory> memory_;
};

/// Those that were attached to a loop; null: such work is done by loop::offload_foreign.
foreign_workers* foreign_workers_of(loop& l);

/// That of those; null where there are none.
work_memory* work_memory_of(loop& l);

/// Attaches them for its lifetime.
/// Lifetime loop and workers outlive it.
class attached_workers {
public:
  attached_workers(loop& l, foreign_workers& workers);
  ~attached_workers();
  attached_workers(const attached_workers&) = delete;
  attached_workers& operator=(const attached_workers&) = delete;

private:
  loop& loop_;
};

}  // namespace reactor
