#pragma once

#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

/// As much of a terminal as the commands use, as xterm does it: a full line leaves the cursor upon
/// its last column, and the next character wraps. Whatever else is asked of it is an error, and it
/// counts what a view must never do.
class terminal {
public:
  terminal(std::size_t columns, std::size_t rows) { resize(columns, rows); }

  std::size_t wrapped = 0, scrolled = 0, colours = 0;
  bool other_screen = false, cursor_hidden = false;
  bool ever_other_screen = false;

  /// Without reflow, as on a screen of its own: what is beyond is cut.
  void resize(std::size_t columns, std::size_t rows) {
    columns_ = columns;
    rows_ = rows;
    lines_.resize(rows);
    for (auto& l : lines_) l.resize(columns, " ");
    column_ = std::min(column_, columns - 1);
    row_ = std::min(row_, rows - 1);
    full_ = false;
  }

  void write(std::string_view text) {
    held_ += text;
    std::string_view rest = held_;
    for (std::size_t n; (n = one(rest)) > 0;) rest.remove_prefix(n);
    held_ = std::string(rest);
  }

  std::string line(std::size_t row) const {
    std::string out;
    for (const std::string& cell : lines_[row]) out += cell;
    return out.substr(0, out.find_last_not_of(' ') + 1);
  }
  std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < lines_.size(); ++i) out += line(i) + "\n";
    return out;
  }
  bool shows(std::string_view words) const { return text().find(words) != std::string::npos; }

private:
  /// How many bytes were taken; 0 = more are needed.
  std::size_t one(std::string_view s) {
    if (s.empty()) return 0;
    if (s[0] == '\r') {
      column_ = 0;
      full_ = false;
      return 1;
    }
    if (s[0] == '\n') {
      full_ = false;
      feed();
      return 1;
    }
    if (s[0] == '\033') return sequence(s);
    if (static_cast<unsigned char>(s[0]) < 0x20) throw std::runtime_error("a control character");
    std::size_t length = 1;
    const auto lead = static_cast<unsigned char>(s[0]);
    if (lead >= 0xf0)
      length = 4;
    else if (lead >= 0xe0)
      length = 3;
    else if (lead >= 0xc0)
      length = 2;
    if (s.size() < length) return 0;
    put(std::string(s.substr(0, length)));
    return length;
  }

  std::size_t sequence(std::string_view s) {
    if (s.size() < 2) return 0;
    if (s[1] != '[') throw std::runtime_error("an unknown sequence");
    std::size_t end = 2;
    while (end < s.size() && (s[end] < '@' || s[end] > '~')) ++end;
    if (end == s.size()) return 0;
    const std::string_view given = s.substr(2, end - 2);
    const auto number = [&](std::size_t otherwise) {
      return given.empty() ? otherwise : std::stoul(std::string(given));
    };
    switch (s[end]) {
      case 'H':
        if (!given.empty()) throw std::runtime_error("only home is known");
        row_ = column_ = 0;
        full_ = false;
        break;
      case 'A': row_ -= std::min(row_, number(1)); break;
      case 'K':
        for (std::size_t c = number(0) == 2 ? 0 : column_; c < columns_; ++c) lines_[row_][c] = " ";
        break;
      case 'J':
        for (std::size_t r = number(0) == 2 ? 0 : row_; r < lines_.size(); ++r)
          for (std::size_t c = r == row_ && number(0) == 0 ? column_ : 0; c < columns_; ++c)
            lines_[r][c] = " ";
        break;
      case 'm': colours += number(0) != 0 ? 1 : 0; break;
      case 'h':
      case 'l': {
        const bool set = s[end] == 'h';
        if (given == "?1049") {
          other_screen = set;
          ever_other_screen = ever_other_screen || set;
          std::swap(lines_, aside_);
          std::swap(row_, row_aside_);
          std::swap(column_, column_aside_);
          full_ = false;
          lines_.resize(rows_, std::vector<std::string>(columns_, " "));
          resize(columns_, rows_);
        } else if (given == "?25") {
          cursor_hidden = set ? false : true;
        } else {
          throw std::runtime_error("an unknown mode");
        }
        break;
      }
      default: throw std::runtime_error("an unknown sequence: " + std::string(s.substr(1, end)));
    }
    return end + 1;
  }

  void put(std::string character) {
    const std::size_t width = reactor::columns(character);
    if (width == 0) {
      lines_[row_][column_ > 0 && !full_ ? column_ - 1 : column_] += character;
      return;
    }
    if (full_ || column_ + width > columns_) {
      ++wrapped;
      column_ = 0;
      full_ = false;
      feed();
    }
    lines_[row_][column_] = std::move(character);
    for (std::size_t i = 1; i < width; ++i) lines_[row_][column_ + i] = "";
    column_ += width;
    if (column_ >= columns_) {
      column_ = columns_ - 1;
      full_ = true;
    }
  }

  void feed() {
    if (row_ + 1 < lines_.size()) {
      ++row_;
      return;
    }
    ++scrolled;
    lines_.erase(lines_.begin());
    lines_.emplace_back(columns_, " ");
  }

  std::size_t columns_ = 0, rows_ = 0, row_ = 0, column_ = 0;
  std::size_t row_aside_ = 0, column_aside_ = 0;  // of the screen that is not shown
  bool full_ = false;
  std::vector<std::vector<std::string>> lines_, aside_;
  std::string held_;
};

}  // namespace cli
