#include "registry/image_ref.hpp"

#include "formats/digest.hpp"
#include "formats/image_name.hpp"
#include "registry/grammar.hpp"

#include <algorithm>

namespace registry {

using formats::is_digest;

namespace {

constexpr std::size_t max_path_length = 255;

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_number(char c) {
  return c >= '0' && c <= '9';
}
bool is_alnum(char c) {
  return is_lower(c) || is_upper(c) || is_number(c);
}
bool is_hex(char c) {
  return is_number(c) || (c >= 'a' && c <= 'f');
}

reactor::fault wrong(std::string_view detail) {
  return reactor::make_fault(reactor::errc::malformed, "image ref", detail);
}

/// Letters and digits, joined by inner dashes.
bool is_domain_label(std::string_view s) {
  return !s.empty() && is_alnum(s.front()) && is_alnum(s.back()) &&
         std::all_of(s.begin(), s.end(), [](char c) { return is_alnum(c) || c == '-'; });
}

bool is_domain(std::string_view s) {
  if (s.starts_with('[')) {  // an IPv6 address
    const auto close = s.find(']');
    if (close == std::string_view::npos || close < 3) return false;
    const auto inside = s.substr(1, close - 1);
    if (!std::all_of(inside.begin(), inside.end(),
                     [](char c) { return is_hex(c) || (c >= 'A' && c <= 'F') || c == ':'; }))
      return false;
    s = s.substr(close + 1);
    return s.empty() ||
           (s.size() > 1 && s.front() == ':' && std::all_of(s.begin() + 1, s.end(), is_number));
  }
  if (const auto colon = s.find(':'); colon != std::string_view::npos) {
    const auto port = s.substr(colon + 1);
    if (port.empty() || !std::all_of(port.begin(), port.end(), is_number)) return false;
    s = s.substr(0, colon);
  }
  for (;;) {
    const auto dot = s.find('.');
    if (!is_domain_label(s.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    s.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string_view digest_in(std::string_view pull_spec) noexcept {
  const auto at = pull_spec.rfind('@');
  if (at == std::string_view::npos) return {};
  const auto digest = pull_spec.substr(at + 1);
  return is_digest(digest) ? digest : std::string_view{};
}

reactor::result<image_ref> parse_image_ref(std::string_view text) {
  if (text.empty()) return wrong("it is empty");
  image_ref out;
  std::string_view rest = text;
  if (const auto at = rest.find('@'); at != std::string_view::npos) {
    const auto digest = rest.substr(at + 1);
    if (!digest.starts_with("sha256:"))
      return wrong("unsupported digest algorithm: a digest begins with sha256:");
    if (!is_digest(digest))
      return wrong("invalid digest: sha256: is followed by 64 hexadecimal digits in lower case");
    out.digest = digest;
    rest = rest.substr(0, at);
  }
  const auto slash = rest.find('/');
  if (const auto colon = rest.rfind(':');
      colon != std::string_view::npos && slash != std::string_view::npos && colon > slash) {
    const auto tag = rest.substr(colon + 1);
    if (!is_tag(tag)) return wrong("invalid tag");
    out.tag = tag;
    rest = rest.substr(0, colon);
  }
  const auto domain = formats::registry_in(rest);
  if (domain.empty())
    return wrong("the name carries no registry: write it in full, as in quay.io/org/name");
  const auto path = rest.substr(slash + 1);
  if (!is_domain(domain)) return wrong("invalid registry name");
  if (path.size() > max_path_length)
    return wrong("the repository path is longer than 255 characters");
  for (std::string_view left = path;;) {
    const auto next = left.find('/');
    if (!is_path_component(left.substr(0, next)))
      return wrong(std::any_of(path.begin(), path.end(), is_upper)
                       ? "the repository path must be in lower case"
                       : "invalid repository path");
    if (next == std::string_view::npos) break;
    left.remove_prefix(next + 1);
  }
  // Both would be rewritten before use, so what is stored would not be what runs.
  if (domain == "index.docker.io") return wrong("not canonical: write docker.io");
  if (domain == "docker.io" && path.find('/') == std::string_view::npos)
    return wrong("not canonical: write docker.io/library/NAME");
  out.name = rest;
  return out;
}

}  // namespace registry
