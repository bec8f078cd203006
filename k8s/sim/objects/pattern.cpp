#include "k8s/sim/objects/pattern.hpp"

#include <cctype>
#include <optional>

namespace k8s::sim {

namespace {

constexpr std::size_t kStateLimit = 20'000;  // counted repetitions multiply
constexpr int kRepeatLimit = 1000;           // as RE2
constexpr int pattern_depth_limit = 100;

std::uint32_t next_rune(std::string_view s, std::size_t& i) {
  const auto byte = [&](std::size_t k) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(s[k]));
  };
  const std::uint32_t first = byte(i);
  const int extra = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  if (extra == 0 || i + static_cast<std::size_t>(extra) >= s.size()) {
    ++i;
    return first;
  }
  std::uint32_t rune = first & (0x3fu >> extra);
  for (int k = 1; k <= extra; ++k)
    rune = rune << 6 | (byte(i + static_cast<std::size_t>(k)) & 0x3fu);
  i += static_cast<std::size_t>(extra) + 1;
  return rune;
}

bool is_word(std::uint32_t c) {
  return c < 128 && (std::isalnum(static_cast<int>(c)) || c == '_');
}

}  // namespace

/// Thompson's construction, by recursive descent.
class pattern_compiler {
public:
  explicit pattern_compiler(std::string_view source) : rest_(source) {}

  bool run(pattern& into, std::string* why) {
    auto f = alternation(0);
    if (f && !rest_.empty()) fail("unexpected " + std::string(rest_.substr(0, 1)));
    if (!error_.empty() || !f) {
      if (why) *why = error_;
      return false;
    }
    const int accept = add(pattern::state::op::accept);
    patch(f->out, accept);
    into.states_ = std::move(states_);
    into.start_ = f->start;
    return true;
  }

private:
  using op = pattern::state::op;
  struct fragment {
    int start;
    std::vector<std::pair<int, bool>> out;  // state and which of its arrows dangles
  };
  using maybe = std::optional<fragment>;

