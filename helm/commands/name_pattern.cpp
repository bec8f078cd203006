#include "helm/commands/name_pattern.hpp"

#include "formats/go/regex.hpp"

namespace helm {

outcome<std::function<bool(const std::string&)>> compile_pattern(const std::string& pattern) {
  using matcher = std::function<bool(const std::string&)>;
  if (pattern.empty()) return matcher([](const std::string&) { return true; });
  std::string why;
  const auto compiled = formats::regex::compile(pattern, &why);
  if (!compiled) return problem{why};
  return matcher([compiled](const std::string& s) { return compiled->found_in(s); });
}

}  // namespace helm
