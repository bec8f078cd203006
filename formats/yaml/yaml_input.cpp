#include "formats/yaml/yaml_input.hpp"

#include <yaml.h>

#include <array>
#include <utility>

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
