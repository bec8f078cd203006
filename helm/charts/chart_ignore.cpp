#include "helm/charts/chart_ignore.hpp"

#include "formats/plain/path.hpp"
#include "helm/charts/chart.hpp"
#include "helm/go.hpp"

namespace helm {
namespace {

/// One bracket expression at the start of `p` (after '['); consumes it.
glob_result match_set(std::string_view& p, char32_t r) {
  bool negated = p.starts_with('^');
  if (negated) p.remove_prefix(1);
  bool in = false;
  int ranges = 0;
  auto take = [&](char32_t& out) {
    if (p.empty() || p[0] == '-' || p[0] == ']') return false;
    if (p[0] == '\\') {
      p.remove_prefix(1);
      if (p.empty()) return false;
    }
    auto d = decode_rune(p);
    if (!d.valid()) return false;
    out = d.rune;
    p.remove_prefix(static_cast<std::size_t>(d.size));
    return !p.empty();
  };
  for (;;) {
    if (p.starts_with(']') && ranges > 0) {
      p.remove_prefix(1);
      break;
    }
    char32_t low = 0, high = 0;
    if (!take(low)) return glob_result::broken;
    high = low;
    if (p.starts_with('-')) {
      p.remove_prefix(1);
      if (!take(high)) return glob_result::broken;
    }
    in = in || (low <= r && r <= high);
    ++ranges;
  }
  return in != negated ? glob_result::yes : glob_result::no;
}

glob_result match_here(std::string_view p, std::string_view s, int depth) {
  if (depth > 1000) return glob_result::no;
  while (!p.empty()) {
    if (p[0] == '*') {
      while (p.starts_with('*')) p.remove_prefix(1);
      for (std::size_t i = 0;; ++i) {
        auto r = match_here(p, s.substr(i), depth + 1);
        if (r != glob_result::no) return r;
        if (i >= s.size() || s[i] == '/') return glob_result::no;
      }
    }
    if (p[0] == '[') {
      p.remove_prefix(1);
      auto d = decode_rune(s);
      auto r = match_set(p, s.empty() ? 0 : d.rune);
      if (r == glob_result::broken) return r;
      if (s.empty() || r == glob_result::no) return glob_result::no;
      s.remove_prefix(static_cast<std::size_t>(d.size));
      continue;
    }
    if (p[0] == '?') {
      if (s.empty() || s[0] == '/') return glob_result::no;
      s.remove_prefix(static_cast<std::size_t>(decode_rune(s).size));
      p.remove_prefix(1);
      continue;
    }
    if (p[0] == '\\') {
      p.remove_prefix(1);
      if (p.empty()) return glob_result::broken;
    }
    if (s.empty() || s[0] != p[0]) return glob_result::no;
    s.remove_prefix(1);
    p.remove_prefix(1);
  }
  return s.empty() ? glob_result::yes : glob_result::no;
}

bool well_formed(std::string_view p) {
  while (!p.empty()) {
    const char first = p[0];
    p.remove_prefix(1);
    if (first == '[' && match_set(p, 0) == glob_result::broken) return false;
    if (first != '\\') continue;
    if (p.empty()) return false;
    p.remove_prefix(1);
  }
  return true;
}

}  // namespace

glob_result glob_match(std::string_view pattern, std::string_view name) {
  const auto matched = match_here(pattern, name, 0);
  // filepath.Match reads the rest of a pattern whose beginning did not match, too.
  return matched == glob_result::no && !well_formed(pattern) ? glob_result::broken : matched;
}

outcome<ignore_rules> ignore_rules::parse(std::string_view text) {
  ignore_rules out;
  for (const auto& line : split(text, "\n")) {
    auto added = out.add(line);
    if (!added) return added.error();
  }
  return out;
}

void ignore_rules::add_defaults() {
  static_cast<void>(add("templates/.?*"));
}

outcome<bool> ignore_rules::add(std::string_view line) {
  line = trim_space(line);
  if (line.empty() || line[0] == '#') return true;
  if (line.find("**") != line.npos) return problem{"double-star (**) syntax is not supported"};
  if (glob_match(line, "abc") == glob_result::broken) return problem{"syntax error in pattern"};
  rule r;
  if (line[0] == '!') {
    r.negated = true;
    line.remove_prefix(1);
  }
  if (line.ends_with('/')) {
    r.directories_only = true;
    line.remove_suffix(1);
  }
  if (line.starts_with('/')) {
    r.how = rule::against::rooted;
    line.remove_prefix(1);
  } else if (line.find('/') != line.npos) {
    r.how = rule::against::path;
  }
  r.pattern = line;
  rules_.push_back(std::move(r));
  return true;
}

bool ignore_rules::ignored(std::string_view path, bool is_directory) const {
  if (path.empty() || path == "." || path == "./") return false;
  for (const auto& r : rules_) {
    auto name = r.how == rule::against::base ? base_name(path) : std::string(path);
    bool matches = glob_match(r.pattern, name) == glob_result::yes;
    if (r.negated) {
      // Unlike git: what a negated rule does not name is out.
      if (r.directories_only && !is_directory) return true;
      if (!matches) return true;
      continue;
    }
    if (r.directories_only && !is_directory) continue;
    if (matches) return true;
  }
  return false;
}

}  // namespace helm
