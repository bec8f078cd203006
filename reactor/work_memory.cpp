#include "reactor/work_memory.hpp"

#include "reactor/loop.hpp"
#include "reactor/waiters.hpp"

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

struct work_memory::books {
  explicit books(reactor::loop& l) : loop(l), free(l) {}
  reactor::loop& loop;
  const share* large = nullptr;
  std::uint64_t resting = 0;
  std::size_t waiting = 0;
  waiters free;
  std::function<void(const std::string&, const std::string&)> told;
};

work_memory::work_memory(loop& l) : books_(std::make_shared<books>(l)) {}

void work_memory::on_wait(std::function<void(const std::string&, const std::string&)> told) {
  books_->told = std::move(told);
}
std::uint64_t work_memory::resting() const noexcept {
  return books_->resting;
}
std::size_t work_memory::waiting() const noexcept {
  return books_->waiting;
}

work_memory::share::share(work_memory* of, std::string who, nanoseconds patience)
    : of_(of ? of->books_ : nullptr), who_(std::move(who)), patience_(patience) {}

awaitable<result<void>> work_memory::share::grow() {
  if (!of_ || is_ == size::resting) co_return result<void>();
  loop& l = of_->loop;
  if (is_ == size::large) {
    if (of_->waiting == 0 || l.now() - since_ < works_for) co_return result<void>();
    co_return make_fault(errc::limit, doing,
                         "it took " + format_duration(works_for) +
                             " with the memory that other operations wait for");
  }
  const steady_time until = l.now() + patience_;
  {
    const counted_wait one(of_->waiting);
    if (of_->large && of_->told) of_->told(who_, of_->large->who_);
    while (of_->large && l.now() < until) (void)co_await of_->free.wait(until);
  }
  if (of_->large)
    co_return make_fault(errc::timed_out, doing,
                         "it waited " + format_duration(patience_) + " for the memory that " +
                             of_->large->who_ + " has");
  of_->large = this;
  is_ = size::large;
  since_ = l.now();
  co_return result<void>();
}

awaitable<void> work_memory::share::rest(std::uint64_t kept) {
  if (!of_ || is_ != size::large) co_return;
  while (of_->resting > 0 && of_->resting + kept > resting_bytes) (void)co_await of_->free.wait();
  of_->large = nullptr;
  of_->resting += kept;
  kept_ = kept;
  is_ = size::resting;
  of_->free.wake_all();
}

void work_memory::share::give_back() noexcept {
  if (!of_) return;
  if (of_->large == this) of_->large = nullptr;
  of_->resting -= std::exchange(kept_, 0);
  is_ = size::small;
  of_->free.wake_all();
}

}  // namespace reactor
