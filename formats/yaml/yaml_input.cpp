#include "formats/yaml/yaml_input.hpp"

#include <yaml.h>

#include <array>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace formats {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr int most_mends = 100;
constexpr std::size_t private_characters = 0x1900;  // from U+E000

std::string private_character(std::size_t n) {
  const std::size_t rune = 0xe000 + n;
  return {static_cast<char>(0xe0 | (rune >> 12)), static_cast<char>(0x80 | ((rune >> 6) & 0x3f)),
          static_cast<char>(0x80 | (rune & 0x3f))};
}

}  // namespace

yaml_input::yaml_input(std::string_view all) : given_(all) {
  // libyaml passes over one that begins a line; to go-yaml it is a letter there.
  for (std::size_t at = 1; (at = text().find(byte_order_mark, at)) != std::string_view::npos;) {
    if (mark_.empty()) mark_ = unused();
    if (mark_.empty()) return;
    replace(at, byte_order_mark.size(), mark_);
  }
  spoil_what_go_refuses();
}

void yaml_input::spoil_what_go_refuses() {
  const auto all = text();
  const auto tag_before_comma = [&] {
    for (std::size_t at = 0; (at = all.find('!', at)) != all.npos; ++at)
      if (const auto end = all.find_first_of(", \n", at); end != all.npos && all[end] == ',')
        return true;
    return false;
  };
  if (all.find("\\/") == all.npos && all.find("%YAML") == all.npos && !tag_before_comma()) return;
  yaml_parser_t scanner;
  if (!yaml_parser_initialize(&scanner)) throw std::bad_alloc();
  const std::unique_ptr<yaml_parser_t, decltype(&yaml_parser_delete)> own(&scanner,
                                                                          &yaml_parser_delete);
  yaml_parser_set_input_string(&scanner, reinterpret_cast<const unsigned char*>(all.data()),
                               all.size());
  std::size_t character = 0, byte = all.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  const auto go_to = [&](const yaml_mark_t& mark) {
    for (; byte < all.size() && character < mark.index; ++character)
      while (++byte < all.size() && (static_cast<unsigned char>(all[byte]) & 0xc0) == 0x80) {
      }
    return byte;
  };
  std::vector<std::pair<std::size_t, std::string_view>> changes;
  const auto quoted = [&](std::size_t at, std::size_t end) {
    for (; at + 1 < end; ++at)
      if (all[at] == '\\' && all[++at] == '/') changes.emplace_back(at, "q");
  };
  bool again = false;
  /// False behind the last token that is as go-yaml has it.
  const auto look = [&](const yaml_token_t& token) {
    if (scanner.encoding != YAML_UTF8_ENCODING) return false;
    if (token.type == YAML_VERSION_DIRECTIVE_TOKEN && token.data.version_directive.minor == 2)
      changes.emplace_back(go_to(token.end_mark) - 1, "3");
    if (token.type == YAML_SCALAR_TOKEN &&
        token.data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE) {
      const std::size_t begin = go_to(token.start_mark);
      quoted(begin, go_to(token.end_mark));
    }
    if (token.type != YAML_TAG_TOKEN) return true;
    const std::size_t end = go_to(token.end_mark);
    again = end < all.size() && all[end] == ',' && mends_ < most_mends;
    if (again) changes.emplace_back(end, "x");
    return !again;
  };
  bool more = true, scanned = true;
  while (more) {
    yaml_token_t token;
    scanned = yaml_parser_scan(&scanner, &token) != 0;
    more = scanned && token.type != YAML_STREAM_END_TOKEN && look(token);
    if (scanned) yaml_token_delete(&token);
  }
  if (!scanned) {
    // What was read before the fault, and where that lies.
    const auto* waiting = scanner.tokens.head;
    while (waiting != scanner.tokens.tail && look(*waiting)) ++waiting;
    if (!again && scanner.context &&
        scanner.context == std::string_view("while scanning a quoted scalar")) {
      const std::size_t begin = go_to(scanner.context_mark);
      if (begin < all.size() && all[begin] == '"') quoted(begin, go_to(scanner.problem_mark));
    }
  }
  for (const auto& [at, by] : changes) replace(at, by.size(), by);
  if (!again) return;
  ++mends_;
  spoil_what_go_refuses();
}

std::string yaml_input::unused() {
  while (taken_ < private_characters) {
    auto one = private_character(taken_++);
    if (text().find(one) == std::string_view::npos) return one;
  }
  return {};
}

void yaml_input::replace(std::size_t at, std::size_t size, std::string_view by) {
  if (!std::exchange(changed_, true)) own_ = given_;
  own_.replace(at, size, by.data(), by.size());
}

std::size_t yaml_input::byte_of(std::size_t character) const {
  const auto all = text();
  std::size_t at = all.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  for (; at < all.size(); ++at)
    if ((static_cast<unsigned char>(all[at]) & 0xc0) != 0x80 && character-- == 0) return at;
  return all.size();
}

bool yaml_input::mend(const yaml_parser_t& refused) {
  const bool utf8 = refused.encoding == YAML_UTF8_ENCODING;
  if (refused.error != YAML_SCANNER_ERROR || !refused.problem || !utf8) return false;
  const std::string_view why = refused.problem;
  const auto at = byte_of(refused.problem_mark.index);
  const auto here = text().substr(at);
  const auto stand_in = [&](std::string& one) {
    if (one.empty()) one = unused();
    if (one.empty() || mends_ == most_mends) return false;
    ++mends_;
    replace(at, 1, one);
    spoil_what_go_refuses();  // the scanner gets further now
    return true;
  };
  if (why == "found unexpected ':'" && here.starts_with(':')) return stand_in(colon_);
  if (why == "found unknown escape character" && here.starts_with("\\'")) return stand_in(nothing_);
  // Such tags say nothing, whatever their last letter.
  const bool tag = why == "did not find expected tag URI" ||
                   why == "did not find expected whitespace or line break";
  std::string letter = "x";
  return tag && !here.empty() && std::string_view(",[]").find(here[0]) != std::string_view::npos &&
         stand_in(letter);
}

std::string_view yaml_input::written(std::string_view scalar, reactor::wiped_string& room) const {
  if (!changed_) return scalar;
  room = scalar;
  const std::array<std::pair<const std::string&, std::string_view>, 3> all{
      {{colon_, ":"}, {nothing_, ""}, {mark_, byte_order_mark}}};
  for (const auto& [one, is] : all)
    if (!one.empty())
      for (std::size_t at = 0; (at = room.find(one.data(), at, one.size())) != room.npos;
           at += is.size())
        room.replace(at, one.size(), is.data(), is.size());
  return room;
}

}  // namespace formats
