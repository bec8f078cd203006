// The operations of one class on one cluster; each is a few lines over the same client and list of
// kinds.
#include "helm/objects/cluster_objects.hpp"

#include "helm/go.hpp"
#include "helm/objects/manifest_job.hpp"
#include "helm/objects/manifest_reader.hpp"
#include "helm/objects/three_way_merge.hpp"
#include "helm/objects/waits.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/merge/merge_schema.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/plain/entropy.hpp"
#include "reactor/side_by_side.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <set>

namespace helm::objects {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr int conflict_tries = 5;
constexpr auto conflict_pause = 10ms;
constexpr auto definition_wait = 60s, discovery_wait = 10s;
constexpr reactor::backoff_settings discovery_looks{50ms, 1s, 2, 0.1};
const char* const apply_manager = "windlass-helm";

using act_on = std::function<awaitable<void>(std::size_t)>;

/// "1 error occurred:\n\t* …\n\n"
std::string errors_occurred(const std::vector<std::string>& errors) {
  std::string out = errors.size() == 1 ? "1 error occurred:"
                                       : std::to_string(errors.size()) + " errors occurred:";
  for (const std::string& e : errors) out += "\n\t* " + e;
  return out + "\n\n";
}

/// Different problems once each: "a", "[a, b]".
std::string joined(const std::vector<std::string>& problems) {
  std::vector<std::string> different;
  for (const std::string& p : problems) {
    if (std::find(different.begin(), different.end(), p) == different.end()) different.push_back(p);
  }
  if (different.size() == 1) return different[0];
  std::string out;
  for (const std::string& p : different) out += (out.empty() ? "[" : ", ") + p;
  return out + "]";
}

const char* const no_name = "resource name may not be empty";

k8s::fault nameless() {
  k8s::fault f;
  f.code = k8s::errc::invalid;
  f.doing = no_name;
  return f;
}

bool try_again(const k8s::fault& f, int tries) {
  return f.code == k8s::errc::conflict && tries < conflict_tries;
}

void set_namespace(json::object& body, const std::string& ns) {
  json::value& metadata = body["metadata"];
  if (!metadata.is_object()) metadata.emplace_object();
  if (ns.empty())
    metadata.get_object().erase("namespace");
  else
    metadata.get_object()["namespace"] = ns;
}

/// Where the run of objects of one kind that begins at `from` ends.
std::size_t end_of_run(const object_list& list, std::size_t from) {
  std::size_t end = from;
  while (end < list.size() && list[end].kind == list[from].kind) ++end;
  return end;
}

/// Definitions of kinds, and servers that bring kinds along.
bool brings_kinds(const object_list& list) {
  return std::ranges::any_of(list, [](const object& o) {
    return o.resource.group == "apiextensions.k8s.io" ||
           o.resource.group == "apiregistration.k8s.io";
  });
}

/// What the loop reads in its turn; more is read on the worker.
constexpr std::size_t read_at_once_bytes = 2 * 1024;

}  // namespace

struct cluster_objects::impl {
  impl(reactor::loop& l, k8s::client& client, k8s::discovery* known)
      : loop(l), api(client), own(client), kinds(known ? *known : own), wait(l, client) {}

  void say(std::string line) const {
    if (on_line) on_line(std::move(line));
  }

  awaitable<outcome<std::vector<json::object>>> read(std::string manifest);
  awaitable<outcome<object>> map(json::object body, std::string default_namespace);
  awaitable<std::optional<k8s::fault>> create_one(object& o);  // borrowed
  enum class removal : std::uint8_t { done, left };
  /// `left`: there, and not of the release `only_of`.
  awaitable<k8s::result<removal>> remove_one(const object& o, std::string propagation,  // borrowed
                                             const std::optional<release_name>& only_of);
  awaitable<std::vector<k8s::fault>> create_all(object_list& list);  // borrowed
  awaitable<std::optional<std::string>> change(const object& target, const object& current,
                                               const json::object& live,
                                               const update_options& how);  // borrowed
  // borrowed
  awaitable<std::optional<std::string>> replace(const object& target, const json::object& live);
  // borrowed
  awaitable<std::optional<std::string>> apply(const object& target, const update_options& how);
  awaitable<void> remove_dropped(const object& o, const std::optional<release_name>& only_of,
                                 update_result& did);  // borrowed
  awaitable<void> discover(object_list definitions, reactor::steady_time deadline);

