#include "helm/release/hook_runner.hpp"

#include "helm/go.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

namespace helm::release {

awaitable<std::optional<problem>> hook_runner::delete_hook(hook h, std::string policy,
                                                           reactor::nanoseconds timeout) {
  // Deleting a definition would take every object of its kind along.
  if (h.kind == "CustomResourceDefinition" || !has_policy(h, policy)) co_return std::nullopt;
  auto list = co_await bench_.build(
      h.content, "unable to build kubernetes object for deleting hook " + h.path);
  if (!list) co_return list.error();
  objects::object_list doomed = *list;
  auto removed = co_await bench_.on.remove(std::move(doomed), "Background");
  if (!removed.errors.empty()) {
    std::string all;
    for (const auto& e : removed.errors) all += (all.empty() ? "" : "; ") + e;
    co_return problem{all};
  }
  auto gone = co_await bench_.on.wait_gone(std::move(*list), bench_.loop.now() + timeout);
  if (!gone) co_return gone.error();
  co_return std::nullopt;
}

awaitable<void> hook_runner::show_log(hook h, std::string policy, std::string ns) {
  const auto& wanted = h.output_log_policies;
  if (std::find(wanted.begin(), wanted.end(), policy) == wanted.end()) co_return;
  if (h.kind != "Job" && h.kind != "Pod") co_return;
  auto list = co_await bench_.on.build(h.content, ns);
  if (list && !list->empty()) ns = list->front().ns;
  std::string labels, fields;
  if (h.kind == "Job")
    labels = "job-name=" + h.name;
  else
    fields = "metadata.name=" + h.name;
  std::string text;
  auto shown =
      co_await bench_.on.pod_logs(std::move(ns), std::move(labels), std::move(fields), &text);
  if (bench_.settings.hook_log && !text.empty()) bench_.settings.hook_log(text);
  if (!shown) bench_.warn("error outputting logs for hook failure: " + shown.error().text);
}

awaitable<hook_runner::hook_end> hook_runner::run_one_hook(record& r, std::size_t at,
                                                           std::string event,
                                                           reactor::nanoseconds timeout) {
  const hook h = r.hooks[at].what;
  hook old = h;
  auto in_the_way = co_await delete_hook(std::move(old), "before-hook-creation", timeout);
  if (in_the_way) co_return hook_end{in_the_way, false};
  auto list = co_await bench_.build(
      h.content, "unable to build kubernetes object for " + event + " hook " + h.path);
  if (!list) co_return hook_end{list.error(), false};
  auto& run = r.hooks[at].last_run;
  run = {bench_.now(), {}, "Running"};
  bench_.say("running " + event + " hook " + h.path);
  co_await keep_.store(r, timeout);
  run.phase = "Unknown";
  objects::object_list made = *list;
  auto created = co_await bench_.on.create(std::move(made), &*list);
  if (!created) {
    run.completed = bench_.now();
    run.phase = "Failed";
    problem why{"warning: Hook " + event + " " + h.path + " failed: " + created.error().text};
    co_return hook_end{std::move(why), false};
  }
  std::optional<problem> failure;
  auto ended = co_await bench_.on.wait_hook(std::move(*list), timeout);
  if (!ended) failure = ended.error();
  run.completed = bench_.now();
  run.phase = failure ? "Failed" : "Succeeded";
  co_return hook_end{failure, true};
}

bool hook_runner::waits_for(const record& r, std::string_view event, const work_options& work) {
  return !work.no_hooks && !hooks_for(r.hooks, std::string(event)).empty();
}

awaitable<std::optional<problem>> hook_runner::run(record& r, std::string event,
                                                   reactor::nanoseconds timeout) {
  const std::vector<std::size_t> order = hooks_for(r.hooks, event);
  for (std::size_t i = 0; i < order.size(); ++i) {
    hook& h = r.hooks[order[i]].what;
    if (h.delete_policies.empty()) h.delete_policies = {"before-hook-creation"};
    auto end = co_await run_one_hook(r, order[i], event, timeout);
    if (!end.failure) continue;
    if (!end.ran) co_return end.failure;
    hook failed = r.hooks[order[i]].what;
    co_await show_log(failed, "hook-failed", r.ns);
    auto kept = co_await delete_hook(std::move(failed), "hook-failed", timeout);
    if (kept) bench_.warn("error deleting the hook resource on hook failure: " + kept->text);
    for (std::size_t j = 0; j < i; ++j) {
      hook earlier = r.hooks[order[j]].what;
      auto left = co_await delete_hook(std::move(earlier), "hook-succeeded", timeout);
      if (left) co_return left;
    }
    co_return end.failure;
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    hook ended = r.hooks[order[i]].what;
    co_await show_log(ended, "hook-succeeded", r.ns);
    auto left = co_await delete_hook(std::move(ended), "hook-succeeded", timeout);
    if (left) co_return left;
  }
  co_return std::nullopt;
}

}  // namespace helm::release
