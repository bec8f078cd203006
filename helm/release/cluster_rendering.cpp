#include "helm/release/cluster_rendering.hpp"

#include "helm/release/lookups.hpp"
#include "helm/release/release_jobs.hpp"
#include "k8s/client/client.hpp"
#include "reactor/deadline.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/entropy.hpp"

namespace helm::release {
namespace {

// Each answer means one more render; a chart that asks more often is not serious.
constexpr int lookups_limit = 500;
/// What is looked up may take this part of what a chart may.
constexpr std::uint64_t budget_share = 8;

/// Tells the worker that no caller waits for its render any more.
struct render_owner {
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
  render_owner() = default;
  render_owner(const render_owner&) = delete;
  render_owner& operator=(const render_owner&) = delete;
  ~render_owner() { cancelled->store(true); }
};

/// A request whose values no other object shares: it goes to another thread.
render_request detached(const render_request& r) {
  render_request out = r;
  out.values = detached_copy(r.values);
  if (r.chart_values) out.chart_values = detached_copy(*r.chart_values);
  return out;
}

}  // namespace

awaitable<reactor::result<rendered>> cluster_rendering::on_worker(render_request r) {
  rendered out = co_await render_apart(bench_.loop, std::move(r), bench_.on.share());
  co_return reactor::result<rendered>(std::move(out));
}

awaitable<outcome<rendered>> cluster_rendering::render(render_request r) {
  render_owner owner;
  r.cancelled = owner.cancelled;
  r.now = bench_.loop.wall();
  r.random = bench_.loop.entropy_for_worker();
  r.limits = bench_.settings.charts;
  r.time = bench_.settings.renders_in;
  lookup_answers answers;
  using secrets = action_settings::secrets;
  const bool narrow = bench_.settings.looked_up != secrets::of_every_namespace;
  cluster_lookups lookups(
      bench_.api, bench_.on.discovery(), narrow ? bench_.settings.ns : std::string(),
      std::min<std::uint64_t>(lookup_bytes_of_a_person,
                              bench_.settings.charts.memory_bytes / budget_share),
      bench_.settings.looked_up == secrets::none_else);
  r.answers_of = bench_.api.server() + " " + r.release.name_space + "/" + r.release.name;
  const reactor::steady_time until = bench_.loop.now() + r.time;
  for (int asked = 0; asked <= lookups_limit; ++asked) {
    r.answers = std::make_shared<const lookup_answers>(answers);
    r.steady = bench_.loop.clock_for_worker();
    // Whatever the worker does: who asked hears in time that there is nothing.
    auto in_time = on_worker(detached(r));
    auto done = co_await reactor::with_deadline(bench_.loop, std::move(in_time), until, "render");
    if (!done)
      co_return problem{"the chart was not rendered within " + reactor::format_duration(r.time)};
    rendered out = std::move(*done);
    if (!out.missing) {
      for (const auto& line : out.lines) bench_.warn(line);
      if (out.failure) co_return *out.failure;
      co_return out;
    }
    // What is there may be large, and goes to the child and back with each further render.
    const auto no_room =
        co_await apart::room_for(bench_.on.share(), apart::memory_share::unlimited);
    if (no_room) co_return *no_room;
    const lookup_key key = *out.missing;
    bench_.say("looking up " + key[0] + " " + key[1] + " " + key[2] + "/" + key[3]);
    lookup_key wanted = key;
    auto answer = co_await lookups.find(std::move(wanted));
    answers.emplace(key, std::move(answer));
  }
  co_return problem{"the chart looks up more than " + std::to_string(lookups_limit) + " objects"};
}

}  // namespace helm::release
