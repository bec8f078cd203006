#include "releases/rules/difference.hpp"

#include "releases/rules/ask.hpp"
#include "releases/rules/difference_table.hpp"
#include "releases/rules/hooks.hpp"
#include "releases/rules/typical.hpp"
#include "releases/rules/views.hpp"

#include <algorithm>

namespace policies {

namespace releases {

namespace {

using reactor::result;

/// What another Release of the provider costs: it is looked at, and one of them is compared.
constexpr std::size_t others_per_entry = 8;

}  // namespace

std::size_t entries_of(const document& d) {
  return d.components.size() + d.apps.size();
}

std::size_t entries_of(const diff_question& question) {
  std::size_t entries = entries_of(*question.release) + question.pools.size() * 10;
  if (question.base) entries += entries_of(*question.base);
  if (question.others) {
    std::size_t largest = 0;
    for (const auto& other : *question.others) largest = std::max(largest, entries_of(*other));
    entries += largest + question.others->size() / others_per_entry;
  }
  if (question.requests) {
    const std::size_t versions =
        question.others ? 1 + question.others->size() / others_per_entry : 1;
    for (const request_block& b : question.requests->blocks)
      entries += versions + b.requests.size();
  }
  if (question.catalogue) entries += question.catalogue->size() / 50;
  for (const auto* chart : {&question.rendered_from, &question.rendered_to})
    if (*chart) entries += (*chart)->objects.size() / 4;
  return entries;
}

result<diff_answer> read_diff_answer(const value& answer) {
  return read_answer<diff_answer>(answer);
}

hook diff_hook() {
  diff_question q;
  q.base = typical_release();
  q.release = typical_release_after();
  const std::size_t entries = entries_of(q);
  return hook_of<diff_answer>(
      {"release.diff",
       "what does the step from one Release to another change, and is anything wrong with it?",
       "by `windlass release diff` and `check`, and before a pool follows another Release",
       "nothing moves"},
      std::move(q), entries, read_diff_answer);
}

reactor::awaitable<result<diff_answer>> diff_releases(
    host& packs, subject s, std::shared_ptr<const diff_question> question) {
  const std::size_t entries = entries_of(*question);
  co_return co_await ask<diff_answer>(packs, "release.diff", std::move(s), std::move(question),
                                      entries, read_diff_answer);
}

diff_question question_about(const repository& all, std::shared_ptr<const document> base,
                             std::shared_ptr<const document> release) {
  diff_question q;
  q.base = std::move(base);
  q.release = std::move(release);
  const auto found = all.folders.find(q.release->folder);
  if (found == all.folders.end()) return q;
  const provider_folder& folder = found->second;
  q.others = folder.releases;
  q.registered = folder.registered;
  q.app_ranges = all.app_ranges;
  if (folder.requests) q.requests = std::make_shared<const request_file>(*folder.requests);
  return q;
}

}  // namespace releases
}  // namespace policies
