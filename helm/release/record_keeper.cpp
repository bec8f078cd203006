#include "helm/release/record_keeper.hpp"

#include "helm/render/installation.hpp"
#include "reactor/loop.hpp"

namespace helm::release {
namespace {

std::int64_t seconds_of(reactor::wall_time t) {
  return std::chrono::duration_cast<std::chrono::seconds>(t.time_since_epoch()).count();
}

}  // namespace

awaitable<outcome<history>> record_keeper::revisions(std::string name) {
  co_return co_await bench_.records.all_of(std::move(name));
}

awaitable<outcome<record>> record_keeper::find(std::string name, int revision) {
  if (!valid_release_name(name))
    co_return problem{"releaseContent: Release name is invalid: " + name};
  if (revision > 0) co_return co_await bench_.records.get(std::move(name), revision);
  auto all = co_await bench_.records.all_of(std::move(name));
  if (!all) co_return all.error();
  co_return std::move(all->back());
}

bool record_keeper::abandoned(const record& r) const {
  return is_abandoned(r, bench_.settings.instance, seconds_of(bench_.loop.wall()));
}

awaitable<outcome<history>> record_keeper::recovered(std::string name) {
  auto all = co_await bench_.records.all_of(std::move(name));
  if (!all || !abandoned(all->back())) co_return all;
  auto ended = co_await end_abandoned(all->back());
  if (!ended) co_return ended.error();
  co_return all;
}

awaitable<outcome<done>> record_keeper::end_abandoned(record& last) {
  bench_.warn("WARNING: revision " + std::to_string(last.revision) + " was left " +
              std::string(to_string(last.state)) +
              " by a process that ended; it is marked as failed");
  last.description = failed_description(last, "the process that worked on it ended");
  last.state = status::failed;
  co_return co_await store_or_fail(last, {});
}

record record_keeper::marked(record r, reactor::nanoseconds timeout) const {
  if (is_pending(r.state)) {
    const auto deadline = bench_.loop.wall() + timeout + std::chrono::seconds(1);
    r.labels[instance_label] = bench_.settings.instance;
    r.labels[deadline_label] = std::to_string(seconds_of(deadline));
  } else {
    r.labels.erase(instance_label);
    r.labels.erase(deadline_label);
  }
  return r;
}

awaitable<outcome<done>> record_keeper::prune(std::string name, int history_max) {
  if (history_max <= 0) co_return done{};
  auto all = co_await bench_.records.all_of(name);
  if (!all) {
    if (all.error().code == problem_code::not_found) co_return done{};
    co_return all.error();
  }
  const std::vector<int> doomed = revisions_to_prune(*all, history_max);
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < doomed.size(); ++i) {
    auto gone = co_await bench_.records.remove(name, doomed[i]);
    if (gone) continue;
    bench_.say("error pruning " + storage_name(name, doomed[i]) +
               " from release history: " + gone.error().text);
    errors.push_back(gone.error().text);
  }
  if (errors.empty()) co_return done{};
  if (errors.size() == 1) co_return problem{errors[0]};
  co_return problem{"encountered " + std::to_string(errors.size()) +
                    " deletion errors. First is: " + errors[0]};
}

awaitable<outcome<done>> record_keeper::store_new(record r, reactor::nanoseconds timeout,
                                                  std::optional<record> base) {
  bench_.say("creating release record " + storage_name(r.name, r.revision));
  record labelled = marked(r, timeout);
  auto stored = co_await bench_.records.create(std::move(labelled));
  if (!stored) co_return stored.error();
  if (!bench_.settings.notes) co_return done{};
  r.uid = std::move(*stored);
  co_await bench_.settings.notes->note(std::move(r), std::move(base));
  co_return done{};
}

awaitable<bool> record_keeper::has_stored(record r) {
  auto there = co_await bench_.records.get(r.name, r.revision);
  // Another process may have stored that revision.
  co_return there&& is_pending(there->state) &&
      there->last_deployed.seconds == r.last_deployed.seconds &&
      there->last_deployed.nanoseconds == r.last_deployed.nanoseconds;
}

awaitable<outcome<done>> record_keeper::store_or_fail(record r, reactor::nanoseconds timeout) {
  bench_.say("updating release record " + storage_name(r.name, r.revision) + " (" +
             std::string(to_string(r.state)) + ")");
  record labelled = marked(std::move(r), timeout);
  co_return co_await bench_.records.update(std::move(labelled));
}

awaitable<void> record_keeper::store(record r, reactor::nanoseconds timeout) {
  const std::string name = r.name;
  auto written = co_await store_or_fail(std::move(r), timeout);
  if (!written)
    bench_.warn("warning: Failed to update release " + name + ": " + written.error().text);
}

awaitable<outcome<done>> record_keeper::store_end(record r, work_options work) {
  if (work.recorded) co_return co_await store_or_fail(std::move(r), work.timeout);
  co_await store(std::move(r), work.timeout);
  co_return done{};
}

awaitable<outcome<done>> record_keeper::purge(history all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto gone = co_await bench_.records.remove(all[i].name, all[i].revision);
    if (!gone) co_return problem{"uninstall: Failed to purge the release: " + gone.error().text};
  }
  co_return done{};
}

}  // namespace helm::release
