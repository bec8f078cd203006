#include "helm/release/install.hpp"

#include "helm/go.hpp"
#include "helm/release/release_jobs.hpp"
#include "helm/render/installation.hpp"
#include "k8s/client/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/reason.hpp"

#include <boost/json.hpp>

namespace helm::release {
namespace {

constexpr reactor::nanoseconds crd_timeout = std::chrono::seconds(60);

/// Whether the name is free, or may be used again.
std::optional<problem> name_in_use(const history& h, bool replace) {
  if (h.empty()) return std::nullopt;
  const auto last = h.back().state;
  if (replace && (last == status::uninstalled || last == status::failed)) return std::nullopt;
  return problem{"cannot re-use a name that is still in use"};
}

}  // namespace

awaitable<outcome<done>> install_action::install_crds(std::shared_ptr<prepared_chart> chart,
                                                      value values) {
  auto files = co_await crds_apart(bench_.loop, chart, detached_copy(values),
                                   bench_.settings.charts, bench_.on.share());
  if (!files) co_return files.error();
  if (files->empty()) co_return done{};
  std::vector<std::pair<std::string, std::string>> all = std::move(*files);
  co_return co_await bench_.on.install_crds(std::move(all), bench_.loop.now() + crd_timeout);
}

awaitable<outcome<done>> install_action::create_namespace() {
  boost::json::object body{
      {"apiVersion", "v1"},
      {"kind", "Namespace"},
      {"metadata", {{"name", bench_.settings.ns}, {"labels", {{"name", bench_.settings.ns}}}}}};
  auto made =
      co_await bench_.api.create(k8s::resources::namespaces(), std::string(), std::move(body));
  if (made || made.error().code == k8s::errc::exists) co_return done{};
  co_return problem{reactor::reason_of(made.error())};
}

awaitable<outcome<record>> install_action::run(install_request r) {
  const bool dry = r.dry != dry_run::none;
  r.work.wait = r.work.wait || r.atomic;
  if (!r.values.is_map()) r.values = value(value::map_type{});
  auto reached = co_await bench_.reach();
  if (!reached) co_return reached.error();
  if (!dry && r.hide_secrets)
    co_return problem{"Hiding Kubernetes secrets requires a dry-run mode"};
  if (auto bad = release_name_problem(r.name))
    co_return problem{r.name.empty() ? "release name \"\": " + *bad : *bad};
  history past;
  if (!dry) {
    auto known = co_await keep_.recovered(r.name);
    if (!known && bench_.settings.notes && known.error().code != problem_code::not_found)
      co_return known.error();
    if (known) past = std::move(*known);
    if (auto taken = name_in_use(past, r.replace)) co_return *taken;
    if (!r.skip_crds) {
      auto crds = co_await install_crds(r.chart, r.values);
      if (!crds) co_return crds.error();
    }
  }
  auto caps = co_await bench_.on.capabilities();
  if (!caps) co_return caps.error();
  if (auto reserved = label_problem(r.labels)) co_return problem{*reserved};

  render_request job;
  job.chart = r.chart;
  job.values = r.values;
  job.release = {r.name, bench_.settings.ns, 1, true, false};
  job.caps = std::move(*caps);
  job.skip_schema = r.skip_schema;
  job.sub_notes = r.sub_notes;
  job.hide_secrets = r.hide_secrets;
  job.after = r.after;
  job.look_up = r.dry != dry_run::client;
  auto made = co_await rendering_.render(std::move(job));
  if (!made) co_return made.error();

  record rel;
  rel.name = r.name;
  rel.ns = bench_.settings.ns;
  rel.revision = 1;
  rel.first_deployed = rel.last_deployed = bench_.now();
  rel.state = status::pending_install;
  rel.description = "Initial install underway";
  rel.origin = made->processed;
  rel.config = r.values;
  rel.manifest = std::move(made->manifest);
  rel.notes = std::move(made->notes);
  rel.labels = r.labels;
  if (r.work.server_side) rel.apply_method = "ssa";
  for (auto& h : made->hooks) rel.hooks.push_back({std::move(h), {}});

  auto built = co_await bench_.build(rel.manifest,
                                     "unable to build kubernetes objects from release manifest");
  if (!built) co_return built.error();
  objects::object_list target = stamped(std::move(*built), rel);
  objects::object_list adopted;
  if (!target.empty()) {
    auto found = co_await bench_.find_existing(target, r.take_ownership, rel.name);
    if (!found) co_return problem{"Unable to continue with install: " + found.error().text};
    adopted = std::move(*found);
  }
  if (dry) {
    rel.description = "Dry run complete";
    co_return rel;
  }
  if (r.create_namespace) {
    auto ns = co_await create_namespace();
    if (!ns) co_return ns.error();
  }
  if (r.replace && !past.empty()) {
    record last = past.back();
    rel.revision = last.revision + 1;
    if (last.state != status::failed) {
      last.state = status::superseded;
      last.description = "superseded by new release";
      auto written = co_await keep_.store_or_fail(std::move(last), r.work.timeout);
      if (!written) co_return written.error();
    }
  }
  under_way_ = interrupted<install_request>{rel, r};
  auto stored = co_await keep_.store_new(rel, r.work.timeout);
  if (!stored) {
    under_way_.reset();
    co_return stored.error();
  }
  under_way_->is_stored = true;
  auto ended =
      co_await perform(std::move(rel), std::move(r), std::move(adopted), std::move(target));
  under_way_.reset();
  co_return ended;
}

awaitable<outcome<record>> install_action::perform(record r, install_request request,
                                                   objects::object_list adopted,
                                                   objects::object_list target) {
  const work_options work = request.work;
  std::optional<problem> failure;
  if (hooks_.waits_for(r, "pre-install", work)) co_await bench_.rest(r);
  if (!work.no_hooks) {
    failure = co_await hooks_.run(r, "pre-install", work.timeout);
    if (failure) failure->text = "failed pre-install: " + failure->text;
    under_way_->r = r;
  }
  if (!failure && !target.empty()) {
    bench_.say("creating " + std::to_string(target.size()) + " resource(s)");
    outcome<done> changed = done{};
    objects::object_list wanted = target;
    if (adopted.empty() && !work.server_side) {
      changed = co_await bench_.on.create(std::move(wanted));
    } else {
      objects::update_options how;
      how.force = work.force;
      how.server_side = work.server_side;
      how.three_way_for_unstructured = request.take_ownership;
      changed = co_await bench_.on.update(std::move(adopted), std::move(wanted), how, nullptr);
    }
    if (!changed) failure = changed.error();
  }
  co_await bench_.rest(r);
  if (!failure && work.wait) {
    auto ready = co_await bench_.wait_ready(std::move(target), work);
    if (!ready) failure = ready.error();
  }
  if (!failure && !work.no_hooks) {
    failure = co_await hooks_.run(r, "post-install", work.timeout);
    if (failure) failure->text = "failed post-install: " + failure->text;
  }
  if (failure) {
    problem why = *failure;
    problem shown = co_await fail(std::move(r), std::move(request), std::move(why));
    co_return shown;
  }
  r.state = status::deployed;
  r.description = request.description.empty() ? "Install complete" : request.description;
  auto written = co_await keep_.store_end(r, work);
  if (!written) co_return problem{"it is installed and not on record: " + written.error().text};
  co_return r;
}

awaitable<problem> install_action::fail(record r, install_request request, problem why) {
  r.state = status::failed;
  r.description = "Release " + quote(r.name) + " failed: " + why.text;
  if (!request.atomic) {
    const reactor::nanoseconds timeout = request.work.timeout;
    co_await keep_.store(std::move(r), timeout);
    co_return why;
  }
  bench_.say("Install failed and atomic is set, uninstalling release");
  uninstall_request undo;
  undo.name = r.name;
  undo.work.timeout = request.work.timeout;
  undo.work.no_hooks = request.work.no_hooks;
  const std::string name = r.name;
  auto undone = co_await undoing_.run(std::move(undo));
  if (!undone)
    co_return problem{"an error occurred while uninstalling the release. original install error: " +
                      why.text + ": " + undone.error().text};
  co_return problem{"release " + name +
                    " failed, and has been uninstalled due to atomic being set: " + why.text};
}

awaitable<std::optional<problem>> install_action::settle() {
  auto left = co_await keep_.left_by(under_way_);
  if (!left) co_return std::nullopt;
  problem cancelled{"context canceled"};
  problem shown = co_await fail(std::move(left->r), std::move(left->request), std::move(cancelled));
  co_return shown;
}

}  // namespace helm::release
