#include "helm/release/actions.hpp"
#include "helm/release/lookups.hpp"
#include "helm/render/installation.hpp"
#include "k8s/client/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/entropy.hpp"
#include "reactor/plain/reason.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace helm::release {
namespace {

// Each answer means one more render; a chart that asks more often is not serious.
constexpr int lookups_limit = 500;

/// Tells the worker that nobody waits for its render any more.
struct render_owner {
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
  render_owner() = default;
  render_owner(const render_owner&) = delete;
  render_owner& operator=(const render_owner&) = delete;
  ~render_owner() { cancelled->store(true); }
};

/// A request whose values nobody else counts: it goes to another thread.
render_request detached(const render_request& r) {
  render_request out = r;
  out.values = detached_copy(r.values);
  if (r.chart_values) out.chart_values = detached_copy(*r.chart_values);
  return out;
}

std::int64_t seconds_of(reactor::wall_time t) {
  return std::chrono::duration_cast<std::chrono::seconds>(t.time_since_epoch()).count();
}

}  // namespace

release_actions::release_actions(reactor::loop& l, k8s::client& api, objects::cluster_objects& on,
                                 record_store& records, settings s)
    : loop_(l), api_(api), objects_(on), records_(records), settings_(std::move(s)) {}

awaitable<outcome<done>> release_actions::reach() {
  auto version = co_await api_.get_path("/version");
  if (version) co_return done{};
  const auto& f = version.error();
  co_return problem{"Kubernetes cluster unreachable: " + reactor::reason_of(f)};
}

awaitable<outcome<history>> release_actions::revisions(std::string name) {
  co_return co_await records_.all_of(std::move(name));
}

awaitable<outcome<history>> release_actions::list() {
  co_return co_await records_.list();
}

awaitable<outcome<record>> release_actions::find(std::string name, int revision) {
  if (!valid_release_name(name))
    co_return problem{"releaseContent: Release name is invalid: " + name};
  if (revision > 0) co_return co_await records_.get(std::move(name), revision);
  auto all = co_await records_.all_of(std::move(name));
  if (!all) co_return all.error();
  co_return std::move(all->back());
}

bool release_actions::abandoned(const record& r) const {
  return is_abandoned(r, settings_.instance, seconds_of(loop_.wall()));
}

awaitable<outcome<history>> release_actions::recovered(std::string name) {
  auto all = co_await records_.all_of(std::move(name));
  if (!all || !abandoned(all->back())) co_return all;
  auto ended = co_await end_abandoned(all->back());
  if (!ended) co_return ended.error();
  co_return all;
}

awaitable<outcome<done>> release_actions::end_abandoned(record& last) {
  warn("WARNING: revision " + std::to_string(last.revision) + " was left " +
       std::string(to_string(last.state)) + " by a process that ended; it is marked as failed");
  last.description = failed_description(last, "the process that worked on it ended");
  last.state = status::failed;
  co_return co_await store_or_fail(last, {});
}

awaitable<outcome<rendered>> release_actions::render(render_request r) {
  render_owner owner;
  r.cancelled = owner.cancelled;
  r.now = loop_.wall();
  r.steady = [this] { return loop_.now().time_since_epoch(); };  // asked by the worker
  if (loop_.simulated()) {
    auto seeded = std::make_shared<reactor::seeded_entropy>(loop_.random().next());
    r.random = [seeded](std::span<unsigned char> bytes) { seeded->fill(bytes); };
  }
  lookup_answers answers;
  cluster_lookups lookups(api_);
  for (int asked = 0; asked <= lookups_limit; ++asked) {
    r.answers = std::make_shared<const lookup_answers>(answers);
    auto work = [job = detached(r)] { return render_release(job); };
    rendered out = co_await loop_.offload(std::move(work));
    if (!out.missing) {
      for (const auto& line : out.lines) warn(line);
      if (out.failure) co_return *out.failure;
      co_return out;
    }
    const lookup_key key = *out.missing;
    say("looking up " + key[0] + " " + key[1] + " " + key[2] + "/" + key[3]);
    lookup_key wanted = key;
    auto answer = co_await lookups.find(std::move(wanted));
    answers.emplace(key, std::move(answer));
  }
  co_return problem{"the chart looks up more than " + std::to_string(lookups_limit) + " objects"};
}

awaitable<outcome<objects::object_list>> release_actions::build(std::string manifest,
                                                                std::string prefix) {
  auto list = co_await objects_.build(std::move(manifest), settings_.ns);
  if (!list) co_return problem{prefix + ": " + list.error().text};
  co_return list;
}

