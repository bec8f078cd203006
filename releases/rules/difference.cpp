#include "releases/rules/difference.hpp"

#include "releases/rules/answer.hpp"
#include "releases/rules/ask.hpp"
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

diff_change read_change(answer_reader& from) {
  diff_change c;
  c.kind = from.one_of("kind", {"component", "binary", "app"});
  c.name = from.text("name");
  c.what = from.text("what");
  c.from = from.text("from");
  c.to = from.text("to");
  c.level = from.text("level");
  c.direction = from.text("direction");
  c.strict = from.text("strict");
  c.rolls = from.text("rolls");
  return c;
}

request_verdict read_verdict(answer_reader& from) {
  request_verdict v;
  v.range = from.text("range");
  v.item = from.text("item");
  v.version_range = from.text("version_range");
  v.actual = from.text("actual");
  v.result = from.text("result");
  return v;
}

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
  std::optional<reactor::fault> wrong;
  answer_reader from(answer, "", wrong);
  diff_answer out;
  out.provider = from.text("provider");
  out.version = from.text("version");
  out.level = from.one_of("level", {"major", "minor", "patch", "prerelease", "none"});
  out.rolls = from.one_of("rolls", {"yes", "chart", "no", "-"});
  out.image_from = from.text("image_from");
  out.image_to = from.text("image_to");
  out.length = from.number("length");
  out.limit = from.number("limit");
  out.changes = from.list<diff_change>("changes", read_change);
  out.requests = from.list<request_verdict>("requests", read_verdict);
  out.findings = read_findings(from);
  from.done();
  if (wrong) return *wrong;
  out.verdict = decide(out.findings);
  return out;
}

hook diff_hook() {
  diff_question q;
  q.base = typical_release();
  q.release = typical_release_after();
  const std::size_t entries = entries_of(q);
  return hook_of("release.diff", std::move(q), entries, read_diff_answer);
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
