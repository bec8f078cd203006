#include "formats/go/regex.hpp"

#include "helm/functions/functions.hpp"
#include "helm/go.hpp"
#include "helm/template/executor.hpp"
#include "reactor/plain/keyed_map.hpp"

#include <re2/re2.h>

#include <memory>

namespace helm {

namespace {

using args = std::span<value>;

/// Compiled expressions, kept because charts match the same few in loops.
struct compiled {
  std::unique_ptr<RE2> re;
  std::string error;
};

const compiled& compile(const std::string& pattern) {
  static thread_local reactor::keyed_map<std::string, compiled> cache;
  if (const compiled* found = cache.find(pattern)) return *found;
  if (cache.size() >= 256) cache.clear();
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(64 << 20);
  compiled c;
  // Go's flags: $ without (?m) is the end of the text, . does not match a newline.
  c.re = std::make_unique<RE2>(pattern, options);
  if (!c.re->ok()) c.error = regex_syntax_text(*c.re, pattern);
  return *cache.try_emplace(pattern, std::move(c)).first;
}

std::string quoted_pattern(const std::string& p) {
  return can_backquote(p) ? "`" + p + "`" : quote(p);
}

enum class failing : bool { panics, reports };

const RE2& use(const std::string& pattern, failing how) {
  const auto& c = compile(pattern);
  if (c.error.empty()) return *c.re;
  throw function_error(how == failing::reports
                           ? c.error
                           : "regexp: Compile(" + quoted_pattern(pattern) + "): " + c.error);
}

/// Calls `found` with the submatches of each non-overlapping match, as regexp's allMatches does.
template <class Found>
void each_match(const RE2& re, std::string_view s, std::int64_t limit, Found found) {
  int groups = re.NumberOfCapturingGroups() + 1;
  std::vector<re2::StringPiece> m(static_cast<std::size_t>(groups));
  re2::StringPiece text(s.data(), s.size());
  std::size_t at = 0;
  std::ptrdiff_t previous_end = -1;
  std::int64_t count = 0;
  while ((limit < 0 || count < limit) && at <= s.size()) {
    if (!re.Match(text, at, s.size(), RE2::UNANCHORED, m.data(), groups)) break;
    auto start = m[0].data() - s.data();
    auto end = start + static_cast<std::ptrdiff_t>(m[0].size());
    bool accept = true;
    if (static_cast<std::size_t>(end) == at) {
      // An empty match right after the last one does not count.
      if (start == previous_end) accept = false;
      auto d = decode_rune(s.substr(at));
      at += d.size > 0 ? static_cast<std::size_t>(d.size) : s.size() + 1;
    } else {
      at = static_cast<std::size_t>(end);
    }
    previous_end = end;
    if (!accept) continue;
    ++count;
    found(m);
  }
}

template <failing How>
value f_find(executor&, args a) {
  re2::StringPiece m;
  const auto& s = a[1].text();
  const auto& re = use(a[0].text(), How);
  if (!re.Match(s, 0, s.size(), RE2::UNANCHORED, &m, 1)) return "";
  return std::string(m.data(), m.size());
}

value f_match(executor&, args a) {
  const auto& c = compile(a[0].text());
  if (!c.error.empty()) return false;
  return RE2::PartialMatch(a[1].text(), *c.re);
}
value f_must_match(executor&, args a) {
  return RE2::PartialMatch(a[1].text(), use(a[0].text(), failing::reports));
}

template <failing How>
value f_find_all(executor& e, args a) {
  value::list_type out;
  auto n = a[2].integer();
  each_match(use(a[0].text(), How), a[1].text(), n < 0 ? -1 : n, [&](const auto& m) {
    e.reserve(16 + m[0].size());
    out.emplace_back(std::string(m[0].data(), m[0].size()));
  });
  if (out.empty()) return value::nil_of(type::string_list);
  return value(std::move(out), type::string_list);
}

/// Appends `replacement` with $1, ${1}, $name resolved.
void expand(std::string& out, std::string_view replacement, const RE2& re,
            const std::vector<re2::StringPiece>& m) {
  while (!replacement.empty()) {
    auto dollar = replacement.find('$');
    if (dollar == replacement.npos) break;
    out += replacement.substr(0, dollar);
    replacement.remove_prefix(dollar);
    if (replacement.size() > 1 && replacement[1] == '$') {
      out += '$';
      replacement.remove_prefix(2);
      continue;
    }
    auto rest = replacement.substr(1);
    bool brace = rest.starts_with('{');
    if (brace) rest.remove_prefix(1);
    std::size_t n = 0;
    while (n < rest.size()) {
      auto d = decode_rune(rest.substr(n));
      if (!is_letter(d.rune) && !is_digit(d.rune) && d.rune != '_') break;
      n += static_cast<std::size_t>(d.size);
    }
    auto name = rest.substr(0, n);
    if (name.empty() || (brace && (n >= rest.size() || rest[n] != '}'))) {
      out += '$';
      replacement.remove_prefix(1);
      continue;
    }
    replacement = rest.substr(n + (brace ? 1 : 0));
    bool digits = name.find_first_not_of("0123456789") == name.npos;
    if (digits && name.size() < 9 && !(name.size() > 1 && name[0] == '0')) {
      auto number = static_cast<std::size_t>(parse_uint(name, 10).number);
      if (number < m.size() && m[number].data()) out.append(m[number].data(), m[number].size());
      continue;
    }
    for (const auto& [index, group] : re.CapturingGroupNames())
      if (group == name && static_cast<std::size_t>(index) < m.size() &&
          m[static_cast<std::size_t>(index)].data())
        out.append(m[static_cast<std::size_t>(index)].data(),
                   m[static_cast<std::size_t>(index)].size());
  }
  out += replacement;
}

template <failing How, bool Literal>
value f_replace(executor& e, args a) {
  const auto& re = use(a[0].text(), How);
  const auto& s = a[1].text();
  const auto& replacement = a[2].text();
  std::string out;
  std::size_t last = 0;
  each_match(re, s, -1, [&](const auto& m) {
    auto start = static_cast<std::size_t>(m[0].data() - s.data());
    out.append(s, last, start - last);
    auto before = out.size();
    if (Literal)
      out += replacement;
    else
      expand(out, replacement, re, m);
    e.reserve(out.size() - before);
    last = start + m[0].size();
  });
  out.append(s, last);
  return out;
}

template <failing How>
value f_split(executor& e, args a) {
  auto n = a[2].integer();
  const auto& re = use(a[0].text(), How);
  const auto& s = a[1].text();
  if (n == 0) return value::nil_of(type::string_list);
  value::list_type out;
  if (!a[0].text().empty() && s.empty()) {
    out.emplace_back("");
    return value(std::move(out), type::string_list);
  }
  std::size_t begin = 0, end = 0;
  bool stopped = false;
  each_match(re, s, n < 0 ? -1 : n, [&](const auto& m) {
    if (stopped || (n > 0 && static_cast<std::int64_t>(out.size()) == n - 1)) {
      stopped = true;
      return;
    }
    auto start = static_cast<std::size_t>(m[0].data() - s.data());
    end = start;
    if (start + m[0].size() != 0) {
      e.reserve(16 + end - begin);
      out.emplace_back(s.substr(begin, end - begin));
    }
    begin = start + m[0].size();
  });
  if (end != s.size()) out.emplace_back(s.substr(begin));
  return value(std::move(out), type::string_list);
}

value f_quote_meta(executor&, args a) {
  std::string out;
  for (char c : a[0].text()) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

constexpr auto s = param::string;
constexpr auto i = param::int_;
constexpr function table[] = {
    make_function("regexMatch", {s, s}, f_match),
    make_function("mustRegexMatch", {s, s}, f_must_match),
    make_function("regexFind", {s, s}, f_find<failing::panics>),
    make_function("mustRegexFind", {s, s}, f_find<failing::reports>),
    make_function("regexFindAll", {s, s, i}, f_find_all<failing::panics>),
    make_function("mustRegexFindAll", {s, s, i}, f_find_all<failing::reports>),
    make_function("regexReplaceAll", {s, s, s}, f_replace<failing::panics, false>),
    make_function("mustRegexReplaceAll", {s, s, s}, f_replace<failing::reports, false>),
    make_function("regexReplaceAllLiteral", {s, s, s}, f_replace<failing::panics, true>),
    make_function("mustRegexReplaceAllLiteral", {s, s, s}, f_replace<failing::reports, true>),
    make_function("regexSplit", {s, s, i}, f_split<failing::panics>),
    make_function("mustRegexSplit", {s, s, i}, f_split<failing::reports>),
    make_function("regexQuoteMeta", {s}, f_quote_meta),
};

}  // namespace

std::span<const function> regex_functions() {
  return table;
}

}  // namespace helm
