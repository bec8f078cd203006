#include "helm/release/upgrade.hpp"

#include "helm/go.hpp"
#include "helm/render/installation.hpp"
#include "reactor/loop.hpp"

#include <set>
#include <string>

namespace helm::release {
namespace {

/// Objects of `target` that the current manifest does not have, version included: a move to another
/// version of the API is looked at like a new object.
objects::object_list new_ones(const objects::object_list& target,
                              const objects::object_list& current) {
  const auto text = [](const objects::object& o) {
    return o.resource.version + "/" + objects::key_of(o);
  };
  std::set<std::string> known;
  for (const auto& c : current) known.insert(text(c));
  objects::object_list out;
  for (const auto& o : target)
    if (!known.contains(text(o))) out.push_back(o);
  return out;
}

/// Fields that `before` has and `target` has not are taken from a live object. Of a record that is
/// not believed that holds in the namespace of the release alone, where its author may write as
/// well: outside, `before` becomes what `target` is, and the fields of others stay.
void take_nothing_outside(objects::object_list& before, const objects::object_list& target,
                          const std::string& ns) {
  const objects::object_index wanted(target);
  for (objects::object& o : before)
    if (o.ns != ns)
      if (const objects::object* is = wanted.find(o)) o = *is;
}

}  // namespace

awaitable<outcome<record>> upgrade_action::run(upgrade_request r) {
  const bool dry = r.dry != dry_run::none;
  r.work.wait = r.work.wait || r.atomic;
  auto reached = co_await bench_.reach();
  if (!reached) co_return reached.error();
  if (!valid_release_name(r.name)) co_return problem{"release name is invalid: " + r.name};
  bench_.say("preparing upgrade for " + r.name);
  if (!dry && r.hide_secrets)
    co_return problem{"Hiding Kubernetes secrets requires a dry-run mode"};
  auto past = co_await keep_.recovered(r.name);
  if (!past && past.error().code != problem_code::not_found) co_return past.error();
  history known = past ? std::move(*past) : history();
  auto base = upgrade_base(known, r.name);
  if (!base) co_return base.error();
  record current = **base;
  record last = known.back();
  history().swap(known);  // it may be large
  std::string().swap(last.manifest);
  const auto only_of = co_await bench_.doubt(current);
  auto chosen =
      choose_values(r.how, current, r.values, [this](const std::string& l) { bench_.warn(l); });
  if (!chosen) co_return chosen.error();
  auto caps = co_await bench_.on.capabilities();
  if (!caps) co_return caps.error();

  render_request job;
  job.chart = r.chart;
  job.values = chosen->config;
  job.chart_values = chosen->chart_values;
  job.release = {r.name, current.ns, last.revision + 1, false, true};
  job.caps = std::move(*caps);
  job.skip_schema = r.skip_schema;
  job.sub_notes = r.sub_notes;
  job.hide_secrets = r.hide_secrets;
  job.after = r.after;
  job.look_up = r.dry != dry_run::client;
  auto made = co_await rendering_.render(std::move(job));
  if (!made) co_return made.error();
  if (auto reserved = label_problem(r.labels)) co_return problem{*reserved};

  record rel;
  rel.name = r.name;
  rel.ns = current.ns;
  rel.revision = last.revision + 1;
  rel.first_deployed = current.first_deployed;
  rel.last_deployed = bench_.now();
  rel.state = status::pending_upgrade;
  rel.description = "Preparing upgrade";
  rel.origin = made->processed;
  rel.config = chosen->config;
  rel.manifest = std::move(made->manifest);
  rel.notes = std::move(made->notes);
  rel.labels = merge_labels(without_system_labels(last.labels), r.labels);
  rel.apply_method = r.work.server_side ? "ssa" : current.apply_method;
  r.work.server_side = rel.apply_method == "ssa";
  for (auto& h : made->hooks) rel.hooks.push_back({std::move(h), {}});

  bench_.say("performing update for " + r.name);
  auto built = co_await bench_.on.build(rel.manifest, bench_.settings.ns);
  if (!built) co_return built.error();
  auto before = co_await bench_.on.build(current.manifest, bench_.settings.ns);
  // Helm has a sentence of its own for kinds that are no longer served, and never says it: it looks
  // for words that its client library does not use any more.
  if (!before)
    co_return problem{"unable to build kubernetes objects from current release manifest: " +
                      before.error().text};
  objects::object_list target = stamped(std::move(*built), rel);
  objects::object_list old = std::move(*before);
  // What is not believed makes no object ours.
  objects::object_list fresh = only_of ? target : new_ones(target, old);
  auto found = co_await bench_.find_existing(std::move(fresh), r.take_ownership, rel.name);
  if (!found) co_return problem{"Unable to continue with update: " + found.error().text};
  objects::object_list unclaimed = std::move(*found);
  if (only_of) unclaimed = objects::difference(unclaimed, old);
  for (auto& o : unclaimed) old.push_back(std::move(o));
  if (only_of) take_nothing_outside(old, target, bench_.settings.ns);
  if (dry) {
    rel.description = r.description.empty() ? "Dry run complete" : r.description;
    co_return rel;
  }
  bench_.say("creating upgraded release for " + r.name);
  auto pruned = co_await keep_.prune(r.name, r.history_max);
  if (!pruned) co_return pruned.error();
  std::optional<record> after(current);
  under_way_ = interrupted<upgrade_request>{rel, r};
  auto stored = co_await keep_.store_new(rel, r.work.timeout, std::move(after));
  if (!stored) {
    under_way_.reset();
    co_return stored.error();
  }
  under_way_->is_stored = true;
  auto ended = co_await perform(std::move(current), std::move(rel), std::move(r), std::move(old),
                                std::move(target), only_of);
  under_way_.reset();
  co_return ended;
}

awaitable<outcome<record>> upgrade_action::perform(record original, record r,
                                                   upgrade_request request,
                                                   objects::object_list current,
                                                   objects::object_list target,
                                                   std::optional<objects::release_name> only_of) {
  const work_options work = request.work;
  std::optional<problem> failure;
  objects::update_result did;
  // objects changed, so that the record of the current revision is written again
  bool touched = false;
  if (hooks_.waits_for(r, "pre-upgrade", work)) co_await bench_.rest(r, &original);
  if (!work.no_hooks) {
    failure = co_await hooks_.run(r, "pre-upgrade", work.timeout);
    if (failure) failure->text = "pre-upgrade hooks failed: " + failure->text;
    under_way_->r = r;
  }
  if (!failure) {
    objects::update_options how;
    how.force = work.force;
    how.server_side = work.server_side;
    how.only_of = only_of;
    objects::object_list wanted = target;
    auto changed = co_await bench_.on.update(std::move(current), std::move(wanted), how, &did);
    touched = true;
    if (only_of) bench_.tell_doubt(original, did.left);
    if (!changed) failure = changed.error();
  }
  co_await bench_.rest(r, &original);
  if (!failure && work.wait) {
    bench_.say("waiting for release " + r.name +
               " resources (created: " + std::to_string(did.created.size()) +
               " updated: " + std::to_string(did.updated.size()) +
               "  deleted: " + std::to_string(did.deleted.size()) + ")");
    auto ready = co_await bench_.wait_ready(std::move(target), work);
    if (!ready) failure = ready.error();
  }
  if (failure && touched) co_await keep_.store(original, work.timeout);
  if (!failure && !work.no_hooks) {
    failure = co_await hooks_.run(r, "post-upgrade", work.timeout);
    if (failure) failure->text = "post-upgrade hooks failed: " + failure->text;
  }
  if (failure) {
    problem why = *failure;
    problem shown =
        co_await fail(std::move(r), std::move(request), std::move(did.created), std::move(why));
    co_return shown;
  }
  original.state = status::superseded;
  auto replaced = co_await keep_.store_end(std::move(original), work);
  if (!replaced)  // or two would be deployed
    co_return problem{"it is upgraded and not on record: " + replaced.error().text};
  r.state = status::deployed;
  r.description = request.description.empty() ? "Upgrade complete" : request.description;
  bench_.say("updating status for upgraded release for " + r.name);
  auto written = co_await keep_.store_or_fail(r, work.timeout);
  if (!written) co_return written.error();
  co_return r;
}

awaitable<problem> upgrade_action::fail(record r, upgrade_request request,
                                        objects::object_list created, problem why) {
  const std::string name = r.name;
  r.state = status::failed;
  r.description = "Upgrade " + quote(name) + " failed: " + why.text;
  bench_.say("warning: " + r.description);
  auto ended = co_await keep_.store_end(r, request.work);
  if (request.cleanup_on_fail && !created.empty()) {
    bench_.say("Cleanup on fail set, cleaning up " + std::to_string(created.size()) + " resources");
    auto removed = co_await bench_.on.remove(std::move(created), "Background");
    if (!removed.errors.empty()) {
      std::string all;
      for (const auto& e : removed.errors) all += (all.empty() ? "" : ", ") + e;
      co_return problem{"an error occurred while cleaning up resources. original upgrade error: " +
                        why.text + ": unable to cleanup resources: " + all};
    }
  }
  if (!request.atomic) co_return why;
  bench_.say("Upgrade failed and atomic is set, rolling back to last successful release");
  if (!ended) ended = co_await keep_.store_end(std::move(r), request.work);
  if (!ended)  // or two would be pending
    co_return problem{"an error occurred while rolling back the release. original upgrade error: " +
                      why.text + ": " + ended.error().text};
  auto past = co_await bench_.records.all_of(name);
  if (!past)
    co_return problem{
        "an error occurred while finding last successful release. original upgrade error: " +
        why.text + ": " + past.error().text};
  rollback_request back;
  for (const auto& p : *past)
    if (p.state == status::superseded || p.state == status::deployed) back.revision = p.revision;
  if (back.revision == 0)
    co_return problem{
        "unable to find a previously successful release when attempting to rollback. original "
        "upgrade error: " +
        why.text};
  back.name = name;
  back.work = request.work;
  back.work.wait = true;
  back.history_max = 0;
  auto undone = co_await undoing_.run(std::move(back));
  if (!undone)
    co_return problem{"an error occurred while rolling back the release. original upgrade error: " +
                      why.text + ": " + undone.error().text};
  co_return problem{"release " + name +
                    " failed, and has been rolled back due to atomic being set: " + why.text};
}

awaitable<std::optional<problem>> upgrade_action::settle() {
  auto left = co_await keep_.left_by(under_way_);
  if (!left) co_return std::nullopt;
  objects::object_list none;
  problem cancelled{"context canceled"};
  problem shown = co_await fail(std::move(left->r), std::move(left->request), std::move(none),
                                std::move(cancelled));
  co_return shown;
}

}  // namespace helm::release
