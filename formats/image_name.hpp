#pragma once

#include <algorithm>
#include <string_view>

namespace formats {

/// The registry that an image's name begins with, as container runtimes read it: a first part that
/// is "localhost" or has a dot, a colon or an upper-case letter. Empty where there is none: they
/// would ask docker.io.
/// Source   distribution/reference, splitDockerDomain
inline std::string_view registry_in(std::string_view image) noexcept {
  const auto slash = image.find('/');
  if (slash == image.npos) return {};
  const std::string_view first = image.substr(0, slash);
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const bool names_one = first == "localhost" || first.find_first_of(".:") != first.npos ||
                         std::ranges::any_of(first, is_upper);
  return names_one ? first : std::string_view();
}

}  // namespace formats