  maybe fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
    return std::nullopt;
  }
  int add(op what) {
    states_.push_back({});
    states_.back().what = what;
    return static_cast<int>(states_.size()) - 1;
  }
  void patch(const std::vector<std::pair<int, bool>>& out, int to) {
    for (auto [s, other] : out)
      (other ? states_[static_cast<std::size_t>(s)].other
             : states_[static_cast<std::size_t>(s)].next) = to;
  }
  bool at_end() const { return rest_.empty(); }
  char peek() const { return rest_.front(); }

  fragment nothing() {
    const int s = add(op::split);  // both arrows lead on
    return {s, {{s, false}, {s, true}}};
  }

  maybe alternation(int depth) {
    if (depth > pattern_depth_limit) return fail("nested too deep");
    maybe left = sequence(depth);
    while (left && !at_end() && peek() == '|') {
      rest_.remove_prefix(1);
      maybe right = sequence(depth);
      if (!right) return right;
      const int s = add(op::split);
      states_[static_cast<std::size_t>(s)].next = left->start;
      states_[static_cast<std::size_t>(s)].other = right->start;
      fragment both{s, left->out};
      both.out.insert(both.out.end(), right->out.begin(), right->out.end());
      left = std::move(both);
    }
    return left;
  }

  maybe sequence(int depth) {
    maybe all;
    while (!at_end() && peek() != '|' && peek() != ')') {
      maybe one = repetition(depth);
      if (!one) return one;
      if (states_.size() > kStateLimit) return fail("too large");
      if (!all) {
        all = std::move(one);
      } else {
        patch(all->out, one->start);
        all->out = std::move(one->out);
      }
    }
    return all ? all : nothing();
  }

  maybe repetition(int depth) {
    const std::string_view before = rest_;
    maybe one = atom(depth);
    if (!one) return one;
    std::string_view source = before.substr(0, before.size() - rest_.size());
    while (!at_end()) {
      int low = 0, high = -1;
      const char c = peek();
      if (c == '*') {
        rest_.remove_prefix(1);
      } else if (c == '+') {
        low = 1;
        rest_.remove_prefix(1);
      } else if (c == '?') {
        high = 1;
        rest_.remove_prefix(1);
      } else if (c == '{' && counts(low, high)) {
        if (low > kRepeatLimit || high > kRepeatLimit || (high >= 0 && high < low))
          return fail("bad repeat count");
      } else {
        break;
      }
      if (!at_end() && peek() == '?') rest_.remove_prefix(1);  // lazy: the same language
      one = repeat(std::move(*one), source, low, high, depth);
      if (!one) return one;
      source = before.substr(0, before.size() - rest_.size());
    }
    return one;
  }

  bool counts(int& low, int& high) {
    std::size_t i = 1;
    auto digits = [&](int& n) {
      std::size_t from = i;
      n = 0;
      while (i < rest_.size() && std::isdigit(static_cast<unsigned char>(rest_[i])) &&
             i - from < 5) {
        n = n * 10 + (rest_[i++] - '0');
      }
      return i > from;
    };
    if (!digits(low)) return false;
    if (i < rest_.size() && rest_[i] == ',') {
      ++i;
      if (!digits(high)) high = -1;
    } else {
      high = low;
    }
    if (i >= rest_.size() || rest_[i] != '}') return false;
    rest_.remove_prefix(i + 1);
    return true;
  }

  /// The atom is compiled again from its source for each copy a count needs.
  maybe repeat(fragment first, std::string_view source, int low, int high, int depth) {
    auto star = [&](fragment f) {
      const int s = add(op::split);
      states_[static_cast<std::size_t>(s)].next = f.start;
      patch(f.out, s);
      return fragment{s, {{s, true}}};
    };
    auto optional = [&](fragment f) {
      const int s = add(op::split);
      states_[static_cast<std::size_t>(s)].next = f.start;
      fragment o{s, std::move(f.out)};
      o.out.emplace_back(s, true);
      return o;
    };
    auto copy = [&]() -> maybe {
      std::string_view saved = rest_;
      rest_ = source;
      maybe f = repetition(depth + 1);
      rest_ = saved;
      if (states_.size() > kStateLimit) return fail("too large");
      return f;
    };
    auto join = [&](maybe& all, fragment f) {
      if (!all) {
        all = std::move(f);
      } else {
        patch(all->out, f.start);
        all->out = std::move(f.out);
      }
    };
    if (depth > pattern_depth_limit) return fail("nested too deep");
    if (high == 0) return nothing();
    if (low == 0 && high < 0) return star(std::move(first));
    if (low == 0 && high == 1) return optional(std::move(first));
    maybe all;
    bool used = false;
    auto take = [&]() -> maybe {
      if (!used) {
        used = true;
        return std::move(first);
      }
      return copy();
    };
    for (int i = 0; i < low; ++i) {
      maybe f = take();
      if (!f) return f;
      join(all, std::move(*f));
    }
    if (high < 0) {
      maybe f = take();
      if (!f) return f;
      join(all, star(std::move(*f)));
    }
    for (int i = low; i < high; ++i) {
      maybe f = take();
      if (!f) return f;
      join(all, optional(std::move(*f)));
    }
    return all;
  }

  maybe single(std::vector<pattern::range> ranges, bool negated = false) {
    const int s = add(op::set);
    states_[static_cast<std::size_t>(s)].ranges = std::move(ranges);
    states_[static_cast<std::size_t>(s)].negated = negated;
    return fragment{s, {{s, false}}};
  }
  maybe edge(op what) {
    const int s = add(what);
    return fragment{s, {{s, false}}};
  }

  maybe atom(int depth) {
    const char c = peek();
    if (c == '(') {
      rest_.remove_prefix(1);
      if (rest_.starts_with("?")) {
        const std::size_t colon =
            rest_.starts_with("?P<") || rest_.starts_with("?<") ? rest_.find('>') : rest_.find(':');
        if (colon == std::string_view::npos || (colon > 1 && rest_[1] != 'P' && rest_[1] != '<')) {
          return fail("flags are not supported");
        }
        rest_.remove_prefix(colon + 1);
      }
      maybe inner = alternation(depth + 1);
      if (!inner) return inner;
      if (at_end() || peek() != ')') return fail("missing )");
      rest_.remove_prefix(1);
      return inner;
    }
    if (c == '[') return set();
    if (c == '\\') {
      if (rest_.size() < 2) return fail("trailing backslash");
      const char e = rest_[1];
      if (e == 'b' || e == 'B' || e == 'A' || e == 'z') {
        rest_.remove_prefix(2);
        return edge(e == 'b'   ? op::word_edge
                    : e == 'B' ? op::no_word_edge
                    : e == 'A' ? op::begin
                               : op::end);
      }
      std::vector<pattern::range> ranges;
      bool negated = false;
      if (!escape(ranges, negated)) return std::nullopt;
      return single(std::move(ranges), negated);
    }
    if (c == '*' || c == '+' || c == '?') return fail("missing argument to repetition operator");
    std::size_t i = 0;
    const std::uint32_t rune = next_rune(rest_, i);
    rest_.remove_prefix(i);
    if (c == '.') return single({{'\n', '\n'}}, true);
    if (c == '^') return edge(op::begin);
    if (c == '$') return edge(op::end);
    return single({{rune, rune}});
  }

  bool escape(std::vector<pattern::range>& into, bool& negated) {
    rest_.remove_prefix(1);
    std::size_t i = 0;
    const std::uint32_t c = next_rune(rest_, i);
    rest_.remove_prefix(i);
    switch (c) {
      case 'D': negated = true; [[fallthrough]];
      case 'd': into.push_back({'0', '9'}); return true;
      case 'W': negated = true; [[fallthrough]];
      case 'w':
        into.insert(into.end(), {{'a', 'z'}, {'A', 'Z'}, {'0', '9'}, {'_', '_'}});
        return true;
      case 'S': negated = true; [[fallthrough]];
      case 's': into.insert(into.end(), {{' ', ' '}, {'\t', '\n'}, {'\f', '\r'}}); return true;
      case 'n': into.push_back({'\n', '\n'}); return true;
      case 't': into.push_back({'\t', '\t'}); return true;
      case 'r': into.push_back({'\r', '\r'}); return true;
      default: break;
    }
    if (c < 128 && std::isalnum(static_cast<int>(c))) {
      fail("invalid escape sequence");
      return false;
    }
    into.push_back({c, c});
    return true;
  }

  maybe set() {
    rest_.remove_prefix(1);
    bool negated = false;
    if (!at_end() && peek() == '^') {
      negated = true;
      rest_.remove_prefix(1);
    }
    std::vector<pattern::range> ranges;
    bool first = true;
    while (!at_end() && (first || peek() != ']')) {
      first = false;
      if (rest_.starts_with("[:")) {
        const std::size_t close = rest_.find(":]");
        if (close == std::string_view::npos) return fail("missing :]");
        const std::string_view name = rest_.substr(2, close - 2);
        rest_.remove_prefix(close + 2);
        if (name == "alpha")
          ranges.insert(ranges.end(), {{'a', 'z'}, {'A', 'Z'}});
        else if (name == "digit")
          ranges.push_back({'0', '9'});
        else if (name == "alnum")
          ranges.insert(ranges.end(), {{'a', 'z'}, {'A', 'Z'}, {'0', '9'}});
        else if (name == "lower")
          ranges.push_back({'a', 'z'});
        else if (name == "upper")
          ranges.push_back({'A', 'Z'});
        else
          return fail("unknown class");
        continue;
      }
      std::uint32_t low = 0;
      if (peek() == '\\') {
        if (rest_.size() < 2) return fail("trailing backslash");
        std::vector<pattern::range> escaped;
        bool inverse = false;
        if (!escape(escaped, inverse)) return std::nullopt;
        if (inverse) return fail("negated class in a set is not supported");
        if (escaped.size() != 1 || escaped[0].low != escaped[0].high) {
          ranges.insert(ranges.end(), escaped.begin(), escaped.end());
          continue;
        }
        low = escaped[0].low;
      } else {
        std::size_t i = 0;
        low = next_rune(rest_, i);
        rest_.remove_prefix(i);
      }
      std::uint32_t high = low;
      if (rest_.size() >= 2 && rest_[0] == '-' && rest_[1] != ']') {
        rest_.remove_prefix(1);
        if (peek() == '\\') {
          if (rest_.size() < 2) return fail("trailing backslash");
          std::vector<pattern::range> escaped;
          bool inverse = false;
          if (!escape(escaped, inverse)) return std::nullopt;
          high = escaped[0].high;
        } else {
          std::size_t i = 0;
          high = next_rune(rest_, i);
          rest_.remove_prefix(i);
        }
        if (high < low) return fail("invalid character class range");
      }
      ranges.push_back({low, high});
    }
    if (at_end()) return fail("missing ]");
    rest_.remove_prefix(1);
    return single(std::move(ranges), negated);
  }

  std::string_view rest_;
  std::vector<pattern::state> states_;
  std::string error_;
};

