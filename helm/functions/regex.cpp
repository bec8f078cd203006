#include "formats/go/regex.hpp"

#include "formats/plain/deep_stack.hpp"
#include "helm/functions/functions.hpp"
#include "helm/go.hpp"
#include "helm/template/executor.hpp"
#include "reactor/plain/keyed_map.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <memory>

namespace helm {

namespace {

using args = std::span<value>;

/// Compiled expressions, kept because charts match the same few in loops.
struct compiled {
  std::unique_ptr<RE2> re;
  std::string error;
};

constexpr std::size_t most_expressions = 8;
constexpr std::size_t bytes_per_step = 8;

/// Those of one render: they go with it.
struct expressions final : executor::kept {
  reactor::keyed_map<std::string, compiled> all;
};

const compiled& compile(executor& e, const std::string& pattern) {
  auto& kept = e.keep<expressions>();
  if (const compiled* found = kept.all.find(pattern)) return *found;
  if (kept.all.size() >= most_expressions) kept.all.clear();
  count_pattern(pattern.size());
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(expression_bytes);
  compiled c;
  // Go's flags: $ without (?m) is the end of the text, . does not match a newline.
  c.re = std::make_unique<RE2>(regex_for_re2(pattern), options);
  if (!c.re->ok()) c.error = regex_syntax_text(*c.re, pattern);
  return *kept.all.try_emplace(pattern, std::move(c)).first;
}

std::string quoted_pattern(const std::string& p) {
  return can_backquote(p) ? "`" + p + "`" : quote(p);
}

enum class failing : bool { panics, reports };

const RE2& use(executor& e, const std::string& pattern, failing how) {
  const auto& c = compile(e, pattern);
  if (c.error.empty()) return *c.re;
  throw function_error(how == failing::reports
                           ? c.error
                           : "regexp: Compile(" + quoted_pattern(pattern) + "): " + c.error);
}

/// How far behind the end of a match an expression may have had to look for a longer one: so many
/// bytes as it has instructions, to the end of the line, or of the text. (`.` matches no newline.)
enum class reach : std::uint8_t { itself, line, text };

reach reach_of(std::string_view pattern) {
  if (pattern.find_first_of("*+") == pattern.npos && pattern.find(",}") == pattern.npos)
    return reach::itself;
  for (const std::string_view more :
       {"[^", "\\s", "\\W", "\\D", "\\n", "\\x", "\\p", "\\P", "[[:", "\n"})
    if (pattern.find(more) != pattern.npos) return reach::text;
  for (auto at = pattern.find("(?"); at != pattern.npos; at = pattern.find("(?", at + 2))
    if (!pattern.substr(at).starts_with("(?:") && !pattern.substr(at).starts_with("(?P<"))
      return reach::text;
  return reach::line;
}

/// `text` as expressions see it, counted when that is another text.
regex_text looked_through(executor& e, const std::string& text) {
  regex_text out(text);
  if (out.seen().data() != text.data()) e.reserve(out.seen().size());
  return out;
}

/// Calls `found` with the submatches of each non-overlapping match, as regexp's allMatches does.
template <class Found>
void each_match(const RE2& re, const regex_text& in, std::int64_t limit, Found found) {
  const std::string_view s = in.seen();
  int groups = re.NumberOfCapturingGroups() + 1;
  std::vector<re2::StringPiece> m(static_cast<std::size_t>(groups));
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  std::ptrdiff_t previous_end = -1;
  count_match(re, s.size());
  const reach far = reach_of(re.pattern());
  std::int64_t count = 0;
  while ((limit < 0 || count < limit) && at <= s.size()) {
    if (!find_match(re, s, at, m.data(), groups)) {
      count_steps((s.size() - at) / bytes_per_step);
      break;
    }
    auto start = m[0].data() - s.data();
    auto end = start + static_cast<std::ptrdiff_t>(m[0].size());
    const std::size_t rest = s.size() - static_cast<std::size_t>(end);
    std::size_t behind = rest;
    if (far == reach::itself) behind = std::min(rest, static_cast<std::size_t>(re.ProgramSize()));
    if (far == reach::line)
      behind = std::min(
          rest, s.find('\n', static_cast<std::size_t>(end)) - static_cast<std::size_t>(end));
    count_steps(1 + (static_cast<std::size_t>(end) - at + behind) / bytes_per_step);
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
    parts.clear();
    for (const auto& one : m) parts.push_back(in.given({one.data(), one.size()}));
    found(parts);
  }
}

template <failing How>
value f_find(executor& e, args a) {
  re2::StringPiece m;
  const auto& re = use(e, a[0].text(), How);
  const auto t = looked_through(e, a[1].text());
  const std::string_view s = t.seen();
  count_match(re, s.size());
  if (!find_match(re, s, 0, &m, 1)) return "";
  return std::string(t.given({m.data(), m.size()}));
}

bool matches(executor& e, const RE2& re, const std::string& text) {
  const auto t = looked_through(e, text);
  count_match(re, t.seen().size());
  re2::StringPiece whole;
  return find_match(re, t.seen(), 0, &whole, 1);
}
value f_match(executor& e, args a) {
  const auto& c = compile(e, a[0].text());
  return c.error.empty() && matches(e, *c.re, a[1].text());
}
value f_must_match(executor& e, args a) {
  return matches(e, use(e, a[0].text(), failing::reports), a[1].text());
}

template <failing How>
value f_find_all(executor& e, args a) {
  value::list_type out;
  auto n = a[2].integer();
  const auto& re = use(e, a[0].text(), How);
  each_match(re, looked_through(e, a[1].text()), n < 0 ? -1 : n, [&](const auto& m) {
    e.reserve(16 + m[0].size());
    out.emplace_back(std::string(m[0]));
  });
  if (out.empty()) return value::nil_of(type::string_list);
  return value(std::move(out), type::string_list);
}

/// Appends `replacement` with $1, ${1}, $name resolved.
void expand(executor& e, std::string& out, std::string_view replacement, const RE2& re,
            const std::vector<std::string_view>& m) {
  const auto add = [&](std::string_view text) {
    e.reserve(text.size());
    check_text(out.size() + text.size());
    out += text;
  };
  const auto group_at = [&](std::size_t i) {
    if (i < m.size() && m[i].data()) add(m[i]);
  };
  while (!replacement.empty()) {
    count_steps(2);
    auto dollar = replacement.find('$');
    if (dollar == replacement.npos) break;
    add(replacement.substr(0, dollar));
    replacement.remove_prefix(dollar);
    if (replacement.size() > 1 && replacement[1] == '$') {
      add("$");
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
      add("$");
      replacement.remove_prefix(1);
      continue;
    }
    replacement = rest.substr(n + (brace ? 1 : 0));
    bool digits = name.find_first_not_of("0123456789") == name.npos;
    if (digits && name.size() < 9 && !(name.size() > 1 && name[0] == '0')) {
      auto number = static_cast<std::size_t>(parse_uint(name, 10).number);
      group_at(number);
      continue;
    }
    count_steps(re.CapturingGroupNames().size());
    for (const auto& [index, group] : re.CapturingGroupNames())
      if (group == name) group_at(static_cast<std::size_t>(index));
  }
  add(replacement);
}

template <failing How, bool Literal>
value f_replace(executor& e, args a) {
  const auto& re = use(e, a[0].text(), How);
  const auto& s = a[1].text();
  const auto& replacement = a[2].text();
  std::string out;
  std::size_t last = 0;
  each_match(re, looked_through(e, s), -1, [&](const auto& m) {
    auto start = static_cast<std::size_t>(m[0].data() - s.data());
    out.append(s, last, start - last);
    if (Literal) {
      e.reserve(replacement.size());
      check_text(out.size() + replacement.size());
      out += replacement;
    } else {
      expand(e, out, replacement, re, m);
    }
    last = start + m[0].size();
  });
  out.append(s, last);
  return out;
}

template <failing How>
value f_split(executor& e, args a) {
  auto n = a[2].integer();
  const auto& re = use(e, a[0].text(), How);
  const auto& s = a[1].text();
  if (n == 0) return value::nil_of(type::string_list);
  value::list_type out;
  if (!a[0].text().empty() && s.empty()) {
    out.emplace_back("");
    return value(std::move(out), type::string_list);
  }
  std::size_t begin = 0, end = 0;
  bool stopped = false;
  each_match(re, looked_through(e, s), n < 0 ? -1 : n, [&](const auto& m) {
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
