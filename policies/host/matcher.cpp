#include "policies/host/matcher.hpp"

#include <cstring>

namespace policies {
namespace {

constexpr char escape = '%';

// The "C" locale's classes: a decision must not depend on the environment of the process.
constexpr bool lower(unsigned char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool upper(unsigned char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool digit(unsigned char c) {
  return c >= '0' && c <= '9';
}
constexpr bool graph(unsigned char c) {
  return c > ' ' && c < 127;
}

bool in_class(unsigned char c, unsigned char name) {
  bool member;
  switch (name | 0x20) {
    case 'a': member = lower(c) || upper(c); break;
    case 'c': member = c < ' ' || c == 127; break;
    case 'd': member = digit(c); break;
    case 'g': member = graph(c); break;
    case 'l': member = lower(c); break;
    case 'p': member = graph(c) && !lower(c) && !upper(c) && !digit(c); break;
    case 's': member = c == ' ' || (c >= '\t' && c <= '\r'); break;
    case 'u': member = upper(c); break;
    case 'w': member = lower(c) || upper(c) || digit(c); break;
    case 'x': member = digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); break;
    case 'z': member = c == 0; break;
    default: return name == c;
  }
  if (!lower(name) && !upper(name)) return name == c;
  return upper(name) ? !member : member;
}

}  // namespace

bool is_literal_pattern(std::string_view pattern) {
  return pattern.find_first_of("^$*+?.([%-") == std::string_view::npos;
}

bool matcher::spend(std::uint64_t n) {
  steps_ += n;
  if (steps_ <= max_steps_) return true;
  exhausted_ = true;
  fail("this match takes too many steps; use a simpler pattern or a shorter text");
  return false;
}

std::size_t matcher::fail(const char* why) {
  if (error_ == nullptr) error_ = why;
  return none;
}

bool matcher::search(std::size_t from, span& found) {
  const bool anchored = !pattern_.empty() && pattern_.front() == '^';
  return scan(from, anchored ? 1 : 0, anchored, found);
}

bool matcher::search_unanchored(std::size_t from, span& found) {
  return scan(from, 0, false, found);
}

bool matcher::match_at(std::size_t from, span& found) {
  return scan(from, 0, true, found);
}

bool matcher::scan(std::size_t from, std::size_t pattern_begin, bool pinned, span& found) {
  for (std::size_t s = from; s <= subject_.size(); ++s) {
    level_ = 0;
    depth_ = 0;
    const std::size_t end = match(s, pattern_begin);
    if (error_ != nullptr) return false;
    if (end != none) {
      found = {s, end};
      return true;
    }
    if (pinned || !spend()) return false;
  }
  return false;
}

bool matcher::search_plain(std::size_t from, span& found) {
  level_ = 0;
  const std::size_t size = pattern_.size();
  if (from > subject_.size()) return false;
  for (std::size_t s = from; s + size <= subject_.size(); ++s) {
    if (size != 0) {
      const void* next = std::memchr(subject_.data() + s, pattern_.front(), subject_.size() - s);
      if (next == nullptr) return false;
      const auto at = static_cast<std::size_t>(static_cast<const char*>(next) - subject_.data());
      if (!spend((at - s) / 16 + size / 16 + 1)) return false;
      s = at;
      if (s + size > subject_.size()) return false;
    }
    if (subject_.compare(s, size, pattern_) == 0) {
      found = {s, s + size};
      return true;
    }
  }
  return false;
}

/// The position behind the single-character class that begins at `p`.
std::size_t matcher::class_end(std::size_t p) {
  const char c = pattern_[p++];
  if (c == escape) {
    if (p >= pattern_.size()) return fail("malformed pattern (ends with '%')");
    return p + 1;
  }
  if (c != '[') return p;
  const std::size_t begin = p;
  if (p < pattern_.size() && pattern_[p] == '^') ++p;
  do {  // the first ']' is a member
    if (p >= pattern_.size()) return fail("malformed pattern (missing ']')");
    if (pattern_[p++] == escape) {
      if (p >= pattern_.size()) return fail("malformed pattern (missing ']')");
      ++p;
    }
  } while (p >= pattern_.size() || pattern_[p] != ']');
  // Where nothing is left to match a long set is only walked over, again and again.
  if (!spend((p - begin) / 4)) return none;
  return p + 1;
}

/// `p` is at '[' and `last` at the closing ']'.
bool matcher::in_set(unsigned char c, std::size_t p, std::size_t last) {
  bool member = true;
  if (pattern_[p + 1] == '^') {
    member = false;
    ++p;
  }
  if (!spend((last - p) / 2)) return false;
  while (++p < last) {
    const auto now = static_cast<unsigned char>(pattern_[p]);
    if (now == escape) {
      ++p;
      if (in_class(c, static_cast<unsigned char>(pattern_[p]))) return member;
    } else if (p + 2 < last && pattern_[p + 1] == '-') {
      p += 2;
      if (now <= c && c <= static_cast<unsigned char>(pattern_[p])) return member;
    } else if (now == c) {
      return member;
    }
  }
  return !member;
}

/// Does the character at `s` belong to the class [p, end)?
bool matcher::single(std::size_t s, std::size_t p, std::size_t end) {
  if (s >= subject_.size() || !spend()) return false;
  const auto c = static_cast<unsigned char>(subject_[s]);
  switch (pattern_[p]) {
    case '.': return true;
    case escape: return in_class(c, static_cast<unsigned char>(pattern_[p + 1]));
    case '[': return in_set(c, p, end - 1);
    default: return static_cast<unsigned char>(pattern_[p]) == c;
  }
}

std::size_t matcher::match(std::size_t s, std::size_t p) {
  if (++depth_ > max_depth) return fail("pattern too complex");
  const std::size_t end = match_here(s, p);
  --depth_;
  return end;
}

std::size_t matcher::match_here(std::size_t s, std::size_t p) {
  for (;;) {
    if (error_ != nullptr || !spend()) return none;
    if (p >= pattern_.size()) return s;
    const char c = pattern_[p];
    if (c == '(') {
      if (p + 1 < pattern_.size() && pattern_[p + 1] == ')')
        return begin_capture(s, p + 2, position);
      return begin_capture(s, p + 1, open);
    }
    if (c == ')') return end_capture(s, p + 1);
    if (c == '$' && p + 1 == pattern_.size()) return s == subject_.size() ? s : none;
    if (c == escape && p + 1 < pattern_.size()) {
      const auto what = static_cast<unsigned char>(pattern_[p + 1]);
      if (what == 'b') {
        s = balance(s, p + 2);
        if (s == none) return none;
        p += 4;
        continue;
      }
      if (what == 'f') {
        p += 2;
        if (p >= pattern_.size() || pattern_[p] != '[')
          return fail("missing '[' after '%f' in pattern");
        const std::size_t end = class_end(p);
        if (end == none) return none;
        const auto before = static_cast<unsigned char>(s == 0 ? 0 : subject_[s - 1]);
        const auto here = static_cast<unsigned char>(s < subject_.size() ? subject_[s] : 0);
        if (in_set(before, p, end - 1) || !in_set(here, p, end - 1)) return none;
        p = end;
        continue;
      }
      if (digit(what)) {
        s = back_reference(s, what);
        if (s == none) return none;
        p += 2;
        continue;
      }
    }
    const std::size_t end = class_end(p);
    if (end == none) return none;
    const char suffix = end < pattern_.size() ? pattern_[end] : '\0';
    if (suffix == '?') {
      if (single(s, p, end)) {
        const std::size_t rest = match(s + 1, end + 1);
        if (rest != none) return rest;
      }
      p = end + 1;
      continue;
    }
    if (suffix == '*') return expand_most(s, p, end);
    if (suffix == '+') return single(s, p, end) ? expand_most(s + 1, p, end) : none;
    if (suffix == '-') return expand_least(s, p, end);
    if (!single(s, p, end)) return none;
    ++s;
    p = end;
  }
}

std::size_t matcher::balance(std::size_t s, std::size_t p) {
  if (p + 1 >= pattern_.size()) return fail("unbalanced pattern");
  if (s >= subject_.size() || subject_[s] != pattern_[p]) return none;
  const char first = pattern_[p], last = pattern_[p + 1];
  std::size_t nesting = 1;
  while (++s < subject_.size()) {
    if (!spend()) return none;
    if (subject_[s] == last) {
      if (--nesting == 0) return s + 1;
    } else if (subject_[s] == first) {
      ++nesting;
    }
  }
  return none;
}

std::size_t matcher::expand_most(std::size_t s, std::size_t p, std::size_t end) {
  std::size_t count = 0;
  while (single(s + count, p, end)) ++count;
  for (;; --count) {
    const std::size_t rest = match(s + count, end + 1);
    if (rest != none || error_ != nullptr || count == 0) return rest;
  }
}

std::size_t matcher::expand_least(std::size_t s, std::size_t p, std::size_t end) {
  for (;; ++s) {
    const std::size_t rest = match(s, end + 1);
    if (rest != none || error_ != nullptr) return rest;
    if (!single(s, p, end)) return none;
  }
}

std::size_t matcher::begin_capture(std::size_t s, std::size_t p, std::ptrdiff_t kind) {
  if (level_ >= max_captures) return fail("too many captures");
  captures_[level_] = {s, kind};
  ++level_;
  const std::size_t rest = match(s, p);
  if (rest == none) --level_;
  return rest;
}

std::size_t matcher::end_capture(std::size_t s, std::size_t p) {
  std::size_t index = level_;
  while (index > 0 && captures_[index - 1].length != open) --index;
  if (index == 0) return fail("invalid pattern capture");
  capture& closing = captures_[index - 1];
  closing.length = static_cast<std::ptrdiff_t>(s - closing.begin);
  const std::size_t rest = match(s, p);
  if (rest == none) closing.length = open;
  return rest;
}

std::size_t matcher::back_reference(std::size_t s, unsigned char which) {
  const std::size_t index = static_cast<std::size_t>(which) - '1';
  if (which == '0' || index >= level_ || captures_[index].length == open)
    return fail("invalid capture index");
  // "()" has no text to repeat; the stock matcher compares an absurd length and finds nothing.
  if (captures_[index].length == position) return none;
  const auto size = static_cast<std::size_t>(captures_[index].length);
  if (!spend(size / 16 + 1) || subject_.size() - s < size) return none;
  return subject_.compare(s, size, subject_, captures_[index].begin, size) == 0 ? s + size : none;
}

matcher::capture matcher::get(std::size_t index, const span& whole) {
  if (index >= level_) {
    if (index == 0) return {whole.begin, static_cast<std::ptrdiff_t>(whole.end - whole.begin)};
    fail("invalid capture index");
    return {};
  }
  if (captures_[index].length == open) fail("unfinished capture");
  return captures_[index];
}

}  // namespace policies
