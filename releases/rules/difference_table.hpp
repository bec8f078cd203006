#pragma once

// Inside releases/rules only: the answer about a step between Releases, which two hooks have.

#include "releases/rules/answer_table.hpp"
#include "releases/rules/difference.hpp"

namespace policies::releases {

template <>
struct answer_record<diff_change> {
  static constexpr const char* name = "change";
  static constexpr answer_field<diff_change> fields[] = {
      word_of<&diff_change::kind, "component", "binary", "app">(
          "kind", "a binary is inside of a component"),
      taken<&diff_change::name>("name"),
      taken<&diff_change::what>("what",
                                "added, removed, changed, moved, catalog, reference or depends"),
      taken<&diff_change::from>("from"),
      taken<&diff_change::to>("to"),
      taken<&diff_change::level>("level", "of a version that changed"),
      taken<&diff_change::direction>("direction", "up, down or same, as configured"),
      taken<&diff_change::strict>("strict", "the same by SemVer alone"),
      taken<&diff_change::rolls>("rolls", "whether nodes are replaced: yes, chart, no"),
  };
};

template <>
struct answer_record<request_verdict> {
  static constexpr const char* name = "verdict on a request";
  static constexpr answer_field<request_verdict> fields[] = {
      taken<&request_verdict::range>("range", "of Releases"),
      taken<&request_verdict::item>("item"),
      taken<&request_verdict::version_range>("version_range", "which versions it must have"),
      taken<&request_verdict::actual>("actual", "the version that it has"),
      taken<&request_verdict::result>("result", "satisfied, violated or missing"),
  };
};

template <>
struct answer_record<diff_answer> {
  static constexpr const char* name = "step between Releases";
  static constexpr answer_field<diff_answer> fields[] = {
      taken<&diff_answer::provider>("provider", "of the Release"),
      taken<&diff_answer::version>("version", "of the Release"),
      word_of<&diff_answer::level, "major", "minor", "patch", "prerelease", "none">("level",
                                                                                    "of the step"),
      word_of<&diff_answer::rolls, "yes", "chart", "no", "-">(
          "rolls", "whether nodes are replaced; - where there are no images"),
      taken<&diff_answer::image_from>("image_from", "of the first pool; tags are joined by commas"),
      taken<&diff_answer::image_to>("image_to", "the same after the step"),
      taken<&diff_answer::length>("length", "of image_to, in characters"),
      taken<&diff_answer::limit>("limit", "the most characters that the provider takes"),
      taken<&diff_answer::changes>("changes", "components first, each by name"),
      taken<&diff_answer::requests>("requests", "what requests.yaml asks of this Release"),
      findings_of<diff_answer>(),
  };
};

}  // namespace policies::releases
