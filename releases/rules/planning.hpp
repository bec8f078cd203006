#pragma once

#include "releases/rules/difference.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace policies::releases {

/// One run of a suite on the content of a Release.
struct suite_run {
  std::string suite, hash, result;  // "passed", or what else came out
};

/// Something that must be done before a major is offered.
struct readiness_item {
  std::string item;
  bool closed = false;
};

/// Where a draft stands, where it is to go, and who wants to do what with it. Empty: nothing is
/// asked.
struct stage_facts {
  std::string is, to;
  std::string action;     // version, pin, refresh
  std::string actor;      // "release-team"
  double age_hours = -1;  // of the draft; below 0: not known
};

/// `release.gate`: may this Release become active?
/// Failure  it does not.
struct gate_question {
  diff_question step;
  std::optional<std::vector<suite_run>> suites;
  std::optional<std::vector<readiness_item>> readiness;
  stage_facts stage;
};
reactor::awaitable<reactor::result<diff_answer>> may_pass(
    host& packs, subject s, std::shared_ptr<const gate_question> question);

/// A request for an item at a version; `depends_on` replaces what it had when it is not empty.
struct pick {
  std::string name, version;
  std::vector<std::string> depends_on;
  std::string catalog;  // empty: the one it had
};

/// `release.bump`: what would the next Release be?
/// Failure  there is none.
struct bump_question {
  std::shared_ptr<const document> base;
  std::string kind;                                           // major, minor, patch, test
  std::map<std::string, std::vector<std::string>> available;  // versions by item
  std::optional<std::vector<std::string>> catalogue;
  std::shared_ptr<const request_file> requests;
  std::vector<pick> picks;  // when there are any, nothing else moves
  stage_facts stage;
  std::optional<std::vector<std::shared_ptr<const document>>> others;  // all of the provider
  std::string prefix;                                                  // test: of its pre-release
  bool asked = false;  // test: it gets a pre-release whatever is picked
};
/// `from` is empty for what comes, `to` for what goes.
struct bump_item {
  std::string kind, name, from, to, why;
};
struct bump_answer {
  std::string pack;
  std::string version;           // of the next Release
  std::vector<bump_item> items;  // components first, each by name
  std::vector<finding> findings;
  decision verdict = decision::allow;
  call_cost cost;
};
reactor::awaitable<reactor::result<bump_answer>> next_release(
    host& packs, subject s, std::shared_ptr<const bump_question> question);
/// The document that an answer proposes: a draft, dated `date`. The answer is not denied.
document draft_of(const bump_question& question, const bump_answer& answer, std::string date);

/// `release.path`: how does a cluster get from one Release to another?
/// Failure  it stays.
struct denied_step {
  std::string from, to, why;  // names of Releases
};
struct path_question {
  std::vector<std::shared_ptr<const document>> releases;  // of one provider
  std::string from, to;                                   // versions
  std::vector<denied_step> denied;                        // by `release.diff`: no way leads there
};
struct path_downgrade {
  std::string subject, from, to;
};
struct path_step {
  std::string from, to, level;
  std::vector<path_downgrade> downgrades;
  std::string denied;  // why; only where there is no other way
};
struct path_answer {
  std::string pack;
  std::vector<path_step> steps;
  std::vector<finding> findings;
  decision verdict = decision::allow;
  call_cost cost;
};
reactor::awaitable<reactor::result<path_answer>> find_path(
    host& packs, subject s, std::shared_ptr<const path_question> question);

/// `release.lifecycle`: which Releases are offered on?
/// Failure  all of them, as they are.
struct lifecycle_question {
  std::vector<std::shared_ptr<const document>> releases;  // of one provider
  std::optional<std::vector<std::string>> in_use;         // names; nothing: not known
};
struct lifecycle_row {
  std::string name, state, action, why;  // action: keep, deprecate, archive
};
struct lifecycle_answer {
  std::string pack;
  std::vector<lifecycle_row> releases;
  std::vector<finding> findings;
  decision verdict = decision::allow;
  call_cost cost;
};
reactor::awaitable<reactor::result<lifecycle_answer>> plan_lifecycle(
    host& packs, subject s, std::shared_ptr<const lifecycle_question> question);

reactor::result<bump_answer> read_bump_answer(const value& answer);
reactor::result<path_answer> read_path_answer(const value& answer);
reactor::result<lifecycle_answer> read_lifecycle_answer(const value& answer);

/// The versions that there are: a mapping from an item to a list of them. Errors   as read_suites.
reactor::result<std::map<std::string, std::vector<std::string>>> read_available(
    std::string_view text, std::string file);
/// "NAME@VERSION", or "NAME@VERSION@@DEP#DEP". Nothing when it is neither.
std::optional<pick> read_pick(std::string_view text);

/// suites.yaml: a list of {suite, hash, result}. Errors   errc::malformed names the place; all or
/// none.
reactor::result<std::vector<suite_run>> read_suites(std::string_view text, std::string file);
/// readiness.yaml: a list of {item, state}, open or closed. Errors   as read_suites.
reactor::result<std::vector<readiness_item>> read_readiness(std::string_view text,
                                                            std::string file);

}  // namespace policies::releases
