#include "helm/release/release_jobs.hpp"

#include "helm/charts/bounded.hpp"
#include "helm/go.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

namespace helm::release {
namespace {

/// Warnings that a chart may make.
constexpr std::size_t lines_limit = 1'000;

using files = std::vector<std::pair<std::string, std::string>>;

/// For reading what a stranger stored.
constexpr chart_limits record_limits{.memory_bytes = 64u << 20};

record_job::answer of_record(const record& r, std::uint64_t bytes) {
  record_job::answer a;
  a.bytes = bytes;
  a.name = r.name;
  a.ns = r.ns;
  a.revision = r.revision;
  a.state = r.state;
  a.first_deployed = r.first_deployed;
  a.last_deployed = r.last_deployed;
  a.deleted = r.deleted;
  a.description = r.description;
  a.notes = r.notes;
  a.config = r.config;
  a.manifest = r.manifest;
  a.apply_method = r.apply_method;
  for (const recorded_hook& h : r.hooks)
    a.hooks.emplace_back(
        h.what, std::pair(std::pair(h.last_run.started, h.last_run.completed), h.last_run.phase));
  if (!r.origin) return a;
  if (r.state == status::superseded) {
    const metadata& m = r.origin->meta;
    a.origin = brief_chart{m.name, m.version, m.app_version, m.kube_version, {}};
    return a;
  }
  auto brief = brief_of(*r.origin);
  if (brief)
    a.origin = std::move(*brief);
  else
    a.failure = brief.error();
  return a;
}

record to_record(record_job::answer a) {
  record r;
  r.name = std::move(a.name);
  r.ns = std::move(a.ns);
  r.revision = a.revision;
  r.state = a.state;
  r.first_deployed = a.first_deployed;
  r.last_deployed = a.last_deployed;
  r.deleted = a.deleted;
  r.description = std::move(a.description);
  r.notes = std::move(a.notes);
  r.config = std::move(a.config);
  r.manifest = std::move(a.manifest);
  r.apply_method = std::move(a.apply_method);
  for (auto& [what, run] : a.hooks)
    r.hooks.push_back(
        {std::move(what), {run.first.first, run.first.second, std::move(run.second)}});
  if (a.origin) r.origin = chart_of(std::move(*a.origin));
  return r;
}

}  // namespace

std::shared_ptr<const chart> chart_of(brief_chart b) {
  auto c = std::make_shared<chart>();
  c->meta.name = std::move(b.name);
  c->meta.version = std::move(b.version);
  c->meta.app_version = std::move(b.app_version);
  c->meta.kube_version = std::move(b.kube_version);
  c->recorded = std::make_shared<const std::string>(std::move(b.recorded));
  return c;
}

outcome<brief_chart> brief_of(const chart& c) {
  auto text = write_chart(c);
  if (!text) return text.error();
  const metadata& m = c.meta;
  return brief_chart{m.name, m.version, m.app_version, m.kube_version, std::move(*text)};
}

render_job::answer render_job::run(loaded& about) const {
  answer out;
  if (!about) {
    out.failure = about.error();
    return out;
  }
  if (!*about) {
    out.failure = problem{"there is no chart to render"};
    return out;
  }
  render_request r;
  r.chart = *about;
  r.values = values;
  r.chart_values = chart_values;
  r.release = release;
  r.caps = caps;
  r.now = now;
  r.skip_schema = skip_schema;
  r.sub_notes = sub_notes;
  r.hide_secrets = hide_secrets;
  r.look_up = look_up;
  r.limits = limits;
  r.time = time;
  auto known = std::make_shared<lookup_answers>();
  for (const auto& [key, said] : answers) (*known)[key] = {said.first, said.second};
  r.answers = std::move(known);
  rendered made = render_release(r);
  out.missing = std::move(made.missing);
  out.failure = std::move(made.failure);
  out.hooks = std::move(made.hooks);
  out.manifest = std::move(made.manifest);
  out.notes = std::move(made.notes);
  out.lines = std::move(made.lines);
  if (out.lines.size() > lines_limit) out.lines.resize(lines_limit);
  if (!made.processed) return out;
  auto brief = brief_of(*made.processed);
  if (brief)
    out.processed = std::move(*brief);
  else
    out.failure = brief.error();
  return out;
}

reactor::awaitable<rendered> render_apart(reactor::loop& l, render_request r,
                                          apart::memory_share* within) {
  reactor::foreign_workers* const children = reactor::foreign_workers_of(l);
  if (!r.chart->archived() || !children) {
    rendered here = co_await l.offload_foreign(&render_release, std::move(r));
    co_return here;
  }
  rendered out;
  if (r.after) {
    out.failure = problem{"a chart that is rendered in another process has no step after it"};
    co_return out;
  }
  render_job job;
  job.values = std::move(r.values);
  job.chart_values = std::move(r.chart_values);
  job.release = std::move(r.release);
  job.caps = std::move(r.caps);
  job.now = r.now;
  job.skip_schema = r.skip_schema;
  job.sub_notes = r.sub_notes;
  job.hide_secrets = r.hide_secrets;
  job.look_up = r.look_up;
  job.limits = r.limits;
  job.time = r.time;
  if (r.answers)
    for (const auto& [key, said] : *r.answers)
      job.answers.emplace_back(key, std::pair(said.json, said.error));
  // What was looked up was written by users of the release's namespace.
  std::string owner = job.answers.empty() ? std::string() : std::move(r.answers_of);
  auto said = co_await apart::ask(l, *children, std::move(job), std::move(r.chart),
                                  std::move(owner), within);
  if (!said) {
    out.failure = problem{"rendering failed: " + said.error().text};
    co_return out;
  }
  out.missing = std::move(said->missing);
  out.failure = std::move(said->failure);
  if (said->processed) out.processed = chart_of(std::move(*said->processed));
  if (!out.missing && !out.failure && !out.processed)
    out.failure = problem{"rendering failed: there is neither a chart nor a reason"};
  out.hooks = std::move(said->hooks);
  out.manifest = std::move(said->manifest);
  out.notes = std::move(said->notes);
  out.lines = std::move(said->lines);
  co_return out;
}

crds_job::answer crds_job::run(loaded& about) const {
  answer out;
  if (!about || !*about) {
    out.failure = about ? problem{"there is no chart"} : about.error();
    return out;
  }
  auto all = crds_of(**about, values, limits);
  if (all)
    out.files = std::move(*all);
  else
    out.failure = all.error();
  return out;
}

reactor::awaitable<outcome<files>> crds_apart(reactor::loop& l,
                                              std::shared_ptr<prepared_chart> chart, value values,
                                              chart_limits limits, apart::memory_share* within) {
  reactor::foreign_workers* const children = reactor::foreign_workers_of(l);
  if (!chart->archived() || !children) {
    const auto work = [](const std::shared_ptr<prepared_chart>& of, const value& given,
                         const chart_limits& within) { return crds_of(*of, given, within); };
    co_return co_await l.offload_foreign(work, chart, std::move(values), limits);
  }
  crds_job job;
  job.values = std::move(values);
  job.limits = limits;
  auto said = co_await apart::ask(l, *children, std::move(job), std::move(chart), {}, within);
  if (!said) co_return problem{"the chart's definitions cannot be read: " + said.error().text};
  if (said->failure) co_return *said->failure;
  co_return std::move(said->files);
}

record_job::answer record_job::run(loaded&) const {
  answer failed;
  auto r = bounded("the record cannot be read", record_limits,
                   [&] { return decode_record_within(stored, limit_bytes); });
  if (r) return of_record(r->what, r->bytes);
  failed.failure = r.error();
  return failed;
}

reactor::awaitable<outcome<sized_record>> read_record_apart(reactor::loop& l, std::string stored,
                                                            std::uint64_t limit_bytes,
                                                            std::string owner,
                                                            apart::memory_share* within) {
  reactor::foreign_workers* const children = reactor::foreign_workers_of(l);
  if (!children) {
    auto here = decode_record_within(stored, limit_bytes);
    co_await l.yield();  // unpacking one is all that may be done in a turn
    co_return here;
  }
  record_job job;
  job.stored = std::move(stored);
  job.limit_bytes = limit_bytes;
  auto said = co_await apart::ask(l, *children, std::move(job), nullptr, std::move(owner), within);
  if (!said) co_return said.error();
  if (said->failure) co_return *said->failure;
  const std::uint64_t bytes = said->bytes;
  co_return sized_record{to_record(std::move(*said)), bytes};
}

split_job::answer split_job::work() const {
  answer out;
  auto split = split_for_uninstall(text);
  if (!split) {
    out.failure = split.error();
    return out;
  }
  out.kept = std::move(split->kept);
  out.doomed = std::move(split->doomed);
  return out;
}

split_job::answer split_job::run(loaded&) const {
  answer failed;
  auto done =
      bounded("the manifest cannot be read", limits, [&] { return outcome<answer>(work()); });
  if (done) return std::move(*done);
  failed.failure = done.error();
  return failed;
}

reactor::awaitable<outcome<uninstall_split>> split_apart(reactor::loop& l, std::string manifest,
                                                         chart_limits limits,
                                                         apart::memory_share* within) {
  split_job job;
  job.text = std::move(manifest);
  job.limits = limits;
  auto said = co_await apart::ask_about_text(l, std::move(job), within);
  if (!said) co_return said.error();
  if (said->failure) co_return *said->failure;
  co_return uninstall_split{std::move(said->kept), std::move(said->doomed)};
}

}  // namespace helm::release
