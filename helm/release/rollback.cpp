#include "helm/release/rollback.hpp"

#include "helm/go.hpp"
#include "helm/render/installation.hpp"
#include "reactor/loop.hpp"

namespace helm::release {
namespace {

constexpr std::string_view cancelled_text = "context canceled";

/// Marks the record of a cancelled run() as failed. False: none was left.
awaitable<outcome<bool>> end_interrupted(
    record_keeper& keep,                                            // borrowed
    std::optional<interrupted<reactor::nanoseconds>>& under_way) {  // borrowed
  auto left = co_await keep.left_by(under_way);
  if (!left) co_return false;
  left->r.description = failed_description(left->r, cancelled_text);
  left->r.state = status::failed;
  auto written = co_await keep.store_or_fail(std::move(left->r), left->request);
  if (!written) co_return written.error();
  co_return true;
}

}  // namespace

awaitable<outcome<done>> rollback_action::run(rollback_request r) {
  auto reached = co_await bench_.reach();
  if (!reached) co_return reached.error();
  bench_.say("preparing rollback of " + r.name);
  if (!valid_release_name(r.name))
    co_return problem{"prepareRollback: Release name is invalid: " + r.name};
  if (r.revision < 0) co_return problem{"invalid release revision"};
  // Settling an upgrade rolls back again where its rollback was cancelled.
  auto before = co_await end_interrupted(keep_, under_way_);
  if (!before) co_return before.error();
  auto past = co_await bench_.records.all_of(r.name);
  if (!past) co_return past.error();
  // A pending record does not stop a rollback. One of ours whose process ended is not left pending
  // behind it, and nor are the objects of the deployed revision that it was about to take away.
  std::string unfinished;
  if (!r.dry_run && keep_.abandoned(past->back())) {
    auto ended = co_await keep_.end_abandoned(past->back());
    if (!ended) co_return ended.error();
    if (const record* deployed = newest_deployed(*past)) unfinished = deployed->manifest;
  }
  record current = past->back();
  const int wanted = r.revision == 0 ? current.revision - 1 : r.revision;
  const record* previous = find_revision(*past, wanted);
  if (!previous) co_return problem{"release has no " + std::to_string(wanted) + " version"};
  bench_.say("rolling back " + r.name + " (current: v" + std::to_string(current.revision) +
             ", target: v" + std::to_string(wanted) + ")");

  record target = *previous;
  target.ns = current.ns;
  target.first_deployed = current.first_deployed;
  target.last_deployed = bench_.now();
  target.deleted = {};
  target.state = status::pending_rollback;
  target.description = "Rollback to " + std::to_string(wanted);
  target.revision = current.revision + 1;
  target.labels = without_system_labels(previous->labels);
  if (r.work.server_side) target.apply_method = "ssa";
  r.work.server_side = target.apply_method == "ssa";
  if (r.dry_run) co_return done{};
  bench_.say("creating rolled back release for " + r.name);
  auto pruned = co_await keep_.prune(r.name, r.history_max);
  if (!pruned) co_return pruned.error();
  under_way_ = interrupted<reactor::nanoseconds>{target, r.work.timeout};
  auto stored = co_await keep_.store_new(target, r.work.timeout);
  if (!stored) {
    under_way_.reset();
    co_return stored.error();
  }
  under_way_->is_stored = true;
  bench_.say("performing rollback of " + target.name);
  auto ended =
      co_await perform(std::move(current), std::move(target), std::move(r), std::move(unfinished));
  under_way_.reset();
  co_return ended;
}

awaitable<outcome<done>> rollback_action::perform(record current, record target,
                                                  rollback_request request,
                                                  std::string unfinished) {
  const work_options work = request.work;
  auto before = co_await bench_.build(
      current.manifest, "unable to build kubernetes objects from current release manifest");
  if (!before) co_return before.error();
  if (!unfinished.empty()) {
    auto left = co_await bench_.build(
        std::move(unfinished), "unable to build kubernetes objects from deployed release manifest");
    if (!left) co_return left.error();
    for (objects::object& o : *left)
      if (!objects::find_same(*before, o)) before->push_back(std::move(o));
  }
  auto built = co_await bench_.build(
      target.manifest, "unable to build kubernetes objects from new release manifest");
  if (!built) co_return built.error();
  if (!work.no_hooks) {
    auto failure = co_await hooks_.run(target, "pre-rollback", work.timeout);
    if (failure) co_return *failure;
    under_way_->r = target;
  }
  objects::object_list wanted = stamped(std::move(*built), target);
  objects::object_list again = wanted;
  objects::update_options how;
  how.force = work.force;
  how.server_side = work.server_side;
  objects::update_result did;
  auto changed = co_await bench_.on.update(std::move(*before), std::move(wanted), how, &did);
  if (!changed) {
    const problem why = changed.error();
    const std::string text = "Rollback " + quote(target.name) + " failed: " + why.text;
    bench_.say("warning: " + text);
    current.state = status::superseded;
    target.state = status::failed;
    target.description = text;
    co_await keep_.store(std::move(current), work.timeout);
    co_await keep_.store(std::move(target), work.timeout);
    if (request.cleanup_on_fail) {
      bench_.say("Cleanup on fail set, cleaning up " + std::to_string(did.created.size()) +
                 " resources");
      auto removed = co_await bench_.on.remove(std::move(did.created), "Background");
      if (!removed.errors.empty()) {
        std::string all;
        for (const auto& e : removed.errors) all += (all.empty() ? "" : ", ") + e;
        co_return problem{
            "an error occurred while cleaning up resources. original rollback error: " + why.text +
            ": unable to cleanup resources: " + all};
      }
    }
    co_return why;
  }
  if (work.wait) {
    auto ready = co_await bench_.wait_ready(std::move(again), work);
    if (!ready) {
      const std::string name = target.name;
      target.state = status::failed;
      target.description = "Release " + quote(name) + " failed: " + ready.error().text;
      co_await keep_.store(std::move(current), work.timeout);
      co_await keep_.store(std::move(target), work.timeout);
      co_return problem{"release " + name + " failed: " + ready.error().text};
    }
  }
  if (!work.no_hooks) {
    auto failure = co_await hooks_.run(target, "post-rollback", work.timeout);
    if (failure) co_return *failure;
  }
  auto past = co_await bench_.records.all_of(target.name);
  if (!past && past.error().code != problem_code::not_found) co_return past.error();
  const std::size_t count = past ? past->size() : 0;
  for (std::size_t i = 0; i < count; ++i) {
    record p = (*past)[i];
    if (p.state != status::deployed) continue;
    bench_.say("superseding previous deployment " + std::to_string(p.revision));
    p.state = status::superseded;
    auto replaced = co_await keep_.store_end(std::move(p), work);
    if (!replaced)  // or two would be deployed
      co_return problem{"it is rolled back and not on record: " + replaced.error().text};
  }
  target.state = status::deployed;
  bench_.say("updating status for rolled back release for " + target.name);
  auto written = co_await keep_.store_or_fail(std::move(target), work.timeout);
  co_return written;
}

awaitable<std::optional<problem>> rollback_action::settle() {
  auto ended = co_await end_interrupted(keep_, under_way_);
  if (!ended) co_return ended.error();
  if (!*ended) co_return std::nullopt;
  co_return problem{std::string(cancelled_text)};
}

}  // namespace helm::release