objects::object_list release_actions::stamped(objects::object_list list, const record& r) const {
  for (auto& o : list) o.body = objects::stamp(std::move(o.body), r.name, r.ns);
  return list;
}

awaitable<outcome<objects::object_list>> release_actions::find_existing(objects::object_list list,
                                                                        bool take_ownership,
                                                                        std::string name) {
  objects::object_list found;
  for (std::size_t i = 0; i < list.size(); ++i) {
    objects::object wanted = list[i];
    auto live = co_await objects_.live(std::move(wanted));
    if (!live)
      co_return problem{"could not get information about the resource " +
                        objects::describe(list[i]) + ": " + live.error().text};
    if (!*live) continue;
    if (!take_ownership)
      if (auto foreign = objects::ownership_problem(**live, name, settings_.ns))
        co_return problem{objects::describe(list[i]) +
                          " exists and cannot be imported into the current release: " + *foreign};
    found.push_back(list[i]);
  }
  co_return found;
}

record release_actions::marked(record r, reactor::nanoseconds timeout) const {
  if (is_pending(r.state)) {
    const auto deadline = loop_.wall() + timeout + std::chrono::seconds(1);
    r.labels[instance_label] = settings_.instance;
    r.labels[deadline_label] = std::to_string(seconds_of(deadline));
  } else {
    r.labels.erase(instance_label);
    r.labels.erase(deadline_label);
  }
  return r;
}

awaitable<outcome<done>> release_actions::prune(std::string name, int history_max) {
  if (history_max <= 0) co_return done{};
  auto all = co_await records_.all_of(name);
  if (!all) {
    if (all.error().text == not_found_text) co_return done{};
    co_return all.error();
  }
  const std::vector<int> doomed = revisions_to_prune(*all, history_max);
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < doomed.size(); ++i) {
    auto gone = co_await records_.remove(name, doomed[i]);
    if (gone) continue;
    say("error pruning " + storage_name(name, doomed[i]) +
        " from release history: " + gone.error().text);
    errors.push_back(gone.error().text);
  }
  if (errors.empty()) co_return done{};
  if (errors.size() == 1) co_return problem{errors[0]};
  co_return problem{"encountered " + std::to_string(errors.size()) +
                    " deletion errors. First is: " + errors[0]};
}

awaitable<outcome<done>> release_actions::store_new(record r, reactor::nanoseconds timeout) {
  say("creating release record " + storage_name(r.name, r.revision));
  record labelled = marked(std::move(r), timeout);
  co_return co_await records_.create(std::move(labelled));
}

awaitable<outcome<done>> release_actions::store_or_fail(record r, reactor::nanoseconds timeout) {
  say("updating release record " + storage_name(r.name, r.revision) + " (" +
      std::string(to_string(r.state)) + ")");
  record labelled = marked(std::move(r), timeout);
  co_return co_await records_.update(std::move(labelled));
}

awaitable<void> release_actions::store(record r, reactor::nanoseconds timeout) {
  const std::string name = r.name;
  auto written = co_await store_or_fail(std::move(r), timeout);
  if (!written) warn("warning: Failed to update release " + name + ": " + written.error().text);
}

awaitable<outcome<done>> release_actions::wait_ready(objects::object_list list, work_options work) {
  say("beginning wait for " + std::to_string(list.size()) + " resources with timeout of " +
      reactor::format_duration(work.timeout));
  co_return co_await objects_.wait_ready(std::move(list), work.wait_for_jobs,
                                         loop_.now() + work.timeout);
}

awaitable<std::optional<problem>> release_actions::settle() {
  const problem cancelled{"context canceled"};
  if (installing_) {
    interrupted_install i = std::move(*installing_);
    problem shown = co_await fail_install(std::move(i.r), std::move(i.request), cancelled);
    co_return shown;
  }
  if (upgrading_) {
    interrupted_upgrade u = std::move(*upgrading_);
    objects::object_list none;
    problem shown =
        co_await fail_upgrade(std::move(u.r), std::move(u.request), std::move(none), cancelled);
    co_return shown;
  }
  if (rolling_back_) {
    interrupted_rollback b = std::move(*rolling_back_);
    rolling_back_.reset();
    b.target.description = failed_description(b.target, cancelled.text);
    b.target.state = status::failed;
    co_await store(std::move(b.target), b.timeout);
    co_return cancelled;
  }
  co_return std::nullopt;
}

go_time release_actions::now() const {
  return time_of(std::chrono::time_point_cast<std::chrono::system_clock::duration>(loop_.wall()));
}

void release_actions::say(const std::string& line) const {
  if (settings_.line) settings_.line(line);
}

void release_actions::warn(const std::string& line) const {
  if (settings_.warning) settings_.warning(line);
}

}  // namespace helm::release
