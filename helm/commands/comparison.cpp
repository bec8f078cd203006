#include "helm/commands/comparison.hpp"

#include "helm/go.hpp"

#include <algorithm>
#include <vector>

namespace helm::sources {
namespace {

constexpr std::size_t lines_before = 3;

/// The lines from the one that says what went wrong.
std::string error_of(const std::string& err) {
  if (err.starts_with("Error: ")) return err;
  const auto at = err.find("\nError: ");
  return at == err.npos ? err : err.substr(at + 1);
}

/// The "# Source:" line that the text around belongs to.
std::string source_of(const std::vector<std::string>& lines, std::size_t at) {
  for (std::size_t i = std::min(at, lines.size() - 1) + 1; i-- > 0;)
    if (lines[i].starts_with("# Source: ")) return lines[i].substr(10);
  return {};
}

std::string describe(const std::string& what, const std::string& ours,
                     const std::string& reference) {
  const auto left = split(ours, "\n"), right = split(reference, "\n");
  std::size_t at = 0;
  while (at < left.size() && at < right.size() && left[at] == right[at]) ++at;
  std::string out = what + " differs in line " + std::to_string(at + 1);
  if (const std::string source = source_of(left, at); !source.empty()) out += " (" + source + ")";
  out += "\n";
  for (std::size_t i = at - std::min(at, lines_before); i < at; ++i) out += "  " + left[i] + "\n";
  const auto line = [&](const std::vector<std::string>& lines) {
    return at < lines.size() ? lines[at] : std::string("(ends here)");
  };
  return out + "- helm:     " + line(right) + "\n+ windlass: " + line(left) + "\n";
}

}  // namespace

std::optional<std::string> first_difference(const command_result& ours,
                                            const command_result& reference) {
  if (ours.exit_code != reference.exit_code)
    return "helm ends with " + std::to_string(reference.exit_code) + ", windlass with " +
           std::to_string(ours.exit_code) + "\n- helm:     " + error_of(reference.err) +
           "\n+ windlass: " + error_of(ours.err) + "\n";
  if (ours.out != reference.out) return describe("the output", ours.out, reference.out);
  if (ours.exit_code == 0) return std::nullopt;
  const std::string left = error_of(ours.err), right = error_of(reference.err);
  if (left == right) return std::nullopt;
  return describe("the error", left, right);
}

}  // namespace helm::sources
