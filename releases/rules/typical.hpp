#pragma once

// Inside releases/rules only: how a hook about Releases is described to checks and tests of packs.

#include "policies/host/hook.hpp"
#include "releases/rules/answer_table.hpp"
#include "releases/rules/document.hpp"
#include "releases/rules/mapping.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace policies::releases {

/// aws-34.4.1, or the Release after it; as the fields of a question.
std::shared_ptr<const document> typical_release();
std::shared_ptr<const document> typical_release_after();

/// What a hook's description says about it in words.
struct hook_words {
  const char *name, *question, *asked, *failure;
};

/// A hook whose answer `read` takes, for calls that only try it with `question`.
/// Units    entries: what the budget of a real question of that size counts.
template <class Answer, class Question>
hook hook_of(const hook_words& words, Question question, std::size_t entries,
             reactor::result<Answer> (*read)(const value&)) {
  hook h;
  h.name = words.name;
  h.question = words.question;
  h.asked = words.asked;
  h.failure = words.failure;
  h.budget = "200,000 instructions, and 2,000 for each component, app or other thing to look at";
  h.arguments = {{"question", shape_of<Question>(), "what is known"}};
  h.answer = answer_shape<Answer>();
  h.apis = {"releases"};
  h.instructions = release_instructions(entries);
  h.takes = [read](const value& answer, const hook::asking&) { return outcome_of(read(answer)); };
  const auto shared = std::make_shared<const Question>(std::move(question));
  h.typical = [shared](const pack&) {
    std::vector<std::vector<argument>> all(1);
    all.front().emplace_back(view_of(shared));
    return all;
  };
  return h;
}

}  // namespace policies::releases
