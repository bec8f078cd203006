#pragma once

#include "policies/host/host.hpp"
#include "releases/rules/consent.hpp"
#include "releases/rules/finding.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace policies::trains {

/// Reads a train document: which commits and tags of which projects go together, its steps and
/// suites, and what is known of foreign projects. Every scalar keeps its own text: a commit is
/// never a number. What the fields mean is the policy's.
/// Limits   1 MiB, 20,000 values.
/// Errors   errc::malformed: no YAML, or no mapping. errc::limit. `doing` names `file`.
reactor::result<value> read_train(std::string_view text, std::string file);

/// A comparison that was made: "protocol", "equal", and of what.
struct check_row {
  std::string name, result;
  std::vector<std::string> saw;
  friend bool operator==(const check_row&, const check_row&) = default;
};

/// What a step takes from the train: of which project what. Fixed when it starts.
struct step_input {
  std::string project, value;
};

struct step_row {
  std::string id;
  std::string state;  // done, started, ready, blocked
  std::string why;
  std::vector<std::string> needs;
  std::string since;           // when it became that, as the facts say it; empty: not known
  std::optional<double> days;  // from then to the document's `now`
  std::vector<step_input> inputs;
  std::string title, owner, pr, approval, evidence;  // as the document or the table says
};

/// `to` is built from `from` (strong), speaks its protocol (pair), or has it and may lag (weak).
struct edge_row {
  std::string from, to, kind;
};

struct retag {
  std::string from, to, arch, digest;
};

/// One name for the images of several architectures.
struct index_part {
  std::string from, digest, architecture;
};
struct index_row {
  std::string to;
  std::vector<index_part> parts;
};

/// What goes together, and why that is believed.
struct match_row {
  std::string train, bundle, client, server, how;
};

/// What a policy says of a train; each hook fills in its part.
struct train_answer {
  std::string pack;
  std::vector<check_row> checks;         // check, plan
  std::vector<step_row> steps;           // plan: in the order of the table
  std::vector<std::string> void_suites;  // plan: no longer count
  std::vector<std::string> order;        // plan: projects, each behind those it depends on
  std::vector<edge_row> edges;           // plan
  std::string next;           // plan: the release of the bundle that the next train may ride on
  std::string earliest;       // plan: the day from which it may; empty: not known
  std::vector<retag> retags;  // promote
  std::vector<index_row> indexes;  // promote: over what has its new name then
  std::string retest;              // promote: skipped, required
  std::string hash;  // check, plan, promote: of the content that suites and waivers are bound to
  std::vector<match_row> matches;
  std::vector<std::string> rules;  // check, plan, promote: the ids that findings may have
  std::vector<releases::finding> findings;
  releases::decision verdict = releases::decision::allow;
  call_cost cost;
};

/// `train.check`: does what is pinned fit together?
/// `train.plan`: and which steps are done, started, ready, blocked?
/// `train.promote`: which images get which names, and must they be tested again? The document says
/// `promote: {project, tag}`. `train.match`: which server fits a client, a bundle or a train? The
/// document says `match: {client}` and what `trains` there are.
/// Failure  nothing is ready, and nothing gets another name.
enum class hook { check, plan, promote, match };

/// What people have agreed to about a train.
struct train_consent {
  std::vector<releases::waiver> waivers;
  std::string train;
  reactor::wall_time now{};
};
reactor::awaitable<reactor::result<train_answer>> ask_train(host& packs, subject s, hook which,
                                                            value document);
reactor::awaitable<reactor::result<train_answer>> ask_train(host& packs, subject s, hook which,
                                                            value document, train_consent agreed);

/// What a project's own files say: which it pins, and the protocol that it speaks.
struct pin_fact {
  std::string holder, project, field, kind, value, image, comment, source;
};
struct source_answer {
  bool known = false;              // whether there is a table for the project
  std::string near;                // without one: the project that may be meant
  std::vector<std::string> files;  // every file that is read, whether it is there or not
  std::vector<pin_fact> pins;
  std::string protocol;
  std::vector<std::string> absent;  // what none of the files has
};

/// `train.sources`: reads pins and protocol out of `files`, texts by their names in the project.
/// Without files the answer says which there are to read.
reactor::awaitable<reactor::result<source_answer>> ask_sources(
    host& packs, subject s, std::string project, std::map<std::string, std::string> files);

/// The part of it that looks at the answer. Nothing is promoted by an answer that is denied.
reactor::result<train_answer> read_train_answer(const value& answer,
                                                const train_consent& agreed = {});

}  // namespace policies::trains