  reactor::loop& loop;
  k8s::client& api;
  k8s::discovery own;  // asked where the caller gave none
  k8s::discovery& kinds;
  waits wait;
  std::function<void(std::string)> on_line;
  /// get() of an object that anyone may have made large.
  awaitable<k8s::result<json::object>> get(const object& o);  // borrowed
  std::optional<chart_limits> strangers;
  apart::memory_share* share = nullptr;
  std::optional<std::string> only_in;  // a namespace
};

cluster_objects::cluster_objects(reactor::loop& l, k8s::client& api)
    : impl_(std::make_unique<impl>(l, api, nullptr)) {}
cluster_objects::cluster_objects(reactor::loop& l, k8s::client& api, k8s::discovery& known)
    : impl_(std::make_unique<impl>(l, api, &known)) {}
cluster_objects::~cluster_objects() = default;

void cluster_objects::on_line(std::function<void(std::string)> line) {
  impl_->on_line = std::move(line);
}

void cluster_objects::of_strangers(chart_limits limits, apart::memory_share* share) {
  impl_->strangers = limits;
  impl_->share = share;
}

void cluster_objects::confine_to(std::string ns) {
  impl_->only_in = std::move(ns);
}

apart::memory_share* cluster_objects::share() const noexcept {
  return impl_->share;
}

awaitable<k8s::result<json::object>> cluster_objects::impl::get(const object& o) {
  const std::uint64_t most = share ? share->most() : apart::memory_share::unlimited;
  if (most != apart::memory_share::unlimited) {
    auto got = co_await api.get_within(o.resource, o.key(), most);
    if (got || got.error().code != k8s::errc::over_budget) co_return got;
  }
  const auto no_room = co_await apart::room_for(share, apart::memory_share::unlimited);
  if (no_room) {
    k8s::fault why;
    why.code = k8s::errc::over_budget;
    why.doing = "get " + describe(o);
    why.detail = no_room->text;
    co_return why;
  }
  co_return co_await api.get(o.resource, o.key());
}

awaitable<outcome<helm::capabilities>> cluster_objects::capabilities() {
  const std::string unreachable = "Kubernetes cluster unreachable: ";
  auto version = co_await impl_->kinds.recent_version();
  if (!version) co_return problem{unreachable + said(version.error())};
  helm::capabilities out;
  if (version->git_version.empty())
    co_return problem{unreachable + "the server does not say its version"};
  out.kube = {version->git_version, version->major, version->minor};
  std::vector<std::string> skipped;
  auto all = co_await impl_->kinds.everything(skipped);
  if (!all) {
    co_return problem{"could not get apiVersions from Kubernetes: " + said(all.error())};
  }
  for (const std::string& group_version : skipped) {
    impl_->say("WARNING: The Kubernetes server has an orphaned API service. Server reports: " +
               group_version);
  }
  out.api_versions = std::move(*all);
  co_return out;
}

k8s::discovery& cluster_objects::discovery() noexcept {
  return impl_->kinds;
}

awaitable<outcome<object>> cluster_objects::impl::map(json::object body,
                                                      std::string default_namespace) {
  object o;
  o.kind = text_member(body, "kind");
  o.name = metadata_text(body, "name");
  o.ns = metadata_text(body, "namespace");
  const std::string api_version = text_member(body, "apiVersion");
  if (o.kind.empty()) {
    co_return problem{"unable to decode \"\": Object 'Kind' is missing in '" +
                      json::serialize(body) + "'"};
  }
  if (api_version.empty())
    co_return problem{"error validating \"\": error validating data: apiVersion not set"};
  auto found = co_await kinds.find(api_version, o.kind);
  if (!found) co_return problem{"unable to recognize \"\": " + said(found.error())};
  if (!*found) {
    co_return problem{"resource mapping not found for name: " + quote(o.name) + " namespace: " +
                      quote(o.ns) + " from \"\": no matches for kind " + quote(o.kind) +
                      " in version " + quote(api_version) + "\nensure CRDs are installed first"};
  }
  o.resource = **found;
  if (!o.resource.namespaced)
    o.ns.clear();
  else if (o.ns.empty())
    o.ns = default_namespace;
  set_namespace(body, o.ns);
  o.body = std::move(body);
  co_return o;
}

