#include "releases/rules/finding.hpp"

#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <tuple>

namespace policies::releases {

std::string expected_one_of(std::initializer_list<std::string_view> known, std::string_view got) {
  std::vector<std::string_view> names;
  for (const std::string_view name : known) {
    if (!name.empty()) names.push_back(name);
  }
  std::string text = "expected ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text + ", got '" + reactor::printable(got, 100) + "'";
}

std::string_view to_string(severity s) {
  switch (s) {
    case severity::info: return "info";
    case severity::warn: return "warn";
    case severity::error: return "error";
  }
  return "";
}

std::string_view to_string(decision d) {
  switch (d) {
    case decision::allow: return "allow";
    case decision::needs_approval: return "needs-approval";
    case decision::deny: return "deny";
  }
  return "";
}

decision decide(const std::vector<finding>& findings) {
  decision d = decision::allow;
  for (const finding& f : findings) {
    if (f.how == severity::error) return decision::deny;
    if (f.how == severity::warn && !f.blocking.empty()) d = decision::needs_approval;
  }
  return d;
}

void put_in_order(std::vector<finding>& findings) {
  const auto place = [](const finding& f) {
    return std::tie(f.id, f.subject, f.rule, f.from, f.to, f.why, f.evidence, f.blocking);
  };
  std::sort(findings.begin(), findings.end(), [&](const finding& a, const finding& b) {
    if (a.how != b.how) return a.how > b.how;
    return place(a) < place(b);
  });
  findings.erase(std::unique(findings.begin(), findings.end()), findings.end());
}

}  // namespace policies::releases
