#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace policies {

/// Lua 5.1 patterns with a bound on the work: the stock matcher backtracks for seconds on a few
/// hundred bytes and no instruction hook reaches it.
/// Shape    give subject and pattern, call match_at or search; captures stay readable until the
///          next call.
/// Units    max_steps: comparisons of one character or set member, roughly 5 ns each.
/// Errors   error() says why a pattern is malformed or was given up; null otherwise.
/// Lifetime views subject and pattern. Trivially destructible, since Lua errors may jump over it.
/// Source   Lua 5.1 Reference Manual, 5.4.1; except that a zero byte in a pattern is a character.
class matcher {
public:
  static constexpr std::size_t max_captures = 32;
  struct span {
    std::size_t begin = 0, end = 0;
  };
  struct capture {
    std::size_t begin = 0;
    std::ptrdiff_t length = 0;  // position for "()"
  };
  static constexpr std::ptrdiff_t position = -2;

  matcher(std::string_view subject, std::string_view pattern, std::uint64_t max_steps)
      : subject_(subject), pattern_(pattern), max_steps_(max_steps) {}

  /// The first match that begins at `from` or later; a leading '^' pins it to `from`.
  bool search(std::size_t from, span& found);
  /// The same where '^' is an ordinary character, as in gmatch.
  bool search_unanchored(std::size_t from, span& found);
  /// A match that begins at `from`; '^' is an ordinary character.
  bool match_at(std::size_t from, span& found);
  /// The first occurrence of the pattern taken literally.
  bool search_plain(std::size_t from, span& found);

  const char* error() const { return error_; }
  /// The error is the step limit, not the pattern.
  bool exhausted() const { return exhausted_; }
  std::uint64_t steps() const { return steps_; }
  std::size_t captures() const { return level_; }
  /// Index 0 with captures() == 0 is the whole match. Sets error() on a bad index or an open
  /// capture.
  capture get(std::size_t index, const span& whole);

private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  static constexpr std::ptrdiff_t open = -1;
  static constexpr int max_depth = 200;  // LuaJIT's limit; deeper is "pattern too complex"

  bool scan(std::size_t from, std::size_t pattern_begin, bool pinned, span& found);
  bool spend(std::uint64_t n = 1);
  std::size_t fail(const char* why);
  std::size_t class_end(std::size_t p);
  bool in_set(unsigned char c, std::size_t p, std::size_t last);
  bool single(std::size_t s, std::size_t p, std::size_t end);
  std::size_t match(std::size_t s, std::size_t p);
  std::size_t match_here(std::size_t s, std::size_t p);
  std::size_t balance(std::size_t s, std::size_t p);
  std::size_t expand_most(std::size_t s, std::size_t p, std::size_t end);
  std::size_t expand_least(std::size_t s, std::size_t p, std::size_t end);
  std::size_t begin_capture(std::size_t s, std::size_t p, std::ptrdiff_t kind);
  std::size_t end_capture(std::size_t s, std::size_t p);
  std::size_t back_reference(std::size_t s, unsigned char digit);

  std::string_view subject_, pattern_;
  std::uint64_t max_steps_, steps_ = 0;
  const char* error_ = nullptr;
  bool exhausted_ = false;
  int depth_ = 0;
  std::size_t level_ = 0;
  std::array<capture, max_captures> captures_;
};

/// True when the text has no character that means something in a pattern.
bool is_literal_pattern(std::string_view pattern);

}  // namespace policies
