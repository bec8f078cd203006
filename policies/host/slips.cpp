#include "policies/host/slips.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace policies {
namespace {

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool in_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9');
}

struct token {
  std::string_view text;  // a name, or one character
  int line;
};

/// The names and signs of a Lua source: no comments, texts or numbers.
class scanner {
public:
  explicit scanner(std::string_view source) : source_(source) {}

  std::vector<token> all() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
      } else if (source_.substr(at_, 2) == "--") {
        at_ += 2;
        if (!skip_long()) at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (c == '[' && skip_long()) {
        out_.push_back({"\"", line_});
      } else if (c == '"' || c == '\'') {
        skip_text(c);
        out_.push_back({"\"", line_});
      } else if (starts_name(c)) {
        const std::size_t from = at_;
        while (at_ < source_.size() && in_name(source_[at_])) ++at_;
        out_.push_back({source_.substr(from, at_ - from), line_});
      } else if (c >= '0' && c <= '9') {
        while (at_ < source_.size() && (in_name(source_[at_]) || source_[at_] == '.')) ++at_;
        out_.push_back({"0", line_});
      } else if (source_.substr(at_, 2) == "..") {
        at_ += 2;  // concatenation is no field
      } else {
        if (c != ' ' && c != '\t' && c != '\r') out_.push_back({source_.substr(at_, 1), line_});
        ++at_;
      }
    }
    return std::move(out_);
  }

private:
  bool skip_long() {
    std::size_t open = at_;
    if (open >= source_.size() || source_[open] != '[') return false;
    ++open;
    while (open < source_.size() && source_[open] == '=') ++open;
    if (open >= source_.size() || source_[open] != '[') return false;
    const std::string close = "]" + std::string(open - at_ - 1, '=') + "]";
    const std::size_t end = std::min(source_.find(close, open), source_.size() - 1);
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = std::min(end + close.size(), source_.size());
    return true;
  }
  void skip_text(char quote) {
    for (++at_; at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n'; ++at_) {
      if (source_[at_] == '\\') ++at_;
    }
    if (at_ < source_.size() && source_[at_] == quote) ++at_;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<token> out_;
};

void add_names(const shape& s, std::set<std::string, std::less<>>& names) {
  for (const shape& inner : s.of) add_names(inner, names);
  for (const shape_member& m : s.members) {
    names.insert(m.name);
    add_names(m.is, names);
  }
}

}  // namespace

std::string source_slip::message() const {
  const std::string where = file + ":" + std::to_string(line) + ": ";
  if (right.empty()) return where + "the pack declares no signal '" + wrong + "'";
  return where + "nothing has a field '" + wrong + "', is it " + right + "?";
}

std::vector<source_slip> find_slips(const pack_files& files, const hook_list& hooks,
                                    const std::vector<signal_declaration>& signals) {
  std::set<std::string, std::less<>> known;
  for (const hook& h : hooks) {
    if (!h.is_described()) return {};
    for (const shape_member& a : h.arguments) add_names(a.is, known);
    add_names(h.answer, known);
  }
  // What the pack names itself: keys of its tables, and fields it sets; its data files may hold any
  // name.
  std::set<std::string, std::less<>> own{
      "byte",   "char",  "find",       "format",    "gmatch",  "gsub",    "len",    "lower",
      "match",  "rep",   "reverse",    "sub",       "upper",   "abs",     "ceil",   "floor",
      "max",    "min",   "huge",       "pi",        "concat",  "insert",  "remove", "sort",
      "unpack", "parse", "compare",    "satisfies", "problem", "overlap", "valid",  "major",
      "minor",  "patch", "prerelease", "build",     "encode",  "decode"};
  for (const hook& h : hooks) {
    own.insert(h.family());
    own.insert(h.function());
  }
  std::vector<std::pair<const std::string*, std::vector<token>>> sources;
  for (const auto& [name, content] : files) {
    if (!name.ends_with(".lua")) continue;
    auto tokens = scanner(content).all();
    if (!name.ends_with("_test.lua")) {
      for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
        const bool named = starts_name(tokens[i].text[0]);
        const bool assigned =
            tokens[i + 1].text == "=" && (i + 2 >= tokens.size() || tokens[i + 2].text != "=");
        if (named && assigned) own.emplace(tokens[i].text);
        // function module.name(
        if (named && i >= 3 && tokens[i - 1].text == "." && tokens[i - 3].text == "function")
          own.emplace(tokens[i].text);
      }
    }
    sources.emplace_back(&name, std::move(tokens));
  }
  std::vector<source_slip> found;
  for (const auto& [name, tokens] : sources) {
    if (name->ends_with("_test.lua")) continue;  // those are checked as they run
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      if (tokens[i - 1].text != "." || !starts_name(tokens[i].text[0])) continue;
      const std::string_view wrong = tokens[i].text;
      // fleet.signals.NAME
      if (i >= 3 && tokens[i - 2].text == "signals" && tokens[i - 3].text == ".") {
        if (std::ranges::find(signals, wrong, &signal_declaration::name) == signals.end())
          found.push_back({*name, tokens[i].line, std::string(wrong), {}});
        continue;
      }
      if (known.contains(wrong) || own.contains(wrong)) continue;
      for (const std::string& right : known) {
        if (!is_slip(wrong, right)) continue;
        found.push_back({*name, tokens[i].line, std::string(wrong), right});
        break;
      }
    }
  }
  return found;
}

}  // namespace policies
