#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/plain/memory.hpp"
#include "reactor/plain/secret.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace reactor::http {

/// A long text that comes in pieces. One string that grows is copied whole each time, 20 ms for 32
/// MiB; this one is copied once at the end, in turns.
class gathered {
public:
  gathered() = default;
  /// Overwriting 64 MiB takes 30 ms.
  ~gathered() {
    if (blocks_->size() > most_at_once)
      loop_slice::leave_to_a_worker([](auto& blocks) { blocks->clear(); }, std::move(blocks_));
  }
  gathered(const gathered&) = delete;
  gathered& operator=(const gathered&) = delete;

  void append(std::string_view piece) {
    size_bytes_ += piece.size();
    while (!piece.empty()) {
      if (blocks_->empty() || blocks_->back().size() == block_bytes) blocks_->emplace_back();
      wiped_string& last = blocks_->back();
      const std::string_view fits = piece.substr(0, block_bytes - last.size());
      last.append(fits);
      piece.remove_prefix(fits.size());
    }
  }
  std::size_t size() const noexcept { return size_bytes_; }

  /// Before join(): false when there is no memory for all of it in one piece.
  [[nodiscard]] bool fits_in_memory() {
    return memory_allows([this] { whole_.reserve(size_bytes_); });
  }
  /// All of it; nothing stays here.
  awaitable<std::string> join() {
    std::string all = std::move(whole_);
    size_bytes_ = 0;
    for (; !blocks_->empty(); blocks_->pop_front()) {
      if (loop_slice::is_over()) co_await loop_slice::yield();
      all.append(blocks_->front());
      loop_slice::spend(blocks_->front().size());
    }
    co_return all;
  }

private:
  static constexpr std::size_t block_bytes = 256 * 1024;
  static constexpr std::size_t most_at_once = 4;  // blocks
  using blocks = std::deque<wiped_string>;
  std::shared_ptr<blocks> blocks_ = std::make_shared<blocks>();
  std::string whole_;
  std::size_t size_bytes_ = 0;
};

}  // namespace reactor::http