awaitable<outcome<std::vector<json::object>>> cluster_objects::impl::read(std::string manifest) {
  constexpr chart_limits at_once{.memory_bytes = 256u << 10, .steps = 20'000};
  if (manifest.size() < read_at_once_bytes)
    if (auto all = done_within(at_once, [&] { return objects_in(manifest); }))
      co_return std::move(*all);
  if (strangers) co_return co_await objects_apart(loop, std::move(manifest), *strangers, share);
  // A chart with many definitions has a megabyte of YAML.
  const auto work = [](const std::string& text) { return objects_in(text); };
  co_return co_await loop.offload(work, std::move(manifest));
}

awaitable<outcome<object_list>> cluster_objects::build(std::string manifest,
                                                       std::string default_namespace) {
  auto all = co_await impl_->read(std::move(manifest));
  if (!all) co_return all.error();
  object_list out;
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < all->size(); ++i) {
    auto mapped = co_await impl_->map(std::move((*all)[i]), default_namespace);
    if (mapped && impl_->only_in && mapped->ns != *impl_->only_in)
      problems.push_back(describe(*mapped) + " is outside of namespace \"" + *impl_->only_in +
                         "\", which is all that was granted");
    else if (mapped)
      out.push_back(std::move(*mapped));
    else
      problems.push_back(mapped.error().text);
    if (reactor::loop_slice::is_over()) co_await reactor::loop_slice::yield();
  }
  if (!problems.empty()) co_return problem{joined(problems)};
  co_return out;
}

awaitable<outcome<std::optional<json::object>>> cluster_objects::live(object o) {
  if (o.name.empty()) co_return problem{no_name};
  auto got = co_await impl_->get(o);
  if (got) co_return std::optional(std::move(*got));
  if (got.error().code == k8s::errc::not_found) co_return std::optional<json::object>();
  co_return problem{said(got.error())};
}

awaitable<std::optional<k8s::fault>> cluster_objects::impl::create_one(object& o) {
  for (int tries = 1;; ++tries) {
    json::object body = o.body;
    auto made = co_await api.create(o.resource, o.ns, std::move(body));
    if (made) {
      o.name = metadata_text(*made, "name");
      co_return std::nullopt;
    }
    if (!try_again(made.error(), tries)) co_return made.error();
    co_await loop.sleep_for(loop.random().jitter(conflict_pause, 0.1));
  }
}

awaitable<k8s::result<cluster_objects::impl::removal>> cluster_objects::impl::remove_one(
    const object& o, std::string propagation,
    const std::optional<release_name>& only_of) {  // borrowed
  // Without a name the request would be for the whole collection.
  if (o.name.empty()) co_return nameless();
  for (int tries = 1;; ++tries) {
    k8s::delete_options how;
    how.propagation = propagation;
    if (only_of) {
      auto live = co_await get(o);
      if (!live) co_return live.error();
      if (!belongs_to(*live, *only_of)) co_return removal::left;
      // This one, as it was looked at: a conflict is looked at again.
      how.uid = metadata_text(*live, "uid");
      how.resource_version = metadata_text(*live, "resourceVersion");
    }
    auto gone = co_await api.remove(o.resource, o.key(), std::move(how));
    if (gone) co_return removal::done;
    if (!try_again(gone.error(), tries)) co_return gone.error();
    co_await loop.sleep_for(loop.random().jitter(conflict_pause, 0.1));
  }
}

awaitable<std::vector<k8s::fault>> cluster_objects::impl::create_all(object_list& list) {
  std::vector<std::optional<k8s::fault>> faults(list.size());
  for (std::size_t from = 0; from < list.size();) {
    const std::size_t end = end_of_run(list, from);
    act_on create = [this, &list, &faults, from](std::size_t i) -> awaitable<void> {
      faults[from + i] = co_await create_one(list[from + i]);
    };
    co_await reactor::side_by_side(end - from, std::move(create));
    from = end;
  }
  std::vector<k8s::fault> out;
  for (auto& f : faults) {
    if (f) out.push_back(std::move(*f));
  }
  co_return out;
}

awaitable<outcome<done>> cluster_objects::create(object_list list, object_list* made) {
  const std::vector<k8s::fault> faults = co_await impl_->create_all(list);
  if (brings_kinds(list)) impl_->kinds.forget();
  if (made) *made = std::move(list);
  if (faults.empty()) co_return done{};
  std::vector<std::string> errors;
  for (const k8s::fault& f : faults) errors.push_back(said(f));
  co_return problem{errors_occurred(errors)};
}

