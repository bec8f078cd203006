// One table of functions; each is a few lines, and they are found here by their kind.
#include "formats/go/format.hpp"
#include "formats/plain/deep_stack.hpp"
#include "helm/functions/functions.hpp"
#include "helm/go.hpp"
#include "helm/template/executor.hpp"
#include "reactor/plain/uuid.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace helm {
namespace {

using args = std::span<value>;

const std::string& text(const value& v) {
  return v.text();
}
std::int64_t number(const value& v) {
  return v.integer();
}

[[noreturn]] void string_bounds(std::int64_t low, std::int64_t high, std::int64_t length) {
  slice_bounds(low, high, length, true);
}

/// s[low:high] with Go's run-time errors.
std::string cut(const std::string& s, std::int64_t low, std::int64_t high) {
  auto length = static_cast<std::int64_t>(s.size());
  if (high < 0 || high > length || low < 0 || low > high) string_bounds(low, high, length);
  return s.substr(static_cast<std::size_t>(low), static_cast<std::size_t>(high - low));
}

std::string repeat(executor& e, std::int64_t count, const std::string& s) {
  if (count < 0) throw function_error("strings: negative Repeat count");
  if (s.empty()) return {};
  if (static_cast<unsigned __int128>(count) * s.size() > INT64_MAX)
    throw function_error("strings: Repeat output length overflow");
  e.reserve(static_cast<std::uint64_t>(count) * s.size());
  std::string out;
  out.reserve(static_cast<std::size_t>(count) * s.size());
  for (std::int64_t i = 0; i < count; ++i) out += s;
  return out;
}

std::string indented(executor& e, std::int64_t spaces, const std::string& s) {
  if (spaces < 0) throw function_error("strings: negative Repeat count");
  auto lines = static_cast<std::uint64_t>(std::count(s.begin(), s.end(), '\n')) + 1;
  // The limit counts what is made here, not only what is printed.
  if (spaces > (1 << 30)) e.reserve(~std::uint64_t{0} >> 1);
  e.reserve(lines * static_cast<std::uint64_t>(spaces) + s.size());
  std::string pad(static_cast<std::size_t>(spaces), ' ');
  return pad + replace_all(s, "\n", "\n" + pad);
}

value f_trim(executor&, args a) {
  return trim_space(text(a[0]));
}
value f_trim_all(executor&, args a) {
  return trim_set(text(a[1]), text(a[0]));
}
value f_trim_suffix(executor&, args a) {
  const auto& s = text(a[1]);
  return s.ends_with(text(a[0])) ? value(s.substr(0, s.size() - text(a[0]).size())) : a[1];
}
value f_trim_prefix(executor&, args a) {
  const auto& s = text(a[1]);
  return s.starts_with(text(a[0])) ? value(s.substr(text(a[0]).size())) : a[1];
}
value f_upper(executor&, args a) {
  return upper(text(a[0]));
}
value f_lower(executor&, args a) {
  return lower(text(a[0]));
}

/// strings.Title: the first letter after anything that is not a letter, digit or underscore.
value f_title(executor&, args a) {
  std::string out;
  std::string_view s = text(a[0]);
  char32_t previous = ' ';
  auto separator = [](char32_t r) {
    if (r <= 0x7f)
      return !((r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') ||
               r == '_');
    if (is_letter(r) || is_digit(r)) return false;
    return is_space(r);
  };
  while (!s.empty()) {
    auto d = decode_rune(s);
    append_rune(out, separator(previous) ? to_title(d.rune) : d.rune);
    previous = d.rune;
    s.remove_prefix(static_cast<std::size_t>(d.size));
  }
  return out;
}

value f_untitle(executor&, args a) {
  std::string out;
  std::string_view s = text(a[0]);
  bool next = true;
  while (!s.empty()) {
    auto d = decode_rune(s);
    if (is_space(d.rune)) {
      next = true;
      append_rune(out, d.rune);
    } else {
      append_rune(out, next ? to_lower(d.rune) : d.rune);
      next = false;
    }
    s.remove_prefix(static_cast<std::size_t>(d.size));
  }
  return out;
}

value f_swapcase(executor&, args a) {
  std::string out;
  std::string_view s = text(a[0]);
  bool white = true;
  while (!s.empty()) {
    auto d = decode_rune(s);
    auto r = d.rune;
    if (is_upper(r) || is_title(r)) {
      r = to_lower(r);
      white = false;
    } else if (is_lower(r)) {
      r = white ? to_title(r) : to_upper(r);
      white = false;
    } else {
      white = is_space(r);
    }
    append_rune(out, r);
    s.remove_prefix(static_cast<std::size_t>(d.size));
  }
  return out;
}

value f_substr(executor&, args a) {
  auto start = number(a[0]);
  auto end = number(a[1]);
  const auto& s = text(a[2]);
  auto length = static_cast<std::int64_t>(s.size());
  if (start < 0) {
    if (end < 0 || end > length) slice_bounds(-1, end, length, true);
    return s.substr(0, static_cast<std::size_t>(end));
  }
  if (end < 0 || end > length) {
    if (start > length) slice_bounds(start, -2, length, true);
    return s.substr(static_cast<std::size_t>(start));
  }
  return cut(s, start, end);
}

value f_repeat(executor& e, args a) {
  return repeat(e, number(a[0]), text(a[1]));
}
value f_indent(executor& e, args a) {
  return indented(e, number(a[0]), text(a[1]));
}
value f_nindent(executor& e, args a) {
  return "\n" + indented(e, number(a[0]), text(a[1]));
}
value f_replace(executor& e, args a) {
  const auto& whole = text(a[2]);
  const auto& old = text(a[0]);
  const auto& fresh = text(a[1]);
  // Known before the text is made, which may be far too long to be made.
  std::uint64_t count = whole.size() + 1;
  if (!old.empty()) {
    count = 0;
    for (auto at = find_text(whole, old); at != whole.npos;
         at = find_text(whole, old, at + old.size()))
      ++count;
  }
  e.reserve(whole.size() + count * fresh.size());
  return replace_all(whole, old, fresh);
}
value f_contains(executor&, args a) {
  return find_text(text(a[1]), text(a[0])) != std::string::npos;
}
value f_has_prefix(executor&, args a) {
  return text(a[1]).starts_with(text(a[0]));
}
value f_has_suffix(executor&, args a) {
  return text(a[1]).ends_with(text(a[0]));
}
value f_plural(executor&, args a) {
  return number(a[2]) == 1 ? a[0] : a[1];
}

value f_trunc(executor&, args a) {
  auto n = number(a[0]);
  const auto& s = text(a[1]);
  auto length = static_cast<std::int64_t>(s.size());
  if (n < 0 && length + n > 0) return s.substr(static_cast<std::size_t>(length + n));
  if (n >= 0 && length > n) return s.substr(0, static_cast<std::size_t>(n));
  return a[1];
}

value f_quote(executor&, args a) {
  std::string out;
  for (const auto& v : a) {
    if (v.is_nil()) continue;
    check_text(out.size());
    if (!out.empty()) out += ' ';
    out += quote(text_form(v));
  }
  return out;
}
value f_squote(executor&, args a) {
  std::string out;
  for (const auto& v : a) {
    check_text(out.size());
    if (v.is_nil()) continue;
    if (!out.empty()) out += ' ';
    out += '\'' + format_value(v) + '\'';
  }
  return out;
}
value f_cat(executor& e, args a) {
  std::string out;
  bool first = true;
  for (const auto& v : a) {
    if (v.is_nil()) continue;
    if (!first) out += ' ';
    first = false;
    auto before = out.size();
    append_value(out, v);
    e.reserve(out.size() - before);
  }
  return out;
}

std::vector<std::string> text_forms(executor& e, const value& v) {
  std::vector<std::string> out;
  const auto add = [&](const value& item) {
    if (item.is_nil()) return;
    out.push_back(text_form(item));
    e.reserve(sizeof out[0] + out.back().size());
  };
  if (v.is_list())
    for (std::size_t i = 0; i < v.size(); ++i) add(v.at(i));
  else
    add(v);
  return out;
}

value f_join(executor& e, args a) {
  std::string out;
  bool first = true;
  for (const auto& s : text_forms(e, a[1])) {
    e.reserve(s.size() + text(a[0]).size());
    if (!first) out += text(a[0]);
    first = false;
    out += s;
  }
  return out;
}
value f_to_strings(executor& e, args a) {
  return a[0].kind() == type::string_list ? a[0] : value::strings(text_forms(e, a[0]));
}
value f_sort_alpha(executor& e, args a) {
  if (!a[0].is_list()) return value::strings({text_form(a[0])});
  auto out = text_forms(e, a[0]);
  std::sort(out.begin(), out.end());
  return value::strings(out);
}
value f_to_string(executor&, args a) {
  return text_form(a[0]);
}

value numbered(const std::vector<std::string>& parts) {
  value::map_type out;
  for (std::size_t i = 0; i < parts.size(); ++i)
    out.emplace("_" + std::to_string(i), value(parts[i]));
  return value(std::move(out), type::string_map);
}
constexpr std::uint64_t bytes_per_part = 64;

/// Accounts for the parts of a text before there are any.
const std::string& to_be_split(executor& e, const std::string& whole, const std::string& by) {
  std::uint64_t count = by.empty() ? whole.size() : 1;
  if (!by.empty())
    for (auto at = find_text(whole, by); at != whole.npos;
         at = find_text(whole, by, at + by.size()))
      ++count;
  e.reserve(count * bytes_per_part);
  return whole;
}
value f_split(executor& e, args a) {
  to_be_split(e, text(a[1]), text(a[0]));
  return numbered(split(text(a[1]), text(a[0])));
}
value f_splitn(executor& e, args a) {
  to_be_split(e, text(a[2]), text(a[0]));
  auto n = std::clamp<std::int64_t>(number(a[1]), -1, INT32_MAX);
  return numbered(split(text(a[2]), text(a[0]), static_cast<int>(n)));
}
value f_split_list(executor& e, args a) {
  to_be_split(e, text(a[1]), text(a[0]));
  // Splitting "" by "" gives nothing, by anything else one empty element.
  return value::strings(split(text(a[1]), text(a[0])));
}

value f_nospace(executor&, args a) {
  // Works on bytes taken as runes, as the original does.
  const auto& s = text(a[0]);
  std::string out;
  bool dropped = false;
  for (char c : s) {
    auto r = static_cast<unsigned char>(c);
    if (is_space(r))
      dropped = true;
    else
      append_rune(out, r);
  }
  return dropped ? value(out) : a[0];
}

value f_initials(executor&, args a) {
  std::string out;
  bool gap = true;
  for (char c : text(a[0])) {
    auto r = static_cast<unsigned char>(c);
    if (is_space(r)) {
      gap = true;
    } else if (gap) {
      append_rune(out, r);
      gap = false;
    }
  }
  return out;
}

std::string abbreviated(std::string_view s, std::int64_t offset, std::int64_t width) {
  auto length = static_cast<std::int64_t>(s.size());
  if (s.empty() || width < 4) return {};
  if (length <= width) return std::string(s);
  offset = std::min(offset, length);
  if (length - offset < width - 3) offset = length - (width - 3);
  if (offset <= 4) return std::string(s.substr(0, static_cast<std::size_t>(width - 3))) + "...";
  if (width < 7) return {};
  if (offset + width - 3 < length)
    return "..." + abbreviated(s.substr(static_cast<std::size_t>(offset)), 0, width - 3);
  return "..." + std::string(s.substr(static_cast<std::size_t>(length - (width - 3))));
}
value f_abbrev(executor&, args a) {
  if (number(a[0]) < 4) return a[1];
  return abbreviated(text(a[1]), 0, number(a[0]));
}
value f_abbrevboth(executor&, args a) {
  auto left = number(a[0]);
  auto right = number(a[1]);
  if (right < 4 || (left > 0 && right < 7)) return a[2];
  return abbreviated(text(a[2]), left, right);
}

std::string wrapped(executor& e, const std::string& s, std::int64_t width, std::string line_end,
                    bool break_words) {
  if (s.empty()) return {};
  if (line_end.empty()) line_end = "\n";
  width = std::max<std::int64_t>(width, 1);
  std::string out;
  auto length = static_cast<std::int64_t>(s.size());
  std::int64_t offset = 0;
  auto piece = [&](std::int64_t from, std::int64_t to) {
    out.append(s, static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
  };
  const auto break_line = [&] {
    e.reserve(line_end.size());
    out += line_end;
  };
  while (length - offset > width) {
    if (s[static_cast<std::size_t>(offset)] == ' ') {
      ++offset;
      continue;
    }
    // Not further back than this line begins.
    const auto line = std::string_view(s).substr(static_cast<std::size_t>(offset),
                                                 static_cast<std::size_t>(width) + 1);
    auto space = line.rfind(' ');
    if (space != line.npos) {
      piece(offset, offset + static_cast<std::int64_t>(space));
      break_line();
      offset += static_cast<std::int64_t>(space) + 1;
    } else if (break_words) {
      piece(offset, offset + width);
      break_line();
      offset += width;
    } else {
      space = s.find(' ', static_cast<std::size_t>(offset + width));
      if (space == s.npos) {
        piece(offset, length);
        offset = length;
      } else {
        piece(offset, static_cast<std::int64_t>(space));
        break_line();
        offset = static_cast<std::int64_t>(space) + 1;
      }
    }
  }
  piece(offset, length);
  return out;
}
value f_wrap(executor& e, args a) {
  return wrapped(e, text(a[1]), number(a[0]), "", false);
}
value f_wrap_with(executor& e, args a) {
  return wrapped(e, text(a[2]), number(a[0]), text(a[1]), true);
}

bool connector(char32_t r) {
  return r == '-' || r == '_' || is_space(r);
}

value f_camelcase(executor&, args a) {
  std::string out;
  std::string_view s = text(a[0]);
  auto take = [&] {
    auto d = decode_rune(s);
    s.remove_prefix(static_cast<std::size_t>(d.size));
    return d.rune;
  };
  bool first_upper = false;
  char32_t current = 0;
  bool any = false;
  while (!s.empty()) {
    any = true;
    current = take();
    if (!connector(current)) {
      first_upper = is_upper(current);
      current = to_upper(current);
      break;
    }
    append_rune(out, current);
  }
  if (s.empty()) {
    if (any) append_rune(out, current);
    return out;
  }
  while (!s.empty()) {
    auto previous = current;
    current = take();
    if (connector(current) && connector(previous)) {
      append_rune(out, previous);
      continue;
    }
    if (connector(previous)) {
      first_upper = is_upper(current);
      current = to_upper(current);
    } else {
      if (first_upper) {
        if (is_upper(current))
          current = to_lower(current);
        else
          first_upper = false;
      }
      append_rune(out, previous);
    }
  }
  append_rune(out, current);
  return out;
}

enum class word_kind : std::uint8_t {
  invalid,
  number,
  upper,
  alphabet,
  connector,
  punctuation,
  other
};
struct word {
  word_kind kind = word_kind::invalid;
  std::string_view text;
};

bool alphabet(char32_t r) {
  return is_letter(r) && (is_upper(r) || is_lower(r));
}

/// Runes that are not valid take the kind of the one before.
decoded valid_rune(std::string_view s, char32_t before) {
  decoded total{rune_error, 0};
  while (!s.empty()) {
    auto d = decode_rune(s);
    total.size += d.size;
    if (d.rune != rune_error) {
      total.rune = d.rune;
      return total;
    }
    s.remove_prefix(static_cast<std::size_t>(d.size));
  }
  total.rune = before;
  return total;
}

template <class Belongs>
void extend(std::string_view s, std::size_t& offset, char32_t& r, Belongs belongs) {
  while (offset < s.size()) {
    auto d = valid_rune(s.substr(offset), r);
    r = d.rune;
    if (!belongs(r)) return;
    offset += static_cast<std::size_t>(d.size);
  }
}

word next_word(std::string_view& s) {
  word w;
  if (s.empty()) return w;
  auto whole = s;
  auto d = valid_rune(s, rune_error);
  auto r = d.rune;
  auto offset = static_cast<std::size_t>(d.size);
  if (r == rune_error) {
    w.kind = word_kind::invalid;
  } else if (connector(r)) {
    w.kind = word_kind::connector;
    extend(s, offset, r, connector);
  } else if (is_punct(r)) {
    w.kind = word_kind::punctuation;
    extend(s, offset, r, is_punct);
  } else if (is_upper(r)) {
    w.kind = word_kind::upper;
    if (offset < s.size()) {
      auto second = valid_rune(s.substr(offset), r);
      r = second.rune;
      if (is_upper(r)) {
        auto previous = static_cast<std::size_t>(second.size);
        offset += previous;
        while (offset < s.size()) {
          auto more = valid_rune(s.substr(offset), r);
          r = more.rune;
          if (!is_upper(r)) break;
          previous = static_cast<std::size_t>(more.size);
          offset += previous;
        }
        // In "HTTPStatus" the S belongs to the next word.
        if (offset < s.size() && alphabet(r)) offset -= previous;
      } else if (alphabet(r)) {
        offset += static_cast<std::size_t>(second.size);
        extend(s, offset, r, [](char32_t c) { return alphabet(c) && !is_upper(c); });
      }
    }
  } else if (alphabet(r)) {
    w.kind = word_kind::alphabet;
    extend(s, offset, r, [](char32_t c) { return alphabet(c) && !is_upper(c); });
  } else if (is_number(r)) {
    w.kind = word_kind::number;
    extend(s, offset, r, is_number);
  } else {
    w.kind = word_kind::other;
    extend(s, offset, r, [](char32_t c) {
      return !(connector(c) || alphabet(c) || is_number(c) || is_punct(c));
    });
  }
  w.text = whole.substr(0, offset);
  s = whole.substr(offset);
  return w;
}

void append_word(std::string& out, const word& w, char mark) {
  if (w.kind == word_kind::upper || w.kind == word_kind::connector) {
    auto s = w.text;
    while (!s.empty()) {
      auto d = decode_rune(s);
      auto r = d.rune;
      append_rune(out, connector(r) ? static_cast<char32_t>(mark) : is_upper(r) ? to_lower(r) : r);
      s.remove_prefix(static_cast<std::size_t>(d.size));
    }
    return;
  }
  out += w.text;
}

std::string separated(std::string_view s, char mark) {
  std::string out;
  if (s.empty()) return out;
  auto w = next_word(s);
  auto loose = [](const word& x) {
    return x.kind == word_kind::alphabet || x.kind == word_kind::number;
  };
  auto ends = [](const word& x) {
    return x.kind == word_kind::connector || x.kind == word_kind::punctuation;
  };
  while (!s.empty()) {
    if (w.kind != word_kind::connector) append_word(out, w, mark);
    auto last = w;
    w = next_word(s);
    switch (last.kind) {
      case word_kind::number:
        while (loose(w)) {
          append_word(out, w, mark);
          w = next_word(s);
        }
        if (w.kind != word_kind::invalid && !ends(w)) out += mark;
        break;
      case word_kind::connector: append_word(out, last, mark); break;
      case word_kind::punctuation: break;
      default: {
        if (w.kind != word_kind::number) {
          if (!ends(w)) out += mark;
          break;
        }
        if (s.empty()) break;
        auto digits = w;
        w = next_word(s);
        if (w.kind != word_kind::alphabet) {
          append_word(out, digits, mark);
          if (!ends(w)) out += mark;
          break;
        }
        out += mark;
        append_word(out, digits, mark);
        while (loose(w)) {
          append_word(out, w, mark);
          w = next_word(s);
        }
        if (w.kind != word_kind::invalid && !ends(w)) out += mark;
      }
    }
  }
  append_word(out, w, mark);
  return out;
}
value f_snakecase(executor&, args a) {
  return separated(text(a[0]), '_');
}
value f_kebabcase(executor&, args a) {
  return separated(text(a[0]), '-');
}

std::uint64_t random_below(executor& e, std::uint64_t bound) {
  // Rejection keeps it uniform.
  auto limit = bound * (~std::uint64_t{0} / bound);
  for (;;) {
    count_steps(16);  // it asks the kernel
    unsigned char bytes[8];
    e.random(bytes);
    std::uint64_t n = 0;
    std::memcpy(&n, bytes, sizeof n);
    if (n < limit) return n % bound;
  }
}

value f_shuffle(executor& e, args a) {
  std::vector<std::string> runes = split(to_be_split(e, text(a[0]), ""), "");
  for (std::size_t i = runes.size(); i > 1; --i) std::swap(runes[i - 1], runes[random_below(e, i)]);
  std::string out;
  for (const auto& r : runes) out += r;
  return out;
}

std::string random_text(executor& e, const value& count, char from, char to, bool letters,
                        bool digits) {
  auto n = number(count);
  if (n <= 0) return {};
  e.reserve(static_cast<std::uint64_t>(n));
  std::string out;
  auto span = static_cast<std::uint64_t>(to - from) + 1;
  while (out.size() < static_cast<std::size_t>(n)) {
    auto c = static_cast<char>(from + static_cast<int>(random_below(e, span)));
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool digit = c >= '0' && c <= '9';
    if ((!letters && !digits) || (letters && letter) || (digits && digit)) out += c;
  }
  return out;
}
value f_rand_alpha_num(executor& e, args a) {
  return random_text(e, a[0], '0', 'z', true, true);
}
value f_rand_alpha(executor& e, args a) {
  return random_text(e, a[0], 'A', 'z', true, false);
}
value f_rand_numeric(executor& e, args a) {
  return random_text(e, a[0], '0', '9', false, true);
}
value f_rand_ascii(executor& e, args a) {
  return random_text(e, a[0], 32, 126, false, false);
}
value f_rand_int(executor& e, args a) {
  auto low = number(a[0]);
  auto span = number(a[1]) - low;
  if (span <= 0) throw function_error("invalid argument to Intn");
  return value::integer(
      low + static_cast<std::int64_t>(random_below(e, static_cast<std::uint64_t>(span))),
      type::int_);
}
value f_uuidv4(executor& e, args) {
  std::array<unsigned char, 16> b{};
  e.random(b);
  return reactor::uuid_text(b);
}
value f_hello(executor&, args) {
  return "Hello!";
}
value f_atoi(executor&, args a) {
  auto n = parse_int(text(a[0]), 10);
  // Atoi gives the nearest number when out of range.
  return value::integer(n.number, type::int_);
}

constexpr auto s = param::string;
constexpr auto i = param::int_;
constexpr auto any = param::any;
constexpr function table[] = {
    make_function("trim", {s}, f_trim),
    make_function("trimAll", {s, s}, f_trim_all),
    make_function("trimall", {s, s}, f_trim_all),
    make_function("trimSuffix", {s, s}, f_trim_suffix),
    make_function("trimPrefix", {s, s}, f_trim_prefix),
    make_function("upper", {s}, f_upper),
    make_function("lower", {s}, f_lower),
    make_function("title", {s}, f_title),
    make_function("untitle", {s}, f_untitle),
    make_function("swapcase", {s}, f_swapcase),
    make_function("substr", {i, i, s}, f_substr),
    make_function("repeat", {i, s}, f_repeat),
    make_function("indent", {i, s}, f_indent),
    make_function("nindent", {i, s}, f_nindent),
    make_function("replace", {s, s, s}, f_replace),
    make_function("contains", {s, s}, f_contains),
    make_function("hasPrefix", {s, s}, f_has_prefix),
    make_function("hasSuffix", {s, s}, f_has_suffix),
    make_function("plural", {s, s, i}, f_plural),
    make_function("trunc", {i, s}, f_trunc),
    make_function("quote", {any}, f_quote, true),
    make_function("squote", {any}, f_squote, true),
    make_function("cat", {any}, f_cat, true),
    make_function("join", {s, any}, f_join),
    make_function("toStrings", {any}, f_to_strings),
    make_function("sortAlpha", {any}, f_sort_alpha),
    make_function("toString", {any}, f_to_string),
    make_function("split", {s, s}, f_split),
    make_function("splitn", {s, i, s}, f_splitn),
    make_function("splitList", {s, s}, f_split_list),
    make_function("nospace", {s}, f_nospace),
    make_function("initials", {s}, f_initials),
    make_function("abbrev", {i, s}, f_abbrev),
    make_function("abbrevboth", {i, i, s}, f_abbrevboth),
    make_function("wrap", {i, s}, f_wrap),
    make_function("wrapWith", {i, s, s}, f_wrap_with),
    make_function("camelcase", {s}, f_camelcase),
    make_function("snakecase", {s}, f_snakecase),
    make_function("kebabcase", {s}, f_kebabcase),
    make_function("shuffle", {s}, f_shuffle),
    make_function("randAlphaNum", {i}, f_rand_alpha_num),
    make_function("randAlpha", {i}, f_rand_alpha),
    make_function("randNumeric", {i}, f_rand_numeric),
    make_function("randAscii", {i}, f_rand_ascii),
    make_function("randInt", {i, i}, f_rand_int),
    make_function("uuidv4", {}, f_uuidv4),
    make_function("hello", {}, f_hello),
    make_function("atoi", {s}, f_atoi),
};

}  // namespace

std::span<const function> string_functions() {
  return table;
}

}  // namespace helm
