#include "releases/rules/finding.hpp"

#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

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

namespace {

template <class Words>
std::string_view nearest_of(const Words& known, std::string_view got) {
  std::string_view best;
  std::size_t least = 3;  // so many letters away is another word
  for (const std::string_view word : known) {
    std::vector<std::size_t> row(got.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i);
      for (std::size_t j = 1; j <= got.size(); ++j) {
        const std::size_t replaced = diagonal + (word[i - 1] != got[j - 1]);
        diagonal = row[j];
        row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < least) {
      least = row.back();
      best = word;
    }
  }
  return best;
}

}  // namespace

std::string_view nearest(std::initializer_list<std::string_view> known, std::string_view got) {
  return nearest_of(known, got);
}
std::string_view nearest(const std::vector<std::string>& known, std::string_view got) {
  return nearest_of(known, got);
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
