#pragma once

#include "app/listing.hpp"
#include "releases/rules/planning.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <string>
#include <vector>

namespace cli {

using namespace app;

/// One step of a Release that was judged; `from` is empty when it was judged alone.
struct judged_release {
  std::string name, from;
  std::string folder;  // "azure" of v14.1.0, whose name says no provider
  std::string hash;    // of its content, which a waiver quotes
  policies::releases::diff_answer answer;
};

boost::json::object map_json(const std::string& name, const policies::releases::map_answer& a);
page map_text(const std::string& name, const policies::releases::map_answer& a, colours tint);

boost::json::object diff_json(const judged_release& j);
page diff_text(const judged_release& j, colours tint);

/// What a step brings, as Markdown: whether machines are replaced, versions, binaries, images. Not
/// what is thought of it.
page notes_text(const judged_release& j);

/// Many of them: a row each, and what is wrong of it below the table.
listing check_list(const std::vector<judged_release>& all, colours tint);

/// The Releases that a cluster passes, in their order.
listing path_list(const policies::releases::path_answer& a);
listing lifecycle_list(const policies::releases::lifecycle_answer& a);
/// What is true of a whole answer: the decision and the findings.
boost::json::object answer_json(policies::releases::decision verdict,
                                const std::vector<policies::releases::finding>& findings);

/// What is inside of the toolbox of an image, as far as the tables know it.
boost::json::object inside_json(const std::vector<policies::releases::baked_tool>& inside);

boost::json::object bump_json(const policies::releases::bump_answer& a,
                              const std::string& document);
page bump_text(const policies::releases::bump_answer& a, colours tint);

boost::json::array findings_json(const std::vector<policies::releases::finding>& findings);
page findings_text(const std::vector<policies::releases::finding>& findings, colours tint);
page decision_text(policies::releases::decision d, colours tint);

/// The exit code that goes with a decision: 0, 3 or 4.
int exit_code_of(policies::releases::decision d);

}  // namespace cli
