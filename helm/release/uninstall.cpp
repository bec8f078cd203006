#include "helm/release/uninstall.hpp"

#include "helm/go.hpp"
#include "helm/release/release_jobs.hpp"
#include "helm/render/installation.hpp"
#include "reactor/loop.hpp"

namespace helm::release {
namespace {

std::string propagation(const std::string& cascade) {
  if (cascade == "orphan") return "Orphan";
  if (cascade == "foreground") return "Foreground";
  return "Background";
}

outcome<std::string> ended_with(const std::vector<std::string>& errors, std::string info) {
  if (errors.empty()) return info;
  std::string all;
  for (const auto& e : errors) all += (all.empty() ? "" : "; ") + e;
  return problem{"uninstallation completed with " + std::to_string(errors.size()) +
                 " error(s): " + all};
}

}  // namespace

awaitable<outcome<std::string>> uninstall_action::run(uninstall_request r) {
  work_options work = r.work;
  auto reached = co_await bench_.reach();
  if (!reached) co_return reached.error();
  if (r.dry_run) {
    auto there = co_await keep_.find(r.name, 0);
    if (!there) co_return there.error();
    co_return std::string();
  }
  if (!valid_release_name(r.name))
    co_return problem{"uninstall: Release name is invalid: " + r.name};
  auto past = co_await bench_.records.all_of(r.name);
  if (!past) {
    // The service knows that there is none only where it was told so.
    const bool is_known = past.error().code == problem_code::not_found || !bench_.settings.notes;
    if (r.ignore_not_found && is_known) co_return std::string();
    co_return problem{"uninstall: Release not loaded: " + r.name + ": " + past.error().text};
  }
  record rel = past->back();
  if (rel.state == status::uninstalled) {
    if (r.keep_history)
      co_return problem{"the release named " + quote(r.name) + " is already deleted"};
    history all = std::move(*past);
    auto purged = co_await keep_.purge(std::move(all));
    if (!purged) co_return purged.error();
    if (bench_.settings.notes) co_await bench_.settings.notes->forget();
    co_return std::string();
  }
  bench_.say("uninstall: Deleting " + r.name);
  const auto only_of = co_await bench_.doubt(rel);
  work.no_hooks = work.no_hooks || only_of.has_value();
  rel.state = status::uninstalling;
  rel.deleted = bench_.now();
  rel.description = "Deletion in progress (or silently failed)";
  if (hooks_.waits_for(rel, "pre-delete", work)) co_await bench_.rest(rel);
  if (!work.no_hooks) {
    auto failure = co_await hooks_.run(rel, "pre-delete", work.timeout);
    if (failure) co_return *failure;
  }
  co_await keep_.store(rel, work.timeout);

  const std::string not_deleted = "failed to delete release: " + r.name;
  auto split =
      co_await split_apart(bench_.loop, rel.manifest, bench_.settings.charts, bench_.on.share());
  if (!split) {
    bench_.warn("uninstall: Failed to delete release: " + split.error().text);
    co_return problem{not_deleted};
  }
  auto doomed =
      co_await bench_.build(split->doomed, "unable to build kubernetes objects for delete");
  if (!doomed) {
    bench_.warn("uninstall: Failed to delete release: " + doomed.error().text);
    co_return problem{not_deleted};
  }
  objects::object_list all = *doomed;
  auto removed = co_await bench_.on.remove(std::move(all), propagation(r.cascade), only_of);
  if (only_of) bench_.tell_doubt(rel, removed.left);
  if (!removed.errors.empty()) {
    for (const auto& e : removed.errors) bench_.warn("uninstall: Failed to delete release: " + e);
    co_return problem{not_deleted};
  }
  std::string info;
  if (!split->kept.empty())
    info = "These resources were kept due to the resource policy:\n" + split->kept;

  std::vector<std::string> errors;
  co_await bench_.rest(rel);
  if (work.wait) {
    objects::object_list going = objects::difference(*doomed, removed.left);
    auto gone = co_await bench_.on.wait_gone(std::move(going), bench_.loop.now() + work.timeout);
    if (!gone) errors.push_back(gone.error().text);
  }
  if (!work.no_hooks) {
    auto failure = co_await hooks_.run(rel, "post-delete", work.timeout);
    if (failure) errors.push_back(failure->text);
  }
  rel.state = status::uninstalled;
  rel.description = r.description.empty() ? "Uninstallation complete" : r.description;
  if (!r.keep_history) {
    bench_.say("purge requested for " + r.name);
    history gone = std::move(*past);
    auto purged = co_await keep_.purge(std::move(gone));
    if (!purged) errors.push_back(purged.error().text);
    if (purged && bench_.settings.notes) {
      auto left = co_await bench_.records.get(rel.name, rel.revision);
      if (!left && left.error().code != problem_code::not_found)
        errors.push_back(left.error().text);
      if (left)
        errors.push_back("its record " + storage_name(rel.name, rel.revision) +
                         " is there again: another client makes it");
      co_await bench_.settings.notes->forget();
    }
    co_return ended_with(errors, std::move(info));
  }
  co_await keep_.store(std::move(rel), work.timeout);
  for (std::size_t i = 0; i < past->size(); ++i) {
    record p = (*past)[i];
    if (p.state != status::deployed || i + 1 == past->size()) continue;
    p.state = status::superseded;
    co_await keep_.store(std::move(p), work.timeout);
  }
  co_return ended_with(errors, std::move(info));
}

}  // namespace helm::release
