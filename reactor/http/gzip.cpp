#include "reactor/http/gzip.hpp"

#include "reactor/loop_slice.hpp"
#include "reactor/plain/inflate.hpp"
#include "reactor/plain/memory.hpp"
#include "reactor/plain/secret.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace reactor::http {
namespace {

constexpr std::size_t plain_bytes = 64 * 1024;  // so much is handed on at once
constexpr std::size_t slice_bytes = 4 * 1024;   // so much is looked at before others may run
/// Compressed bytes beyond twice what came of them: headers of members, blocks without text.
constexpr std::size_t most_empty_bytes = 32 * 1024;

/// What one piece was turned into is read before the next one of any stream comes.
std::array<char, plain_bytes>& plain() {
  static thread_local std::array<char, plain_bytes> bytes;
  return bytes;
}

fault not_gzip(std::string_view why) {
  return make_fault(errc::malformed, "decompress answer", why);
}

enum class coding { none, gzip, unknown };
coding coding_of(const headers& fields) {
  const std::string_view name = fields.get("Content-Encoding");
  if (name.empty() || same_name(name, "identity")) return coding::none;
  return same_name(name, "gzip") ? coding::gzip : coding::unknown;
}

fault unknown_coding(const headers& fields) {
  return not_gzip("its coding \"" + std::string(fields.get("Content-Encoding").substr(0, 40)) +
                  "\" was not asked for");
}

/// Turns compressed pieces into plain ones.
class inflater {
public:
  explicit inflater(std::size_t limit_bytes) : left_(limit_bytes) {}
  ~inflater() { wipe(plain().data(), longest_); }
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;

  /// The bytes stay where they are until hungry().
  void take(std::string_view compressed) noexcept { rest_ = compressed; }
  /// Nothing comes of next() before more is taken.
  bool hungry() const noexcept { return rest_.empty() && !more_; }
  /// The text of the next few bytes, perhaps none.
  result<std::string_view> next() {
    auto& out = plain();
    // A member may follow the one before; a full buffer may have hidden what is still inside.
    const auto got = inflation_.advance(rest_.substr(0, slice_bytes), out.data(), out.size());
    longest_ = std::max(longest_, got.written);
    if (got.now == inflation::state::damaged)
      return not_gzip(*inflation_.why() ? inflation_.why() : "it is not gzip");
    const std::size_t n = got.written;
    ended_ = got.now == inflation::state::ended;
    more_ = !ended_ && n == out.size();
    rest_.remove_prefix(got.read);
    loop_slice::spend(n);
    empty_ += got.read;
    empty_ -= std::min(empty_, 2 * n);
    if (empty_ > most_empty_bytes)
      return make_fault(errc::limit, "decompress answer", "it has too little text in it");
    if (n > left_)
      return make_fault(errc::limit, "decompress answer", "its text is larger than is allowed");
    left_ -= n;
    return std::string_view(out.data(), n);
  }
  /// The last member is complete.
  bool ended() const noexcept { return ended_; }

private:
  inflation inflation_;
  std::string_view rest_;
  std::size_t left_, empty_ = 0, longest_ = 0;
  bool ended_ = false, more_ = false;
};

class gzip_exchange final : public exchange {
public:
  gzip_exchange(std::unique_ptr<exchange> from, std::size_t limit_bytes)
      : from_(std::move(from)), inflater_(limit_bytes) {}

  const response_head& head() const noexcept override { return from_->head(); }
  steady_time last_byte() const noexcept override { return from_->last_byte(); }
  void wake_reader() noexcept override { from_->wake_reader(); }

  using exchange::read;
  awaitable<result<std::string_view>> read(nanoseconds idle, nanoseconds pause) override {
    for (;;) {
      if (failed_) co_return *failed_;
      // A few bytes may be much text, or much work for none.
      if (loop_slice::is_over()) co_await loop_slice::yield();
      if (!inflater_.hungry()) {
        auto text = inflater_.next();
        if (!text) co_return failed(text.error());
        if (!text->empty()) co_return text;
        continue;
      }
      if (complete_) co_return std::string_view();
      auto piece = co_await from_->read(idle, pause);
      if (!piece) co_return piece.error();
      complete_ = piece->empty();
      if (complete_ && !inflater_.ended()) co_return failed(not_gzip("it ends too soon"));
      held_.assign(*piece);
      inflater_.take(held_);
    }
  }

private:
  fault failed(fault why) {
    failed_ = std::make_unique<fault>(std::move(why));
    return *failed_;
  }

  std::unique_ptr<exchange> from_;
  inflater inflater_;
  wiped_string held_;  // the reader may suspend between two texts of one piece
  bool complete_ = false;
  std::unique_ptr<fault> failed_;
};

}  // namespace

result<std::unique_ptr<exchange>> decoded(std::unique_ptr<exchange> from, std::size_t limit_bytes) {
  switch (coding_of(from->head().fields)) {
    case coding::none: return from;
    case coding::gzip:
      return std::unique_ptr<exchange>(
          std::make_unique<gzip_exchange>(std::move(from), limit_bytes));
    case coding::unknown: break;
  }
  return unknown_coding(from->head().fields);
}

result<std::string> decoded(const headers& fields, std::string body, std::size_t limit_bytes) {
  const coding how = coding_of(fields);
  if (how == coding::none) return body;
  if (how == coding::unknown) return unknown_coding(fields);
  inflater from(limit_bytes);
  from.take(body);
  std::string out;
  while (!from.hungry()) {
    auto text = from.next();
    if (!text) return text.error();
    if (!memory_allows([&] { out.append(*text); }))
      return make_fault(errc::limit, "decompress answer",
                        "there is not enough memory for its text");
  }
  if (!from.ended()) return not_gzip("it ends too soon");
  return out;
}

}  // namespace reactor::http
