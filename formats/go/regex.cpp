#include "formats/go/regex.hpp"

#include "formats/plain/deep_stack.hpp"
#include "formats/plain/text.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <stdexcept>

namespace formats {

namespace {

// A pattern is parsed, simplified and made into a program, whether that becomes too large or not.
constexpr std::uint64_t steps_per_pattern = 5'000, steps_per_pattern_byte = 50;
constexpr std::uint64_t bytes_per_step = 32, instructions_per_step = 1'024;
constexpr std::uint64_t most_in_one_go = std::uint64_t{1} << 27;

constexpr std::string_view no_escape = "\\y";  // to RE2

}  // namespace

void count_pattern(std::size_t bytes) {
  count_steps(steps_per_pattern + steps_per_pattern_byte * bytes);
}

void count_match(const RE2& re, std::size_t bytes) {
  if (steps_left() == unbounded) return;
  const auto size = static_cast<std::uint64_t>(re.ProgramSize());
  if (bytes * size > most_in_one_go)
    throw std::length_error("a text of " + std::to_string(bytes) +
                            " bytes is too long for a regular expression of " +
                            std::to_string(size) + " instructions");
  count_steps(1 + bytes / bytes_per_step + bytes * size / instructions_per_step);
}

bool find_match(const RE2& re, std::string_view text, std::size_t from, re2::StringPiece* groups,
                int count) {
  const auto inside = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  while (re.Match({text.data(), text.size()}, from, text.size(), RE2::UNANCHORED, groups, count)) {
    const auto at = static_cast<std::size_t>(groups[0].data() - text.data());
    if (!groups[0].empty() || !inside(at)) return true;
    count_steps(1);
    for (from = at + 1; inside(from);) ++from;
  }
  return false;
}

regex_text::regex_text(std::string_view given) : given_(given) {
  if (valid_utf8(given)) return;
  for (std::size_t at = 0; at < given.size();) {
    const auto d = decode_rune(given.substr(at));
    const auto bytes = static_cast<std::size_t>(d.size);
    if (d.valid()) {
      seen_ += given.substr(at, bytes);
    } else {
      replaced_.push_back(seen_.size());
      append_rune(seen_, rune_error);
    }
    at += bytes;
  }
}

std::size_t regex_text::place(std::size_t at) const {
  const auto before = std::ranges::lower_bound(replaced_, at) - replaced_.begin();
  return at - 2 * static_cast<std::size_t>(before);  // three bytes stand for one
}

std::string_view regex_text::given(std::string_view part) const {
  if (replaced_.empty() || !part.data()) return part;
  const auto from = static_cast<std::size_t>(part.data() - seen_.data());
  const auto begin = place(from);
  return given_.substr(begin, place(from + part.size()) - begin);
}

std::string regex_for_re2(std::string_view pattern) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size();) {
    const auto rest = pattern.substr(at);
    std::size_t whole = 1;  // what is copied as it is
    if (rest.starts_with("\\Q")) {
      const auto end = rest.find("\\E");
      whole = end == rest.npos ? rest.size() : end + 2;
    } else if (rest.starts_with("\\C")) {
      // RE2's byte, which may be a part of a character. Go has no such escape.
      out += no_escape;
      at += 2;
      continue;
    } else if (rest[0] == '\\') {
      whole = std::min<std::size_t>(2, rest.size());
    } else if (rest[0] == '[') {
      // A ] that comes first stands for itself; [:alpha:] has one of its own.
      whole = rest.starts_with("[^") ? 2 : 1;
      if (rest.substr(whole).starts_with(']')) ++whole;
      while (whole < rest.size() && rest[whole] != ']') {
        const auto end =
            rest.substr(whole).starts_with("[:") ? rest.find(":]", whole + 2) : rest.npos;
        if (end != rest.npos)
          whole = end + 2;
        else
          whole += rest[whole] == '\\' ? 2 : 1;
      }
      whole = std::min(whole + 1, rest.size());
    } else if (rest.starts_with("(?<") || rest.starts_with("(?P<")) {
      at += rest[2] == '<' ? 3 : 4;
      out += "(?P<";
      // RE2 takes letters of all kinds in a name, Go those of ASCII.
      const auto name = pattern.substr(at, pattern.find('>', at) - at);
      if (std::any_of(name.begin(), name.end(), [](char c) { return (c & 0x80) != 0; })) out += '-';
      continue;
    }
    out += rest.substr(0, whole);
    at += whole;
  }
  return out;
}

std::string regex_syntax_text(const RE2& re, const std::string& pattern) {
  const char* what = "internal error";
  switch (re.error_code()) {
    case RE2::ErrorBadEscape: what = "invalid escape sequence"; break;
    case RE2::ErrorBadCharClass: what = "invalid character class"; break;
    case RE2::ErrorBadCharRange: what = "invalid character class range"; break;
    case RE2::ErrorMissingBracket: what = "missing closing ]"; break;
    case RE2::ErrorMissingParen: what = "missing closing )"; break;
    case RE2::ErrorUnexpectedParen: what = "unexpected )"; break;
    case RE2::ErrorTrailingBackslash: what = "trailing backslash at end of expression"; break;
    case RE2::ErrorRepeatArgument: what = "missing argument to repetition operator"; break;
    case RE2::ErrorRepeatSize: what = "invalid repeat count"; break;
    case RE2::ErrorRepeatOp: what = "invalid nested repetition operator"; break;
    case RE2::ErrorBadPerlOp: what = "invalid or unsupported Perl syntax"; break;
    case RE2::ErrorBadUTF8: what = "invalid UTF-8"; break;
    case RE2::ErrorBadNamedCapture: what = "invalid named capture"; break;
    case RE2::ErrorPatternTooLarge: what = "expression too large"; break;
    default: break;
  }
  auto argument = re.error_arg();
  // Go quotes the whole expression where the library names only the place.
  if (re.error_code() == RE2::ErrorMissingParen || re.error_code() == RE2::ErrorUnexpectedParen)
    argument = pattern;
  if (re.error_code() == RE2::ErrorTrailingBackslash) argument = "";
  // The group as it was written.
  const auto altered = [&] { return pattern.find(argument) == pattern.npos; };
  if (argument == no_escape && altered()) argument = "\\C";
  if (argument.starts_with("(?P<-") && altered()) argument.erase(4, 1);
  if (argument.starts_with("(?P<") && altered()) argument.erase(2, 1);
  return std::string("error parsing regexp: ") + what + ": `" + argument + "`";
}

std::shared_ptr<const regex> regex::compile(std::string_view source, std::string* why) {
  count_pattern(source.size());
  RE2::Options quiet;
  if (steps_left() != unbounded) quiet.set_max_mem(expression_bytes);
  quiet.set_log_errors(false);
  const std::string text(source);
  auto compiled = std::make_shared<const RE2>(regex_for_re2(text), quiet);
  if (!compiled->ok()) {
    if (why) *why = regex_syntax_text(*compiled, text);
    return nullptr;
  }
  auto made = std::make_shared<regex>();
  made->compiled_ = std::move(compiled);
  made->source_ = text;
  return made;
}

std::optional<std::size_t> regex::place_in(std::string_view text) const {
  const regex_text t(text);
  count_match(*compiled_, t.seen().size());
  re2::StringPiece whole;
  if (!find_match(*compiled_, t.seen(), 0, &whole, 1)) return std::nullopt;
  return static_cast<std::size_t>(t.given({whole.data(), whole.size()}).data() - text.data());
}

const std::string& regex::source() const noexcept {
  return source_;
}

}  // namespace formats
