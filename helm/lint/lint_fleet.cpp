// Rules that Helm's linter does not have: what lets one chart give another result from run to run
// or from cluster to cluster, which is what a fleet trips over.
#include "formats/plain/deep_stack.hpp"
#include "helm/go.hpp"
#include "helm/lint/lint_rules.hpp"
#include "helm/template/function.hpp"
#include "helm/template/parser.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace helm {
namespace {

struct remark {
  std::string_view function;
  std::string_view text;
};
constexpr std::string_view random_each_time =
    "gives something else each time, so every upgrade changes what it is used in";
constexpr std::string_view by_clock =
    "depends on the time, so every upgrade changes what it is used in";
constexpr std::array remarks{
    remark{"ago", by_clock},
    remark{"bcrypt", random_each_time},
    remark{"encryptAES", random_each_time},
    remark{"genCA", random_each_time},
    remark{"genCAWithKey", random_each_time},
    remark{"genPrivateKey", random_each_time},
    remark{"genSelfSignedCert", random_each_time},
    remark{"genSelfSignedCertWithKey", random_each_time},
    remark{"genSignedCert", random_each_time},
    remark{"genSignedCertWithKey", random_each_time},
    remark{"getHostByName", "asks a name server, whose answers differ from place to place"},
    remark{"htpasswd", random_each_time},
    remark{"lookup",
           "reads the cluster: it finds nothing in `template` and something else in each cluster"},
    remark{"now", by_clock},
    remark{"randAlpha", random_each_time},
    remark{"randAlphaNum", random_each_time},
    remark{"randAscii", random_each_time},
    remark{"randBytes", random_each_time},
    remark{"randInt", random_each_time},
    remark{"randNumeric", random_each_time},
    remark{"shuffle", random_each_time},
    remark{"uuidv4", random_each_time},
};

/// The identifiers of a template that there is a remark about.
void collect(const node* n, std::vector<std::pair<const node*, const remark*>>& out) {
  if (!n) return;
  if (n->kind == node_kind::identifier)
    for (const auto& r : remarks)
      if (r.function == n->text) out.emplace_back(n, &r);
  with_room([&] {
    for (const auto& child : n->children) collect(child.get(), out);
  });
}

/// The line of a node in its source, from 1.
std::ptrdiff_t line_of(const node& n, std::string_view text) {
  const auto before = text.substr(0, n.position);
  return 1 + std::count(before.begin(), before.end(), '\n');
}

void walk_chart(const chart& c, const std::string& prefix, const lint_sink& found) {
  for (const auto& t : c.templates) {
    std::vector<template_ptr> parsed;
    try {
      parsed = parse_template(t.name, t.data, find_function);
    } catch (const template_error&) {
      continue;  // said already, by the rule that renders
    }
    std::vector<std::pair<const node*, const remark*>> hits;
    for (const auto& defined : parsed) collect(defined->root.get(), hits);
    std::sort(hits.begin(), hits.end(),
              [](const auto& a, const auto& b) { return a.first->position < b.first->position; });
    for (const auto& [n, r] : hits)
      found(severity::info, prefix + t.name,
            "line " + std::to_string(line_of(*n, t.data)) + ": " + std::string(n->text) + " " +
                std::string(r->text));
  }
  for (const auto& d : c.dependencies) walk_chart(*d, prefix + "charts/" + d->name() + "/", found);
}

}  // namespace

void lint_for_fleets(const chart& c, const rendered_files& files, const lint_sink& found) {
  walk_chart(c, "", found);
  // A number that was printed: at a word's beginning and end, not quoted, as Go writes floats of
  // seven digits and more.
  static const RE2 exponent(R"((?:^|[\s:=,\[{(])(-?\d(?:\.\d+)?e[+-]\d\d+)(?:$|[\s,\]})]))");
  for (const auto& [path, text] : files) {
    std::size_t number = 0;
    for (const auto& line : split(text, "\n")) {
      ++number;
      std::string printed;
      if (RE2::PartialMatch(line, exponent, &printed))
        found(severity::warning, path.substr(path.find('/') + 1),
              "line " + std::to_string(number) + " of the output: " + printed +
                  " is a float; numbers of seven digits and more need int64 or toString");
    }
  }
}

}  // namespace helm
