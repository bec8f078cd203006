#include "reactor/http/message.hpp"

#include <algorithm>

namespace reactor::http {
namespace {

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// A '%' that is not followed by two digits stands for itself, as browsers and Go's lenient readers
/// have it.
std::string decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    out += text[i] == '+' && plus_is_space ? ' ' : text[i];
  }
  return out;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

void headers::set(std::string_view name, std::string value) {
  for (auto at = fields_.begin(); at != fields_.end(); ++at) {
    if (!same_name(at->first, name)) continue;
    at->second = std::move(value);
    fields_.erase(std::remove_if(at + 1, fields_.end(),
                                 [&](const auto& f) { return same_name(f.first, name); }),
                  fields_.end());
    return;
  }
  fields_.emplace_back(name, std::move(value));
}

void headers::remove(std::string_view name) {
  std::erase_if(fields_, [&](const auto& f) { return same_name(f.first, name); });
}

std::string_view headers::get(std::string_view name) const noexcept {
  for (const auto& [key, value] : fields_)
    if (same_name(key, name)) return value;
  return {};
}

bool headers::has(std::string_view name) const noexcept {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&](const auto& f) { return same_name(f.first, name); });
}

std::optional<std::string> target_parts::get(std::string_view name) const {
  for (const auto& [key, value] : query)
    if (key == name) return value;
  return std::nullopt;
}

target_parts split_target(std::string_view target) {
  target_parts parts;
  target = target.substr(0, target.find('#'));
  const std::size_t question = target.find('?');
  parts.path = target.substr(0, question);
  if (question == std::string_view::npos) return parts;
  std::string_view rest = target.substr(question + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    parts.query.emplace_back(
        decode(pair.substr(0, equals), true),
        equals == std::string_view::npos ? std::string() : decode(pair.substr(equals + 1), true));
  }
  return parts;
}

std::string decode_component(std::string_view text) {
  return decode(text, false);
}

std::string encode_component(std::string_view text) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool unreserved = (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') ||
                            c == '-' || c == '.' || c == '_' || c == '~';
    if (unreserved) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

}  // namespace reactor::http
