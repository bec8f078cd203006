#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

namespace reactor {

class loop;

/// The memory that operations on texts of strangers have in this process, over all of them.
/// Shape    each operation has a share. A small one takes small_bytes for one text and waits for
///          nothing. One that needs more grows: one operation at a time is large. When it has done
///          its work and only waits for a server, it rests, with what it keeps; those that rest
///          keep resting_bytes together, and a single one any amount.
/// Ends     no operation waits while it has what another one waits for: a small one has little, a
///          resting one waits for nothing.
/// Lifetime the loop outlives it; shares may outlive it.
class work_memory {
  struct books;

public:
  static constexpr std::uint64_t small_bytes = 128u << 10, resting_bytes = 8u << 20;
  static constexpr nanoseconds works_for = std::chrono::minutes(1);

  explicit work_memory(loop& l);

  class share {
  public:
    static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

    /// Without `of` there is no limit. `who` is named to those that wait for it; it waits itself
    /// for `patience` at most.
    share(work_memory* of, std::string who, nanoseconds patience);
    ~share() { give_back(); }
    share(const share&) = delete;
    share& operator=(const share&) = delete;

    /// Bytes that the next text may have.
    std::uint64_t most() const noexcept {
      return is_ == size::small && of_ ? small_bytes : unlimited;
    }
    /// Others wait until this one has ended.
    bool is_large() const noexcept { return is_ == size::large; }

    /// Waits until no other operation is large.
    /// Errors   errc::timed_out: the large one has not ended within the patience. errc::limit: this
    ///          one is large since works_for, and others wait.
    awaitable<result<void>> grow();
    /// Nothing large is done from here on; so many bytes are kept until the share ends.
    awaitable<void> rest(std::uint64_t kept);
    void give_back() noexcept;

  private:
    enum class size : std::uint8_t { small, large, resting };
    std::shared_ptr<work_memory::books> of_;
    std::string who_;
    nanoseconds patience_;
    size is_ = size::small;
    std::uint64_t kept_ = 0;
    steady_time since_{};
  };

  /// Called when the operation `who` begins to wait for what `holder` has.
  void on_wait(std::function<void(const std::string& who, const std::string& holder)> told);
  std::uint64_t resting() const noexcept;
  std::size_t waiting() const noexcept;  // to be large

private:
  std::shared_ptr<books> books_;
};

}  // namespace reactor