awaitable<remove_result> cluster_objects::remove(object_list list, std::string propagation,
                                                 std::optional<release_name> only_of) {
  std::vector<k8s::result<impl::removal>> ends(list.size(), impl::removal::done);
  for (std::size_t from = 0; from < list.size();) {
    const std::size_t end = end_of_run(list, from);
    act_on take = [this, &list, &ends, &propagation, &only_of,
                   from](std::size_t i) -> awaitable<void> {
      const object& o = list[from + i];
      impl_->say("Starting delete for " + quote(o.name) + " " + o.kind);
      ends[from + i] = co_await impl_->remove_one(list[from + i], propagation, only_of);
    };
    co_await reactor::side_by_side(end - from, std::move(take));
    from = end;
  }
  if (brings_kinds(list)) impl_->kinds.forget();
  remove_result out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!ends[i] && ends[i].error().code != k8s::errc::not_found)
      out.errors.push_back(said(ends[i].error()));
    else if (ends[i] && *ends[i] == impl::removal::left)
      out.left.push_back(std::move(list[i]));
    else
      out.removed.push_back(std::move(list[i]));
  }
  co_return out;
}

awaitable<std::optional<std::string>> cluster_objects::impl::replace(const object& target,
                                                                     const json::object& live) {
  json::object body = target.body;
  json::value& metadata = body["metadata"];
  if (!metadata.is_object()) metadata.emplace_object();
  metadata.get_object()["resourceVersion"] = metadata_text(live, "resourceVersion");
  auto replaced = co_await api.replace(target.resource, target.key(), std::move(body));
  if (replaced) co_return std::nullopt;
  co_return "failed to replace object: " + said(replaced.error());
}

awaitable<std::optional<std::string>> cluster_objects::impl::apply(const object& target,
                                                                   const update_options& how) {
  json::object body = target.body;
  auto applied =
      co_await api.apply(target.resource, target.key(), std::move(body),
                         k8s::request_options()
                             .by(apply_manager)
                             .on_conflict(how.force_conflicts ? k8s::apply_conflicts::force
                                                              : k8s::apply_conflicts::fail));
  if (applied) co_return std::nullopt;
  co_return said(applied.error());
}

awaitable<std::optional<std::string>> cluster_objects::impl::change(const object& target,
                                                                    const object& current,
                                                                    const json::object& live,
                                                                    const update_options& how) {
  if (how.force) {
    auto why = co_await replace(target, live);
    if (!why)
      say("Replaced " + quote(target.name) + " with kind " + target.kind + " for kind " +
          target.kind);
    co_return why;
  }
  const std::string cannot =
      "cannot patch " + quote(target.name) + " with kind " + target.kind + ": ";
  if (how.server_side) {
    auto why = co_await apply(target, how);
    if (why) co_return cannot + *why;
    co_return std::nullopt;
  }
  const three_states states{current.body, target.body, live};
  const k8s::merge_type* typed = k8s::merge_type_of(target.resource.api_version(), target.kind);
  json::object patch;
  if (typed) {
    auto made = strategic_three_way_patch(states, *typed);
    if (!made) co_return "failed to create patch: " + made.error().text;
    patch = std::move(*made);
  } else {
    patch = how.three_way_for_unstructured ? json_three_way_patch(states)
                                           : merge_patch(current.body, target.body);
  }
  if (patch.empty()) {
    say("Looks like there are no changes for " + target.kind + " " + quote(target.name));
    co_return std::nullopt;
  }
  say("Patch " + target.kind + " " + quote(target.name) + " in namespace " + target.ns);
  auto patched = co_await api.patch(target.resource, target.key(),
                                    typed ? k8s::patch_kind::strategic : k8s::patch_kind::merge,
                                    std::move(patch));
  if (patched) co_return std::nullopt;
  co_return cannot + said(patched.error());
}

