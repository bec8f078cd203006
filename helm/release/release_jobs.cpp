#include "helm/release/release_jobs.hpp"

#include "formats/digest.hpp"
#include "formats/gzip.hpp"
#include "helm/apart/kept_renders.hpp"
#include "helm/charts/bounded.hpp"
#include "helm/go.hpp"
#include "reactor/loop.hpp"

#include <boost/pfr/tuple_size.hpp>

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

/// All but the chart, which crosses as a brief_chart.
template <class To, class From>
To with_texts_of(From& from) {
  To to;
  to.missing = std::move(from.missing);
  to.failure = std::move(from.failure);
  to.hooks = std::move(from.hooks);
  to.manifest = std::move(from.manifest);
  to.notes = std::move(from.notes);
  to.lines = std::move(from.lines);
  to.impure = from.impure;
  return to;
}

render_job::answer answer_of(rendered made) {
  auto out = with_texts_of<render_job::answer>(made);
  if (out.lines.size() > lines_limit) out.lines.resize(lines_limit);
  if (!made.processed) return out;
  auto brief = brief_of(*made.processed);
  if (brief)
    out.processed = std::move(*brief);
  else
    out.failure = brief.error();
  return out;
}

rendered rendered_of(render_job::answer said) {
  auto out = with_texts_of<rendered>(said);
  if (said.processed) out.processed = chart_of(std::move(*said.processed));
  if (!out.missing && !out.failure && !out.processed)
    out.failure = problem{"rendering failed: there is neither a chart nor a reason"};
  return out;
}

// A new field belongs into render_input, and so into the key, unless the templates cannot see it.
static_assert(boost::pfr::tuple_size_v<render_request> == 18);
static_assert(boost::pfr::tuple_size_v<render_job> == 4, "input, now, time, answers");

render_input input_of(render_request r) {
  return {std::move(r.values),
          std::move(r.chart_values),
          std::move(r.release),
          std::move(r.caps),
          r.skip_schema,
          r.sub_notes,
          r.hide_secrets,
          r.look_up,
          r.limits};
}

struct keyed_request {
  render_request request;
  std::string key;
};

/// What is kept of a render beside the render itself; a mark where it is too large.
struct packed_render {
  rendered made;
  apart::kept_renders::entry kept;
};
packed_render packed(rendered& made) {
  constexpr std::size_t most = apart::kept_renders::most_unpacked_bytes;
  packed_render out{std::move(made), {}};
  const bool is_recorded = out.made.processed && out.made.processed->recorded;
  const std::size_t chart_bytes = is_recorded ? out.made.processed->recorded->size() : 0;
  if (out.made.manifest.size() + chart_bytes > most) return out;
  auto bytes = to_bytes(answer_of(out.made));
  if (!bytes || bytes->size() > most) return out;
  out.kept.packed = std::make_shared<const std::string>(formats::gzip(*bytes));
  out.kept.unpacked_bytes = bytes->size();
  return out;
}
rendered unpacked(const apart::kept_renders::entry& kept) {
  const formats::unpacked text = formats::gunzip(*kept.packed, kept.unpacked_bytes);
  auto said = from_bytes<render_job::answer>(text.text, apart::answer_memory_bytes);
  if (said) return rendered_of(std::move(*said));
  rendered out;
  out.failure = said.error();
  return out;
}

reactor::awaitable<rendered> render_alone(reactor::loop& l, render_request r,
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
  job.now = r.now;
  job.time = r.time;
  if (r.answers)
    for (const auto& [key, said] : *r.answers)
      job.answers.emplace_back(key, std::pair(said.json, said.error));
  // What was looked up was written by users of the release's namespace.
  std::string owner = job.answers.empty() ? std::string() : std::move(r.answers_of);
  std::shared_ptr<prepared_chart> chart = r.chart;
  job.input = input_of(std::move(r));  // the only owner of its values: they go to another thread
  auto said =
      co_await apart::ask(l, *children, std::move(job), std::move(chart), std::move(owner), within);
  if (said) co_return rendered_of(std::move(*said));
  out.failure = problem{"rendering failed: " + said.error().text};
  co_return out;
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
  r.values = input.values;
  r.chart_values = input.chart_values;
  r.release = input.release;
  r.caps = input.caps;
  r.now = now;
  r.skip_schema = input.skip_schema;
  r.sub_notes = input.sub_notes;
  r.hide_secrets = input.hide_secrets;
  r.look_up = input.look_up;
  r.limits = input.limits;
  r.time = time;
  auto known = std::make_shared<lookup_answers>();
  for (const auto& [key, said] : answers) (*known)[key] = {said.first, said.second};
  r.answers = std::move(known);
  return answer_of(render_release(r));
}

std::string render_key(const render_request& r) {
  const bool has_answers = r.answers && !r.answers->empty();
  if (r.chart->digest().empty() || r.after || has_answers) return {};
  auto bytes = to_bytes(input_of(r));
  return bytes ? sha256_hex(r.chart->digest() + "\n" + *bytes) : std::string();
}

reactor::awaitable<rendered> render_apart(reactor::loop& l, render_request r,
                                          apart::memory_share* within) {
  const auto with_key = [](render_request& of) {
    std::string key = render_key(of);
    return keyed_request{std::move(of), std::move(key)};
  };
  keyed_request asked = co_await l.offload(with_key, std::move(r));
  auto& kept = apart::kept_renders::of(l);
  std::unique_ptr<apart::kept_renders::lead> lead;
  while (!asked.key.empty() && !lead) {
    if (const auto* known = kept.find(asked.key)) {
      if (!known->packed) break;
      apart::kept_renders::entry found = *known;
      const auto no_room = co_await apart::room_for(within, found.unpacked_bytes);
      rendered out;
      if (no_room) {
        out.failure = problem{"rendering failed: " + no_room->text};
        co_return out;
      }
      out = co_await l.offload(&unpacked, std::move(found));
      kept.count_saved();
      co_return out;
    }
    lead = kept.take_lead(asked.key);
    if (lead) continue;
    if (within && within->is_large()) break;
    co_await kept.wait_for(asked.key);
  }
  kept.count_made();
  rendered made = co_await render_alone(l, std::move(asked.request), within);
  if (!lead) co_return made;
  if (made.impure || made.missing) {
    kept.keep(std::move(asked.key), {});
  } else if (!made.failure) {
    packed_render done = co_await l.offload(&packed, std::move(made));
    made = std::move(done.made);
    kept.keep(std::move(asked.key), std::move(done.kept));
  }
  co_return made;
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
