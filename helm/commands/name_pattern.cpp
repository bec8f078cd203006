#include "helm/commands/name_pattern.hpp"

#include <re2/re2.h>

#include <memory>

namespace helm {

outcome<std::function<bool(const std::string&)>> compile_pattern(const std::string& pattern) {
  using matcher = std::function<bool(const std::string&)>;
  if (pattern.empty()) return matcher([](const std::string&) { return true; });
  re2::RE2::Options quiet;
  quiet.set_log_errors(false);
  auto compiled = std::make_shared<re2::RE2>(pattern, quiet);
  if (!compiled->ok())
    return problem{"error parsing regexp: " + compiled->error() +
                   (compiled->error_arg().empty() ? "" : ": `" + compiled->error_arg() + "`")};
  return matcher([compiled](const std::string& s) { return re2::RE2::PartialMatch(s, *compiled); });
}

}  // namespace helm
