#pragma once

// Inside releases/rules only: one way to ask a pack.

#include "policies/host/host.hpp"
#include "releases/rules/mapping.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace policies::releases {

/// Asks `hook` with a view of the question, reads the answer where it was copied, and says who gave
/// it.
/// Units    entries: components and apps that the answer has to look at, for the budget.
template <class Answer, class Question>
reactor::awaitable<reactor::result<Answer>> ask(host& packs, std::string hook, subject s,
                                                std::shared_ptr<const Question> question,
                                                std::size_t entries,
                                                reactor::result<Answer> (*read)(const value&)) {
  std::vector<argument> arguments;
  arguments.emplace_back(view_of(question));
  const auto answer = std::make_shared<Answer>();
  judge accept = [answer, question, read](const value& proposed) -> reactor::result<void> {
    auto taken = read(proposed);
    if (!taken) return taken.error();
    *answer = std::move(*taken);
    return {};
  };
  auto made = co_await packs.call(std::move(hook), std::move(s), std::move(arguments),
                                  release_instructions(entries), std::move(accept));
  if (!made) co_return made.error();
  answer->pack = made->pack;
  answer->pack_version = made->version;
  answer->cost = made->cost;
  co_return std::move(*answer);
}

}  // namespace policies::releases
