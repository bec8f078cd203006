#include "formats/version_range.hpp"

#include <array>
#include <span>

namespace formats {
namespace {

constexpr std::size_t longest_version = 256, longest_range = 512, most_comparators = 64;

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_label(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

bool only_digits(std::string_view text) noexcept {
  for (const char c : text) {
    if (!is_digit(c)) return false;
  }
  return !text.empty();
}

/// The first part of `rest`, which loses it and the dot behind it.
std::string_view take_part(std::string_view& rest) noexcept {
  const std::size_t dot = rest.find('.');
  const std::string_view part = rest.substr(0, dot);
  rest = dot == rest.npos ? std::string_view() : rest.substr(dot + 1);
  return part;
}

bool good_labels(std::string_view text, bool numbers_are_plain) noexcept {
  if (text.empty() || text.back() == '.') return false;
  while (!text.empty()) {
    const std::string_view part = take_part(text);
    if (part.empty()) return false;
    for (const char c : part) {
      if (!is_label(c)) return false;
    }
    if (numbers_are_plain && part.size() > 1 && part.front() == '0' && only_digits(part))
      return false;
  }
  return true;
}

bool read_number(std::string_view text, std::uint64_t& out) noexcept {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return false;
  std::uint64_t n = 0;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (n > (UINT64_MAX - digit) / 10) return false;
    n = n * 10 + digit;
  }
  out = n;
  return true;
}

int sign(bool less) noexcept {
  return less ? -1 : 1;
}

/// Numbers of any length without leading zeros.
int compare_digits(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return sign(a.size() < b.size());
  return a == b ? 0 : sign(a < b);
}

enum class relation { equal, unequal, less, less_equal, greater, greater_equal };

/// One comparator. With parts missing (12.*) it speaks of all the versions from `bound` to before
/// `end`.
struct comparator {
  relation is = relation::equal;
  version_view bound, end;
  bool wild = false, endless = false;  // endless: *

  bool holds(const version_view& v) const noexcept {
    const int c = compare_versions(v, bound);
    if (!wild) {
      switch (is) {
        case relation::equal: return c == 0;
        case relation::unequal: return c != 0;
        case relation::less: return c < 0;
        case relation::less_equal: return c <= 0;
        case relation::greater: return c > 0;
        case relation::greater_equal: return c >= 0;
      }
    }
    const bool from = endless || c >= 0;
    const bool before = endless || compare_versions(v, end) < 0;
    switch (is) {
      case relation::equal: return from && before;
      case relation::unequal: return !(from && before);
      case relation::less: return !from;
      case relation::less_equal: return before;
      case relation::greater: return !before;
      case relation::greater_equal: return from;
    }
    return false;
  }
};

/// Reads a range from the left; hands each comparator on, with true where an alternative begins.
class range_reader {
public:
  explicit range_reader(std::string_view text) noexcept : text_(text) {}

  template <class Each>
  range_answer read(Each each) noexcept {
    if (text_.size() > longest_range) return wrong("is longer than 512 bytes", longest_range);
    bool first = true;
    std::size_t count = 0;
    skip_blanks();
    for (;;) {
      comparator c;
      if (const char* why = one(c)) return wrong(why, at_);
      if (++count > most_comparators) return wrong("has more than 64 comparators", at_);
      each(c, first);
      first = false;
      const std::size_t before = at_;
      skip_blanks();
      if (at_ == text_.size()) return {};
      if (text_.substr(at_).starts_with("||")) {
        at_ += 2;
        skip_blanks();
        first = true;
      } else if (text_[at_] == ',') {
        ++at_;
        skip_blanks();
      } else if (at_ == before) {
        return wrong("expected a blank, a comma or ||", at_);
      }
    }
  }

private:
  static range_answer wrong(const char* why, std::size_t at) noexcept { return {false, why, at}; }

