#include "helm/release/workbench.hpp"

#include "formats/plain/listed.hpp"
#include "helm/objects/listed_objects.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/reason.hpp"

#include <boost/json.hpp>

namespace helm::release {

go_time workbench::now() const {
  return time_of(std::chrono::time_point_cast<std::chrono::system_clock::duration>(loop.wall()));
}

void workbench::say(const std::string& line) const {
  if (settings.line) settings.line(line);
}

void workbench::warn(const std::string& line) const {
  if (settings.warning) settings.warning(line);
}

awaitable<outcome<done>> workbench::reach() {
  auto version = co_await on.discovery().recent_version();
  if (version) co_return done{};
  const auto& f = version.error();
  co_return problem{"Kubernetes cluster unreachable: " + reactor::reason_of(f)};
}

awaitable<outcome<objects::object_list>> workbench::build(std::string manifest,
                                                          std::string prefix) {
  auto list = co_await on.build(std::move(manifest), settings.ns);
  if (!list) co_return problem{prefix + ": " + list.error().text};
  co_return list;
}

awaitable<outcome<objects::object_list>> workbench::find_existing(objects::object_list list,
                                                                  bool take_ownership,
                                                                  std::string name) {
  objects::object_list found;
  objects::listed_objects listed(api,
                                 on.share() ? on.share()->most() : apart::memory_share::unlimited);
  co_await listed.read(list);
  using presence = objects::listed_objects::presence;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const objects::listed_objects::finding known = listed.find(list[i]);
    if (known.is == presence::absent) continue;
    std::optional<boost::json::object> asked;
    if (known.is == presence::unknown) {
      objects::object wanted = list[i];
      auto live = co_await on.live(std::move(wanted));
      if (!live)
        co_return problem{"could not get information about the resource " +
                          objects::describe(list[i]) + ": " + live.error().text};
      if (!*live) continue;
      asked = std::move(*live);
    }
    const boost::json::object& live = asked ? *asked : *known.object;
    if (!take_ownership)
      if (auto foreign = objects::ownership_problem(live, name, settings.ns))
        co_return problem{objects::describe(list[i]) +
                          " exists and cannot be imported into the current release: " + *foreign};
    found.push_back(list[i]);
  }
  co_return found;
}

awaitable<outcome<done>> workbench::wait_ready(objects::object_list list, work_options work) {
  say("beginning wait for " + std::to_string(list.size()) + " resources with timeout of " +
      reactor::format_duration(work.timeout));
  co_return co_await on.wait_ready(std::move(list), work.wait_for_jobs, loop.now() + work.timeout);
}

awaitable<std::optional<objects::release_name>> workbench::doubt(record& r) {
  if (!settings.notes) co_return std::nullopt;
  record asked = r;
  const bool known = co_await settings.notes->knows(std::move(asked));
  if (known) co_return std::nullopt;
  r.ns = settings.ns;
  r.apply_method.clear();
  co_return objects::release_name{r.name, r.ns};
}

awaitable<void> workbench::rest(const record& r, const record* replaced) {
  if (!on.share()) co_return;
  // Of a manifest there are the text, a copy for the case that this is cancelled, and its objects.
  constexpr std::uint64_t copies = 6;
  std::uint64_t kept = 0;
  for (const record* one : {&r, replaced})
    if (one)
      kept += copies * one->manifest.size() +
              (one->origin && one->origin->recorded ? one->origin->recorded->size() : 0);
  co_await on.share()->rest(kept);
}

void workbench::tell_doubt(const record& r, const objects::object_list& left) const {
  constexpr std::size_t most_named = 20;
  std::string text = "revision " + std::to_string(r.revision) + " of " + r.name +
                     " is not as this service noted it (written by another client, changed since, "
                     "or older than its notes): only objects with the release's annotations were "
                     "changed or deleted, and its hooks did not run";
  std::vector<std::string> names;
  for (const auto& one : left) names.push_back(objects::describe(one));
  if (!names.empty()) text += "; left: " + formats::listed(names, most_named);
  settings.notes->tell(std::move(text));
}

objects::object_list stamped(objects::object_list list, const record& r) {
  for (auto& o : list) o.body = objects::stamp(std::move(o.body), r.name, r.ns);
  return list;
}

}  // namespace helm::release