/// Deletes what the chart no longer has; failures are no failures of the update.
awaitable<void> cluster_objects::impl::remove_dropped(const object& o,
                                                      const std::optional<release_name>& only_of,
                                                      update_result& did) {  // borrowed
  if (o.name.empty()) co_return;
  say("Deleting " + o.kind + " " + quote(o.name) + " in namespace " + o.ns + "...");
  auto live = co_await get(o);
  if (!live) {
    say("Unable to get obj " + quote(o.name) + ", err: " + said(live.error()));
    co_return;
  }
  if (kept_by_policy(*live)) {
    say("Skipping delete of " + quote(o.name) +
        " due to annotation [helm.sh/resource-policy=keep]");
    co_return;
  }
  auto end = co_await remove_one(o, "Background", only_of);
  if (!end)
    say("Failed to delete " + quote(o.name) + ", err: " + said(end.error()));
  else
    (*end == removal::done ? did.deleted : did.left).push_back(o);
}

awaitable<outcome<done>> cluster_objects::update(object_list current, object_list target,
                                                 update_options options, update_result* out) {
  // From now on: what is read while they change is soon old.
  const bool kinds_change = brings_kinds(current) || brings_kinds(target);
  if (kinds_change) impl_->kinds.forget();
  impl_->say("checking " + std::to_string(target.size()) + " resources for changes");
  update_result unseen;
  update_result& did = out ? *out : unseen;
  std::vector<std::string> errors;
  const object_index before_it(current);
  for (std::size_t i = 0; i < target.size(); ++i) {
    object& o = target[i];
    if (o.name.empty())
      co_return problem{std::string("could not get information about the resource: ") + no_name};
    auto live = co_await impl_->get(o);
    if (!live && live.error().code != k8s::errc::not_found) {
      co_return problem{"could not get information about the resource: " + said(live.error())};
    }
    if (!live) {
      did.created.push_back(o);
      std::optional<std::string> why;
      if (options.server_side) {
        why = co_await impl_->apply(o, options);
      } else {
        auto failed = co_await impl_->create_one(o);
        if (failed) why = said(*failed);
      }
      if (why) co_return problem{"failed to create resource: " + *why};
      impl_->say("Created a new " + o.kind + " called " + quote(o.name) + " in " + o.ns + "\n");
      continue;
    }
    if (options.only_of && !belongs_to(*live, *options.only_of))
      co_return problem{describe(o) + " is not of this release: it lacks its annotations"};
    const object* before = before_it.find(o);
    if (!before) co_return problem{"no " + o.kind + " with the name " + quote(o.name) + " found"};
    auto why = co_await impl_->change(o, *before, *live, options);
    if (why) {
      impl_->say("error updating the resource " + quote(o.name) + ":\n\t " + *why);
      errors.push_back(std::move(*why));
    }
    did.updated.push_back(o);
  }
  if (!errors.empty()) {
    std::string all;
    for (const std::string& e : errors) all += (all.empty() ? "" : " && ") + e;
    co_return problem{all};
  }
  const object_list dropped = difference(current, target);
  for (std::size_t i = 0; i < dropped.size(); ++i)
    co_await impl_->remove_dropped(dropped[i], options.only_of, did);
  if (kinds_change) impl_->kinds.forget();
  co_return done{};
}

namespace {

outcome<done> without_value(outcome<bool> r) {
  if (!r) return r.error();
  return done{};
}

}  // namespace

awaitable<outcome<done>> cluster_objects::wait_ready(object_list list, bool jobs,
                                                     reactor::steady_time deadline) {
  auto waited = co_await impl_->wait.until_ready(std::move(list), jobs, deadline);
  co_return without_value(std::move(waited));
}

awaitable<outcome<done>> cluster_objects::wait_gone(object_list list,
                                                    reactor::steady_time deadline) {
  auto waited = co_await impl_->wait.until_gone(std::move(list), deadline);
  co_return without_value(std::move(waited));
}

awaitable<outcome<done>> cluster_objects::wait_hook(object_list list,
                                                    reactor::nanoseconds timeout) {
  std::vector<std::string> problems(list.size());
  for (std::size_t from = 0; from < list.size();) {
    const std::size_t end = end_of_run(list, from);
    const reactor::steady_time deadline = impl_->loop.now() + timeout;
    act_on wait = [this, &list, &problems, from, deadline](std::size_t i) -> awaitable<void> {
      object one = list[from + i];
      auto ended = co_await impl_->wait.until_hook_done(std::move(one), deadline);
      if (!ended) problems[from + i] = ended.error().text;
    };
    co_await reactor::side_by_side(end - from, std::move(wait));
    from = end;
  }
  std::erase(problems, std::string());
  if (problems.empty()) co_return done{};
  co_return problem{errors_occurred(problems)};
}