  void skip_blanks() noexcept {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  const char* one(comparator& out) noexcept {
    struct spelled {
      std::string_view text;
      relation is;
    };
    constexpr spelled known[] = {{">=", relation::greater_equal}, {"<=", relation::less_equal},
                                 {"==", relation::equal},         {"!=", relation::unequal},
                                 {">", relation::greater},        {"<", relation::less},
                                 {"=", relation::equal}};
    for (const spelled& s : known) {
      if (!text_.substr(at_).starts_with(s.text)) continue;
      out.is = s.is;
      at_ += s.text.size();
      break;
    }
    skip_blanks();
    std::size_t end = at_;
    while (end < text_.size() && text_[end] != ' ' && text_[end] != '\t' && text_[end] != ',' &&
           text_[end] != '|')
      ++end;
    const std::string_view operand = text_.substr(at_, end - at_);
    if (operand.empty()) return "expected a version";
    if (const auto v = view_strict_version(operand)) {
      out.bound = *v;
    } else if (!wildcard(operand, out)) {
      return "expected a version of three numbers, or a wildcard such as 12.* or 1.x";
    }
    at_ = end;
    return nullptr;
  }

  static bool wildcard(std::string_view text, comparator& out) noexcept {
    if (text.starts_with('v')) text.remove_prefix(1);
    if (text.empty() || text.back() == '.') return false;
    std::uint64_t* const into[] = {&out.bound.major, &out.bound.minor, &out.bound.patch};
    std::size_t numbers = 0, parts = 0;
    for (; !text.empty(); ++parts) {
      if (parts == 3) return false;
      const std::string_view part = take_part(text);
      if (part == "*" || part == "x" || part == "X") {
        out.wild = true;
      } else {
        if (out.wild || !read_number(part, *into[parts]) || *into[parts] == UINT64_MAX)
          return false;
        ++numbers;
      }
    }
    if (!out.wild) return false;
    out.endless = numbers == 0;
    out.end = out.bound;
    if (numbers == 1) ++out.end.major;
    if (numbers == 2) ++out.end.minor;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The range's borders: where its answer changes, if it does, it does at one of them or right
/// behind it.
struct borders {
  std::array<version_view, 2 * most_comparators> at{};
  std::size_t count = 0;
};

void collect(std::string_view range, borders& out) noexcept {
  range_reader(range).read([&](const comparator& c, bool) {
    if (out.count + 2 > out.at.size()) return;
    out.at[out.count++] = c.bound;
    if (c.wild && !c.endless) out.at[out.count++] = c.end;
  });
}

}  // namespace

std::optional<version_view> view_strict_version(std::string_view text) noexcept {
  if (text.size() > longest_version) return std::nullopt;
  if (text.starts_with('v')) text.remove_prefix(1);
  version_view v;
  if (const std::size_t plus = text.find('+'); plus != text.npos) {
    v.build = text.substr(plus + 1);
    if (!good_labels(v.build, false)) return std::nullopt;
    text = text.substr(0, plus);
  }
  if (const std::size_t dash = text.find('-'); dash != text.npos) {
    v.prerelease = text.substr(dash + 1);
    if (!good_labels(v.prerelease, true)) return std::nullopt;
    text = text.substr(0, dash);
  }
  if (text.ends_with('.')) return std::nullopt;
  const std::string_view major = take_part(text), minor = take_part(text), patch = take_part(text);
  if (!text.empty() || !read_number(major, v.major) || !read_number(minor, v.minor) ||
      !read_number(patch, v.patch))
    return std::nullopt;
  return v;
}

int compare_prereleases(std::string_view a, std::string_view b) noexcept {
  if (a == b) return 0;
  if (a.empty() || b.empty()) return sign(b.empty());
  while (!a.empty() && !b.empty()) {
    const std::string_view x = take_part(a), y = take_part(b);
    if (x == y) continue;
    const bool x_counts = only_digits(x), y_counts = only_digits(y);
    if (x_counts && y_counts) return compare_digits(x, y);
    if (x_counts != y_counts) return sign(x_counts);
    return sign(x < y);
  }
  return a.empty() && b.empty() ? 0 : sign(a.empty());
}

int compare_versions(const version_view& a, const version_view& b) noexcept {
  if (a.major != b.major) return sign(a.major < b.major);
  if (a.minor != b.minor) return sign(a.minor < b.minor);
  if (a.patch != b.patch) return sign(a.patch < b.patch);
  return compare_prereleases(a.prerelease, b.prerelease);
}

range_answer range_holds(std::string_view range, const version_view& version) noexcept {
  bool any = false, all = false;
  range_answer read = range_reader(range).read([&](const comparator& c, bool first) {
    if (first) {
      any = any || all;
      all = true;
    }
    all = all && c.holds(version);
  });
  read.holds = read.wrong == nullptr && (any || all);
  return read;
}

range_answer read_range(std::string_view range) noexcept {
  return range_reader(range).read([](const comparator&, bool) {});
}

bool ranges_overlap(std::string_view a, std::string_view b) noexcept {
  if (read_range(a).wrong != nullptr || read_range(b).wrong != nullptr) return false;
  // In both is tried at the lowest version of all, and at each border and right behind it: with a
  // pre-release behind "-rc" comes "-rc.0", without one the lowest of the next patch.
  const auto both = [&](const version_view& v) {
    return range_holds(a, v).holds && range_holds(b, v).holds;
  };
  version_view lowest;
  lowest.prerelease = "0";
  if (both(lowest)) return true;
  std::array<char, longest_version + 2> longer{};
  for (const std::string_view range : {a, b}) {
    borders found;
    collect(range, found);
    for (const version_view& border : std::span(found.at).first(found.count)) {
      if (both(border)) return true;
      version_view behind = border;
      if (border.prerelease.empty()) {
        if (border.patch == UINT64_MAX) continue;
        ++behind.patch;
        behind.prerelease = "0";
      } else {
        const std::size_t size = border.prerelease.copy(longer.data(), longest_version);
        longer[size] = '.';
        longer[size + 1] = '0';
        behind.prerelease = {longer.data(), size + 2};
      }
      if (both(behind)) return true;
    }
  }
  return false;
}

}  // namespace formats
