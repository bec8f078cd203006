#include "policies/host/source_check.hpp"

namespace policies {
namespace {

constexpr int end = -1;

bool is_digit(int c) {
  return c >= '0' && c <= '9';
}
bool is_ident(int c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}
bool is_space(int c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
int lower(int c) {
  return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/// "ll", "ull", "llu" or "i" behind a number, in either case.
bool makes_cdata(std::string_view number) {
  const auto from_end = [&](std::size_t n) {
    return n <= number.size() ? lower(static_cast<unsigned char>(number[number.size() - n])) : 0;
  };
  if (from_end(1) == 'i') return true;
  if (from_end(1) == 'u') return from_end(2) == 'l' && from_end(3) == 'l';
  return from_end(1) == 'l' && from_end(2) == 'l';
}

class reader {
public:
  explicit reader(std::string_view source) : source_(source) {}

  std::optional<source_problem> read() {
    if (source_.starts_with("\xef\xbb\xbf")) at_ = 3;
    if (now() == '#') {
      skip_line();
      if (now() == end) return std::nullopt;
      newline();
    }
    if (now() == '\033')
      return source_problem{line_, "is compiled Lua; only source text is accepted"};
    while (now() != end) {
      const int line = line_;
      switch (token()) {
        case met::anything: break;
        case met::failure: return std::nullopt;
        case met::cdata:
          return source_problem{line, "the number '" + std::string(number_.substr(0, 40)) +
                                          "' is not available: no 64-bit and no imaginary numbers"};
      }
    }
    return std::nullopt;
  }

private:
  enum class met { anything, cdata, failure };

  int now() const { return peek(0); }
  int peek(std::size_t ahead) const {
    return at_ + ahead < source_.size() ? static_cast<unsigned char>(source_[at_ + ahead]) : end;
  }
  bool at_eol() const { return now() == '\n' || now() == '\r'; }
  /// A line break is one or two different characters.
  void newline() {
    const int first = now();
    ++at_;
    if (at_eol() && now() != first) ++at_;
    ++line_;
  }
  void skip_line() {
    while (now() != end && !at_eol()) ++at_;
  }

  met token() {
    const int c = now();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_ident(c)) {
      while (is_ident(now())) ++at_;
      return met::anything;
    }
    switch (c) {
      case '\n':
      case '\r': newline(); return met::anything;
      case '"':
      case '\'': return text();
      case '-': return minus();
      case '[': {
        const int level = bracket();
        if (level >= 0) return long_text(level);
        return level == -1 ? met::anything : met::failure;
      }
      case '.':
        ++at_;
        // ".." takes its dots before a number can
        for (int more = 0; more < 2 && now() == '.'; ++more) ++at_;
        return met::anything;
      default: ++at_; return met::anything;
    }
  }

  met number() {
    const std::size_t begin = at_;
    if (now() == '.') ++at_;
    int before = now(), exponent = 'e';
    if (before == '0') {
      ++at_;
      if (lower(now()) == 'x') exponent = 'p';
    }
    while (is_ident(now()) || now() == '.' ||
           ((now() == '-' || now() == '+') && (before | 0x20) == exponent)) {
      before = now();
      ++at_;
    }
    number_ = source_.substr(begin, at_ - begin);
    return makes_cdata(number_) ? met::cdata : met::anything;
  }

  met text() {
    const int quote = now();
    ++at_;
    while (now() != quote) {
      if (now() == end || at_eol()) return met::failure;
      if (now() != '\\') {
        ++at_;
        continue;
      }
      ++at_;
      if (now() == end) return met::failure;
      if (at_eol()) {
        newline();
      } else if (now() == 'z') {
        ++at_;
        while (is_space(now())) {
          if (at_eol()) {
            newline();
          } else {
            ++at_;
          }
        }
      } else {
        ++at_;  // what follows in \x41, \u{41} and \065 neither ends the text nor begins an escape
      }
    }
    ++at_;
    return met::anything;
  }

  met minus() {
    ++at_;
    if (now() != '-') return met::anything;
    ++at_;
    if (now() == '[') {
      const int level = bracket();
      if (level >= 0) return long_text(level);
    }
    skip_line();
    return met::anything;
  }

  /// At '[' or ']': the count of '=' when the same character follows, else below zero (-1: none).
  /// Ends at that character.
  int bracket() {
    const int c = now();
    int count = 0;
    ++at_;
    while (now() == '=') {
      ++at_;
      ++count;
    }
    return now() == c ? count : -count - 1;
  }

  /// At the second '['.
  met long_text(int level) {
    ++at_;
    while (now() != end) {
      if (now() == ']') {
        if (bracket() == level) {
          ++at_;
          return met::anything;
        }
      } else if (at_eol()) {
        newline();
      } else {
        ++at_;
      }
    }
    return met::failure;
  }

  std::string_view source_, number_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::optional<source_problem> check_source(std::string_view source) {
  return reader(source).read();
}

}  // namespace policies
