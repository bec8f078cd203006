#include "helm/go.hpp"
#include "helm/release/actions.hpp"
#include "helm/render/installation.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

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

awaitable<outcome<done>> release_actions::purge(history all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto gone = co_await records_.remove(all[i].name, all[i].revision);
    if (!gone) co_return problem{"uninstall: Failed to purge the release: " + gone.error().text};
  }
  co_return done{};
}

awaitable<outcome<std::string>> release_actions::uninstall(uninstall_request r) {
  const work_options work = r.work;
  auto reached = co_await reach();
  if (!reached) co_return reached.error();
  if (r.dry_run) {
    auto there = co_await find(r.name, 0);
    if (!there) co_return there.error();
    co_return std::string();
  }
  if (!valid_release_name(r.name))
    co_return problem{"uninstall: Release name is invalid: " + r.name};
  auto past = co_await records_.all_of(r.name);
  if (!past) {
    if (r.ignore_not_found) co_return std::string();
    co_return problem{"uninstall: Release not loaded: " + r.name + ": " + past.error().text};
  }
  record rel = past->back();
  if (rel.state == status::uninstalled) {
    if (r.keep_history)
      co_return problem{"the release named " + quote(r.name) + " is already deleted"};
    history all = std::move(*past);
    auto purged = co_await purge(std::move(all));
    if (!purged) co_return purged.error();
    co_return std::string();
  }
  rel.state = status::uninstalling;
  rel.deleted = now();
  rel.description = "Deletion in progress (or silently failed)";
  if (!work.no_hooks) {
    auto failure = co_await run_hooks(rel, "pre-delete", work.timeout);
    if (failure) co_return *failure;
  }
  co_await store(rel, work.timeout);

  const std::string not_deleted = "failed to delete release: " + r.name;
  auto split = split_for_uninstall(rel.manifest);
  if (!split) {
    warn("uninstall: Failed to delete release: " + split.error().text);
    co_return problem{not_deleted};
  }
  auto doomed = co_await build(split->doomed, "unable to build kubernetes objects for delete");
  if (!doomed) {
    warn("uninstall: Failed to delete release: " + doomed.error().text);
    co_return problem{not_deleted};
  }
  objects::object_list all = *doomed;
  auto removed = co_await objects_.remove(std::move(all), propagation(r.cascade));
  if (!removed.errors.empty()) {
    for (const auto& e : removed.errors) warn("uninstall: Failed to delete release: " + e);
    co_return problem{not_deleted};
  }
  std::string info;
  if (!split->kept.empty())
    info = "These resources were kept due to the resource policy:\n" + split->kept;

  std::vector<std::string> errors;
  if (work.wait) {
    auto gone = co_await objects_.wait_gone(std::move(*doomed), loop_.now() + work.timeout);
    if (!gone) errors.push_back(gone.error().text);
  }
  if (!work.no_hooks) {
    auto failure = co_await run_hooks(rel, "post-delete", work.timeout);
    if (failure) errors.push_back(failure->text);
  }
  rel.state = status::uninstalled;
  rel.description = r.description.empty() ? "Uninstallation complete" : r.description;
  if (!r.keep_history) {
    history gone = std::move(*past);
    auto purged = co_await purge(std::move(gone));
    if (!purged) errors.push_back(purged.error().text);
    co_return ended_with(errors, std::move(info));
  }
  co_await store(std::move(rel), work.timeout);
  for (std::size_t i = 0; i < past->size(); ++i) {
    record p = (*past)[i];
    if (p.state != status::deployed || i + 1 == past->size()) continue;
    p.state = status::superseded;
    co_await store(std::move(p), work.timeout);
  }
  co_return ended_with(errors, std::move(info));
}

awaitable<test_outcome> release_actions::test(test_request r) {
  test_outcome out;
  auto reached = co_await reach();
  if (!reached) {
    out.failure = reached.error();
    co_return out;
  }
  if (!valid_release_name(r.name)) {
    out.failure = problem{"releaseTest: Release name is invalid: " + r.name};
    co_return out;
  }
  auto past = co_await records_.all_of(r.name);
  if (!past) {
    out.failure = past.error();
    co_return out;
  }
  record rel = past->back();
  const auto listed = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  // Tests that are left out keep what is known of them; in the record they come first, as Helm leaves it.
  std::vector<recorded_hook> skipped, run;
  for (auto& h : rel.hooks) {
    const bool out_of_it =
        listed(r.exclude, h.what.name) || (!r.include.empty() && !listed(r.include, h.what.name));
    (out_of_it ? skipped : run).push_back(std::move(h));
  }
  rel.hooks = std::move(run);
  out.failure = co_await run_hooks(rel, "test", r.timeout);
  skipped.insert(skipped.end(), rel.hooks.begin(), rel.hooks.end());
  rel.hooks = std::move(skipped);
  auto written = co_await store_or_fail(rel, r.timeout);
  if (!written && !out.failure) out.failure = written.error();
  out.tested = std::move(rel);
  co_return out;
}

awaitable<outcome<done>> release_actions::test_logs(record tested, test_request r,
                                                    std::string* into) {
  const auto listed = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  std::stable_sort(tested.hooks.begin(), tested.hooks.end(), [](const auto& a, const auto& b) {
    return a.what.weight != b.what.weight ? a.what.weight < b.what.weight
                                          : a.what.name < b.what.name;
  });
  for (const auto& h : tested.hooks) {
    if (!listed(h.what.events, "test") || listed(r.exclude, h.what.name)) continue;
    if (!r.include.empty() && !listed(r.include, h.what.name)) continue;
    auto text = co_await objects_.pod_log(tested.ns, h.what.name);
    if (!text)
      co_return problem{"unable to get pod logs for " + h.what.name + ": " + text.error().text};
    *into += "POD LOGS: " + h.what.name + "\n" + *text + "\n";
  }
  co_return done{};
}

}  // namespace helm::release
