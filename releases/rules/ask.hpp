#pragma once

// Inside releases/ only: one way to ask a pack.

#include "policies/host/host.hpp"
#include "releases/rules/mapping.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace policies::releases {

/// Asks `hook`, reads the answer where it was copied, and says who gave it.
template <class Answer>
reactor::awaitable<reactor::result<Answer>> ask(
    host& packs, std::string hook, subject s, argument question, std::int64_t instructions,
    std::function<reactor::result<Answer>(const value&)> read) {
  std::vector<argument> arguments;
  arguments.push_back(std::move(question));
  const auto answer = std::make_shared<Answer>();
  judge accept = [answer, read = std::move(read)](const value& proposed) -> reactor::result<void> {
    auto taken = read(proposed);
    if (!taken) return taken.error();
    *answer = std::move(*taken);
    return {};
  };
  auto made = co_await packs.call(std::move(hook), std::move(s), std::move(arguments), instructions,
                                  std::move(accept));
  if (!made) co_return made.error();
  if constexpr (requires { answer->pack; }) {
    answer->pack = made->pack;
    answer->cost = made->cost;
  }
  co_return std::move(*answer);
}

/// The same with a view of a question about Releases.
/// Units    entries: components and apps that the answer has to look at, for the budget.
template <class Answer, class Question>
reactor::awaitable<reactor::result<Answer>> ask(
    host& packs, std::string hook, subject s, std::shared_ptr<const Question> question,
    std::size_t entries, std::function<reactor::result<Answer>(const value&)> read) {
  return ask<Answer>(packs, std::move(hook), std::move(s), argument(view_of(std::move(question))),
                     release_instructions(entries), std::move(read));
}

}  // namespace policies::releases
