#pragma once

#include "app/listing.hpp"
#include "policies/host/value.hpp"
#include "releases/commands/train_arguments.hpp"
#include "releases/trains/train.hpp"

#include <boost/json/object.hpp>

#include <string>
#include <string_view>

namespace cli {

/// What a command prints of an answer, for programs and for people.
struct train_view {
  boost::json::object machine;
  around_list text;
  /// Steps, images or trains, and their key in the document; empty: it lists nothing.
  std::string_view key = {};
  listing rows{{}};
};
/// Of `train check|plan|promote|match`.
train_view view_of(const std::string& file, train_arguments::command what,
                   const policies::trains::train_answer& a, const policies::value& train,
                   colours tint);

/// What `train explain` prints of a plan: what each check compared, what each step stands on, which
/// rule found what. Only what is called `about` (a check, a step, a finding's id or subject), or
/// all; empty if nothing is called so.
boost::json::object explain_json(const policies::trains::train_answer& a, const std::string& about);
page explain_text(const policies::trains::train_answer& a, const std::string& about, colours tint);

/// The steps as a Markdown list to tick off, to be pasted into an issue.
std::string checklist(const policies::trains::train_answer& plan, const policies::value& train);
/// The steps and the projects as a graph for Graphviz.
std::string graph(const policies::trains::train_answer& plan, const policies::value& train);
/// Release notes as Markdown. `former` is the train before, whose pins tell what changed; null: the
/// document tells (`was`).
std::string release_notes(const policies::trains::train_answer& a, const policies::value& train,
                          const policies::value& former);

}  // namespace cli
