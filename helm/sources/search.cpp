#include "helm/sources/search.hpp"

#include "formats/go/regex.hpp"
#include "formats/semver.hpp"
#include "helm/go.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

namespace helm::sources {
namespace {

// Parts of a line: a character that no name contains.
constexpr char part_end = '\v';

std::optional<std::size_t> position(const std::string& text, const search_options& o,
                                    const regex* expression) {
  if (expression) return expression->place_in(text);
  const auto at = lower(text).find(lower(o.term));
  return at == std::string::npos ? std::nullopt : std::optional(at);
}

}  // namespace

void search_index::add(const std::string& repository, const repository_index& index, bool all) {
  for (const auto& [name, versions] : index.entries)
    for (const auto& v : versions) {
      line l;
      l.hit = {repository + "/" + name, v.meta.version, v.meta.app_version, v.meta.description, 0};
      std::string keywords;
      for (const auto& k : v.meta.keywords) keywords += (keywords.empty() ? "" : " ") + k;
      l.text = v.meta.name + part_end + repository + "/" + v.meta.name + part_end +
               v.meta.description + part_end + keywords;
      lines_.push_back(std::move(l));
      if (!all) break;
    }
}

outcome<std::vector<search_hit>> search_index::find(const search_options& o) const {
  std::shared_ptr<const regex> expression;
  if (o.regular_expression && !o.term.empty()) {
    std::string why;
    expression = regex::compile(o.term, &why);
    if (!expression) return problem{why};
  }
  struct ranked {
    search_hit hit;
    std::optional<version> v;
  };
  std::vector<ranked> found;
  for (const auto& l : lines_) {
    const auto at = position(l.text, o, expression.get());
    if (!at) continue;
    ranked r{l.hit, std::nullopt};
    r.hit.score =
        o.term.empty()
            ? 0
            : static_cast<int>(std::count(
                  l.text.begin(), l.text.begin() + static_cast<std::ptrdiff_t>(*at), part_end));
    if (auto v = parse_lenient_version(l.hit.version)) r.v = std::move(*v);
    found.push_back(std::move(r));
  }
  std::stable_sort(found.begin(), found.end(), [](const ranked& a, const ranked& b) {
    if (a.hit.score != b.hit.score) return a.hit.score < b.hit.score;
    if (a.hit.name != b.hit.name) return a.hit.name < b.hit.name;
    if (!a.v || !b.v) return a.v.has_value() && !b.v.has_value();
    return a.v->compare(*b.v) > 0;
  });
  std::optional<version_constraint> constraint;
  if (!o.version.empty()) {
    auto parsed = version_constraint::parse(o.version);
    if (!parsed) return problem{"an invalid version/constraint format: " + parsed.error().text};
    constraint = std::move(*parsed);
  }
  std::vector<search_hit> out;
  std::set<std::string> seen;
  for (auto& r : found) {
    if (constraint &&
        ((!o.all_versions && seen.contains(r.hit.name)) || !r.v || !constraint->check(*r.v)))
      continue;
    seen.insert(r.hit.name);
    out.push_back(std::move(r.hit));
  }
  return out;
}

}  // namespace helm::sources