std::shared_ptr<const pattern> pattern::compile(std::string_view source, std::string* why) {
  auto p = std::make_shared<pattern>();
  p->source_ = std::string(source);
  pattern_compiler c(p->source_);
  if (!c.run(*p, why)) return nullptr;
  return p;
}

bool pattern::found_in(std::string_view text) const {
  std::vector<std::int32_t> now, next, pending;
  std::vector<std::size_t> seen(states_.size(), 0);
  std::size_t round = 0;
  bool accepted = false;
  std::uint32_t left = 0, right = 0;
  auto enter = [&](std::vector<std::int32_t>& into, std::int32_t from, bool at_begin, bool at_end) {
    pending.push_back(from);
    while (!pending.empty()) {
      const std::int32_t s = pending.back();
      pending.pop_back();
      if (s < 0 || seen[static_cast<std::size_t>(s)] == round) continue;
      seen[static_cast<std::size_t>(s)] = round;
      const state& st = states_[static_cast<std::size_t>(s)];
      const bool edge = is_word(left) != is_word(right);
      switch (st.what) {
        case state::op::split:
          pending.push_back(st.other);
          pending.push_back(st.next);
          break;
        case state::op::begin:
          if (at_begin) pending.push_back(st.next);
          break;
        case state::op::end:
          if (at_end) pending.push_back(st.next);
          break;
        case state::op::word_edge:
          if (edge) pending.push_back(st.next);
          break;
        case state::op::no_word_edge:
          if (!edge) pending.push_back(st.next);
          break;
        case state::op::accept: accepted = true; break;
        case state::op::set: into.push_back(s); break;
      }
    }
  };
  std::size_t i = 0;
  auto peek = [&]() -> std::uint32_t {
    if (i >= text.size()) return 0;
    std::size_t k = i;
    return next_rune(text, k);
  };
  ++round;
  right = peek();
  enter(now, start_, true, text.empty());
  while (!accepted && i < text.size()) {
    const std::uint32_t c = next_rune(text, i);
    next.clear();
    ++round;
    left = c;
    right = peek();
    const bool last = i >= text.size();
    for (std::int32_t s : now) {
      const state& st = states_[static_cast<std::size_t>(s)];
      bool in = false;
      for (const range& r : st.ranges) in = in || (c >= r.low && c <= r.high);
      if (in != st.negated) enter(next, st.next, false, last);
    }
    enter(next, start_, false, last);
    now.swap(next);
  }
  return accepted;
}

}  // namespace k8s::sim
