#pragma once

#include "reactor/plain/secret.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace reactor {

class read_window;

/// Memory into which all streams of a kind read in turn: an idle stream owns no buffer, because
/// what it reads is normally consumed before the loop's thread turns to another one.
/// Lifetime: outlives its windows.
class shared_buffer {
public:
  enum class content { text, ciphertext };
  explicit shared_buffer(std::size_t capacity_bytes, content c = content::text)
      : bytes_(std::make_unique<char[]>(capacity_bytes)), capacity_(capacity_bytes), content_(c) {}
  std::size_t capacity() const noexcept { return capacity_; }

private:
  friend class read_window;
  /// Ciphertext holds no secret.
  void forget(std::size_t begin, std::size_t end) noexcept {
    if (content_ == content::text) wipe(bytes_.get() + begin, end - begin);
  }
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_;
  content content_;
  read_window* holder_ = nullptr;
};

/// One stream's unconsumed bytes: in the shared buffer while it was the last to read, else in a
/// private copy that is only as large as what was left over.
/// Lifetime: data() is valid until this or any other window of the buffer prepares, that is until
/// the next suspension.
/// Secrets   text that was consumed is overwritten with the next prepare() of any window, or when
///           its own ends.
class read_window {
public:
  explicit read_window(shared_buffer& buffer) noexcept : buffer_(buffer) {}
  ~read_window() {
    if (holds()) let_go();
  }
  read_window(const read_window&) = delete;
  read_window& operator=(const read_window&) = delete;

  std::string_view data() const noexcept {
    if (holds()) return {buffer_.bytes_.get() + begin_, end_ - begin_};
    return std::string_view(kept_).substr(begin_);
  }
  bool empty() const noexcept { return data().empty(); }

  /// The bytes stay where they are until the next prepare(), so that a view of them can be handed
  /// on.
  void consume(std::size_t n) noexcept { begin_ += n; }

  /// Room behind the unconsumed bytes, which stay contiguous with what is read there; empty when
  /// the unconsumed bytes fill the buffer.
  std::span<char> prepare() {
    if (!holds()) {
      if (buffer_.holder_) buffer_.holder_->yield();
      end_ = kept_.copy(buffer_.bytes_.get(), kept_.size() - begin_, begin_);
      begin_ = 0;
      wiped_string().swap(kept_);
      buffer_.holder_ = this;
    } else if (begin_ > 0) {
      const std::string_view left = data();
      std::char_traits<char>::move(buffer_.bytes_.get(), left.data(), left.size());
      const std::size_t end = std::exchange(end_, left.size());
      begin_ = 0;
      buffer_.forget(end_, end);
    }
    return {buffer_.bytes_.get() + end_, buffer_.capacity_ - end_};
  }
  /// `n` bytes were read into what prepare() returned.
  void commit(std::size_t n) noexcept { end_ += n; }

private:
  bool holds() const noexcept { return buffer_.holder_ == this; }
  void yield() {
    kept_ = data();
    let_go();
    begin_ = end_ = 0;
  }
  void let_go() noexcept {
    buffer_.forget(0, end_);
    buffer_.holder_ = nullptr;
  }

  shared_buffer& buffer_;
  std::size_t begin_ = 0, end_ = 0;
  wiped_string kept_;
};

}  // namespace reactor
