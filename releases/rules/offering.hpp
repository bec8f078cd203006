#pragma once

#include "releases/rules/difference.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace policies::releases {

/// What every answer has beside its own.
struct offering_answer {
  std::string pack;
  std::vector<finding> findings;
  decision verdict = decision::allow;
  call_cost cost;
};

/// `release.folder`: what is to be said of a provider's Releases as a whole, and which rules are
/// there?
/// Failure  nothing is known to be wrong, and nothing to be right.
struct folder_answer : offering_answer {
  std::vector<std::string> rules;  // the ids that findings may have; empty: the pack does not say
};
struct folder_question {
  std::string folder;
  std::vector<std::shared_ptr<const document>> releases;
  std::shared_ptr<const request_file> requests;
  std::optional<std::vector<std::string>> registered;
  std::optional<std::map<std::string, std::string>> app_ranges;
};
reactor::awaitable<reactor::result<folder_answer>> judge_folder(
    host& packs, subject s, std::shared_ptr<const folder_question> question);
folder_question question_about(const repository& all, const provider_folder& folder);

/// `release.pin`: how is an item held at a version?
/// Failure  it is not.
struct pin_folder {
  std::string folder, file;
  std::vector<request_block> blocks;
  bool has = false;  // whether its Release has the item
};
struct pin_question {
  std::string release, name, version;
  std::string up_to;  // the first Release that is free again; empty: only this one is held
  std::vector<pin_folder> folders;
};
struct pin_edit {
  std::string folder, file, range;
  std::string edit;  // new, extended, same, none
  double block = 0;  // which one is extended, from 1
  std::string why;
};
struct pin_answer : offering_answer {
  std::vector<pin_edit> pins;  // one a folder, in their order; denied: none
};
reactor::awaitable<reactor::result<pin_answer>> plan_pin(
    host& packs, subject s, std::shared_ptr<const pin_question> question);

/// The text of requests.yaml with the edit made in it; comments stay.
/// Errors   errc::malformed: what comes out would not be read as the same requests and this one.
reactor::result<std::string> edited_requests(std::string_view text, const pin_edit& edit,
                                             const std::string& name, const std::string& version);

/// The text of a kustomization.yaml with one more of its resources behind those that it lists, or
/// as it is when it lists it; comments stay.
/// Errors   errc::refused: they stand on one line, or what comes out would not be read as the same
///          resources and this one.
reactor::result<std::string> edited_resources(std::string_view text, const std::string& file,
                                              const std::string& name);

/// `release.join`: do the providers go on together?
/// Failure  each goes its own way.
struct provider_versions {
  std::string name;
  std::vector<std::string> versions;  // that are offered
};
struct join_question {
  std::string kind;    // major, minor
  std::string target;  // "35.0"; empty: what follows
  std::vector<provider_versions> providers;
};
struct join_row {
  std::string provider, latest, why;
  bool joins = false;
};
struct join_answer : offering_answer {
  std::string target;
  std::vector<join_row> rows;
};
reactor::awaitable<reactor::result<join_answer>> plan_join(
    host& packs, subject s, std::shared_ptr<const join_question> question);

/// `release.publish`: under which name is the chart of a Release published?
/// Failure  it is not.
struct publish_question {
  std::shared_ptr<const document> release;
  std::string commit;  // of a preview
};
struct published_chart {
  std::string from, to;     // "cluster-aws:7.2.5", "release-aws:34.0.0"
  std::string value, text;  // the value that says the version, and what it says
};
struct publish_answer : offering_answer {
  std::vector<published_chart> charts;
};
reactor::awaitable<reactor::result<publish_answer>> plan_publishing(
    host& packs, subject s, std::shared_ptr<const publish_question> question);

}  // namespace policies::releases