awaitable<outcome<std::string>> cluster_objects::pod_log(std::string ns, std::string pod) {
  k8s::object_key key{std::move(ns), std::move(pod)};
  auto text = co_await impl_->api.pod_log(std::move(key), std::string(), log_bytes_limit);
  if (!text) co_return problem{said(text.error())};
  co_return std::move(*text);
}

awaitable<outcome<done>> cluster_objects::pod_logs(std::string ns, std::string selector,
                                                   std::string field_selector, std::string* into) {
  k8s::list_options wanted;
  wanted.ns = ns;
  wanted.label_selector = std::move(selector);
  wanted.field_selector = std::move(field_selector);
  wanted.limit = 500;
  auto page = co_await impl_->api.list(k8s::resources::pods(), std::move(wanted));
  if (!page) co_return problem{said(page.error())};
  const json::value* items = page->if_contains("items");
  if (!items || !items->is_array()) co_return done{};
  for (const json::value& item : items->get_array()) {
    const json::object* pod = item.if_object();
    const json::value* metadata = pod ? pod->if_contains("metadata") : nullptr;
    const json::value* spec = pod ? pod->if_contains("spec") : nullptr;
    if (!metadata || !metadata->is_object() || !spec || !spec->is_object()) continue;
    const std::string name(text_member(metadata->get_object(), "name"));
    const json::value* containers = spec->get_object().if_contains("containers");
    if (!containers || !containers->is_array()) continue;
    for (const json::value& one : containers->get_array()) {
      if (!one.is_object()) continue;
      const std::string container(text_member(one.get_object(), "name"));
      k8s::object_key key{ns, name};
      auto text = co_await impl_->api.pod_log(std::move(key), container, log_bytes_limit);
      if (!text)
        co_return problem{"Failed to stream pod logs for pod: " + name +
                          ", container: " + container};
      *into += *text;
      if (into->size() > log_bytes_limit) {  // a Job may have hundreds of pods
        *into += "\n(the rest is left out)\n";
        co_return done{};
      }
    }
  }
  co_return done{};
}

/// A server says that a kind is established some moments before its discovery lists it. One that is
/// missing at the end is for the caller that needs it to tell.
awaitable<void> cluster_objects::impl::discover(object_list definitions,
                                                reactor::steady_time deadline) {
  kinds.forget();
  reactor::backoff pace(discovery_looks);
  for (const object& definition : definitions) {
    const std::vector<k8s::resource> wanted = defined_by(definition.body);
    for (const k8s::resource& one : wanted) {
      for (;;) {
        auto found = co_await kinds.find(one.api_version(), one.kind);
        if (found && *found) break;
        if (loop.now() >= deadline) co_return;
        co_await loop.sleep_until(std::min(deadline, loop.now() + pace.next(loop.random())));
      }
    }
  }
  kinds.forget();
}

awaitable<outcome<done>> cluster_objects::install_crds(
    std::vector<std::pair<std::string, std::string>> files, reactor::steady_time deadline) {
  object_list made;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string failed = "failed to install CRD " + files[i].first + ": ";
    auto built = co_await build(files[i].second, std::string());
    if (!built) co_return problem{failed + built.error().text};
    if (built->empty()) co_return problem{failed + "no objects visited"};
    const std::vector<k8s::fault> faults = co_await impl_->create_all(*built);
    if (faults.empty()) {
      for (object& o : *built) made.push_back(std::move(o));
      continue;
    }
    if (faults[0].code == k8s::errc::exists) {
      impl_->say("CRD " + built->front().name + " is already present. Skipping.");
      continue;
    }
    std::vector<std::string> errors;
    for (const k8s::fault& f : faults) errors.push_back(said(f));
    co_return problem{failed + errors_occurred(errors)};
  }
  if (made.empty()) co_return done{};
  const reactor::steady_time limit = std::min(deadline, impl_->loop.now() + definition_wait);
  auto waited = co_await impl_->wait.until_ready(made, false, limit);
  if (!waited) {
    impl_->kinds.forget();
    co_return waited.error();
  }
  co_await impl_->discover(std::move(made), std::min(limit, impl_->loop.now() + discovery_wait));
  co_return done{};
}

}  // namespace helm::objects
