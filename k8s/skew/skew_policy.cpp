#include "k8s/skew/skew_policy.hpp"

#include "formats/plain/text.hpp"

#include <charconv>

namespace k8s::skew {
namespace {

constexpr std::size_t most_version_bytes = 256;

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

}  // namespace

std::optional<version> parse_version(std::string_view text) {
  text = formats::trim_set(text, " \t\r\n");
  if (text.size() > most_version_bytes) return std::nullopt;
  for (const char c : text)
    if (c <= ' ' || c > '~') return std::nullopt;
  std::string_view rest = text;
  if (rest.starts_with('v')) rest.remove_prefix(1);
  // The version of an operating system, such as 41.20261120.0, is none of Kubernetes.
  if (!rest.starts_with("1.")) return std::nullopt;
  rest.remove_prefix(2);
  version out;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), out.minor);
  if (code != std::errc{} || out.minor > 999) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    if (rest.empty() || !is_digit(rest.front())) return std::nullopt;
    while (!rest.empty() && is_digit(rest.front())) rest.remove_prefix(1);
  }
  // "-rc.1", "-eks-0a1b2c3", "+k3s1", and "31+" as some providers write a minor.
  if (!rest.empty() && rest.front() != '-' && rest.front() != '+') return std::nullopt;
  out.text = text;
  return out;
}

const rule* broken_rule(part of, unsigned minor, part beside, unsigned minor_beside) noexcept {
  const bool is_old = minor < first_with_three_minors;
  for (const rule& r : rules) {
    if (r.of != of || r.beside != beside) continue;
    // Where a part may be newer at all, the bound below 1.25 counts both ways.
    const unsigned older = is_old ? r.older_before_25 : r.older;
    const unsigned newer = is_old && r.newer > r.older_before_25 ? r.older_before_25 : r.newer;
    if (minor > minor_beside + newer || minor + older < minor_beside) return &r;
  }
  return nullptr;
}

}  // namespace k8s::skew
