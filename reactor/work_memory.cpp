#include "reactor/work_memory.hpp"

#include "reactor/loop.hpp"

#include <utility>

namespace reactor {
namespace {

/// Counts for as long as it lives: a coroutine that waits may be cancelled.
class counted_wait {
public:
  explicit counted_wait(std::size_t& n) noexcept : n_(n) { ++n_; }
  ~counted_wait() { --n_; }
  counted_wait(const counted_wait&) = delete;
  counted_wait& operator=(const counted_wait&) = delete;

private:
  std::size_t& n_;
};

constexpr const char* doing = "work on more than little of a stranger's text";

}  // namespace

awaitable<result<void>> work_memory::share::grow() {
  if (!of_ || is_ == size::resting) co_return result<void>();
  loop& l = of_->loop_;
  if (is_ == size::large) {
    if (of_->waiting_ == 0 || l.now() - since_ < works_for) co_return result<void>();
    co_return make_fault(errc::limit, doing,
                         "it took " + format_duration(works_for) +
                             " with the memory that other operations wait for");
  }
  const steady_time until = l.now() + patience_;
  {
    const counted_wait one(of_->waiting_);
    if (of_->large_ && of_->on_wait) of_->on_wait(who_, of_->large_->who_);
    while (of_->large_ && l.now() < until) (void)co_await of_->free_.wait(until);
  }
  if (of_->large_)
    co_return make_fault(errc::timed_out, doing,
                         "it waited " + format_duration(patience_) + " for the memory that " +
                             of_->large_->who_ + " has");
  of_->large_ = this;
  is_ = size::large;
  since_ = l.now();
  co_return result<void>();
}

awaitable<void> work_memory::share::rest(std::uint64_t kept) {
  if (!of_ || is_ != size::large) co_return;
  while (of_->resting_ > 0 && of_->resting_ + kept > resting_bytes)
    (void)co_await of_->free_.wait();
  of_->large_ = nullptr;
  of_->resting_ += kept;
  kept_ = kept;
  is_ = size::resting;
  of_->free_.wake_all();
}

void work_memory::share::give_back() noexcept {
  if (!of_) return;
  if (of_->large_ == this) of_->large_ = nullptr;
  of_->resting_ -= std::exchange(kept_, 0);
  is_ = size::small;
  of_->free_.wake_all();
}

}  // namespace reactor
