#include "simulation/commands/demo/show.hpp"

#include "app/output.hpp"
#include "app/progress.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace cli::demo {

using namespace app;

namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_shown_messages = 20;

struct counts {
  std::size_t settled = 0, updated = 0;
};

counts count(const simulation::world& w) {
  counts n;
  for (std::size_t i = 0; i < w.clusters().size(); ++i) {
    const simulation::world::progress p = w.progress_of(i);
    n.updated += p.updated;
    n.settled += p.settled;
  }
  return n;
}

}  // namespace

std::string seconds_text(reactor::nanoseconds d) {
  const double s = std::chrono::duration<double>(d).count();
  std::string text = std::to_string(static_cast<long>(s * 10 + 0.5));
  if (text.size() < 2) text.insert(0, 1, '0');
  return text.substr(0, text.size() - 1) + "." + text.substr(text.size() - 1) + " s";
}

stage::stage(reactor::loop& l, service& windlass, const show_options& options, reactor::event& stop,
             std::function<view()> shows)
    : loop_(l),
      windlass_(windlass),
      options_(options),
      stop_(stop),
      shows_(std::move(shows)),
      give_up_(l.now() + options.time_limit) {
  windlass_.on_pack_event = [this](const policies::pack_event& e) {
    if (e.what != policies::pack_event::kind::loaded) tell(e.message());
  };
}

stage::~stage() {
  windlass_.on_pack_event = {};
}

void stage::tell(const page& line) {
  if (options_.tell) options_.tell(line);
  messages_.push_back(line);
  if (messages_.size() > most_shown_messages) messages_.erase(messages_.begin());
}

void stage::draw(const page& footer) {
  if (!options_.draw) return;
  view v = shows_();
  v.about = options_.about;
  v.messages = messages_;
  v.footer = footer;
  options_.draw(std::move(v));
}

reactor::awaitable<void> stage::pause(reactor::nanoseconds d) {
  draw(options_.keep
           ? page("Ctrl-C stops it")
           : page("Ctrl-C stops it; --keep leaves the fleet and its folder up at the end"));
  (void)co_await stop_.wait(loop_.now() + d);
}

reactor::awaitable<void> stage::sum_up(show_result& r, const simulation::world& w) {
  r.stopped = is_stopped() && !r.finished;
  r.updated = count(w).updated;
  if (r.stopped) co_return;
  r.last = co_await look_at(windlass_, loop_, {}, loop_.now() + 2s);
  r.updated = count(w).updated;
  r.held = r.last.held;
}

reactor::awaitable<void> stage::stay_up(const show_result& r) {
  if (!options_.keep || is_stopped()) co_return;
  const page done = page(r.finished ? "done after " : "not finished after ") +
                    seconds_text(r.took) + ", " + std::to_string(r.held) +
                    " held; the fleet stays up";
  if (!options_.draw) tell(done + "; stop it with Ctrl-C");
  while (!is_stopped()) {
    draw(done + ", Ctrl-C stops it");
    (void)co_await stop_.wait(options_.draw ? loop_.now() + look_again : reactor::never);
  }
}

reactor::awaitable<show_result> play(reactor::loop& l, simulation::world& w, service& windlass,
                                     show_options options, reactor::event& stop) {
  show_result r;
  auto started = co_await windlass.start();
  if (!started) {
    r.problem = started.error().message();
    co_return r;
  }
  std::optional<reactor::steady_time> rolling_since;  // nothing once it has ended
  const std::size_t goal = w.unit_count() - w.expected_held();
  stage on(l, windlass, options, stop, [&] {
    view v = view_of(w, windlass);
    if (rolling_since)
      v.title += page(" ") + time_text({{}, {}, count(w).updated, goal, l.now() - *rolling_since});
    return v;
  });
  const reactor::steady_time began = l.now();
  // Everything runs what is asked for: Windlass finds the fleet in order first.
  while (count(w).settled < w.clusters().size() && !on.is_over()) co_await on.pause();
  if (!on.is_stopped())
    on.tell("fleet of " + std::to_string(w.clusters().size()) + " clusters is known after " +
            seconds_text(l.now() - began) + "; rolling out " + w.tells().target);
  const reactor::steady_time rollout = l.now();
  rolling_since = rollout;
  if (!on.is_stopped()) options.roll_out ? options.roll_out() : w.roll_out();
  std::size_t last_told = 0;
  reactor::steady_time told_at = l.now();
  while (!on.is_over()) {
    const std::size_t updated = count(w).updated;
    if (!options.draw && updated != last_told && (l.now() - told_at > 2s || updated == goal)) {
      on.tell(std::to_string(updated) + " of " + std::to_string(w.unit_count()) + " " +
              w.tells().says.units + " updated " +
              time_text({{}, {}, updated, goal, l.now() - rollout}));
      last_told = updated;
      told_at = l.now();
    }
    r.finished = updated >= goal;
    if (r.finished) break;
    co_await on.pause();
  }
  rolling_since.reset();
  // The last slots are freed a moment after the last unit is back.
  if (r.finished) co_await on.pause(1s);
  r.took = l.now() - rollout;
  co_await on.sum_up(r, w);
  if (!r.stopped) w.check_at_rest();
  co_await on.stay_up(r);
  if (options.keep) r.updated = count(w).updated;
  r.policy_reloads = windlass.packs().reloads();
  co_return r;
}

namespace {

page rollout_text(const simulation::world& w, const show_result& r) {
  const simulation::story& story = w.tells();
  page text = std::to_string(r.updated) + " of " + std::to_string(w.unit_count()) + " " +
              story.says.units + " " + story.arrived + " after " + seconds_text(r.took) + ", " +
              std::to_string(r.held) + " held, at most " + std::to_string(w.max_disrupted()) + " " +
              story.says.units + " of a cluster disturbed at once";
  for (const auto& [what, n] : w.tallies()) text += ", " + std::to_string(n) + " " + what;
  return text;
}

}  // namespace

boost::json::object result_json(const simulation::world& w, const show_result& r) {
  boost::json::object o;
  o["clusters"] = w.clusters().size();
  o[w.tells().says.units] = w.unit_count();
  o["updated"] = r.updated;
  o["held"] = r.held;
  o["violations"] = w.violation_count();
  o["max_disrupted"] = w.max_disrupted();
  o["policy_reloads"] = r.policy_reloads;
  o["seconds"] = static_cast<double>(r.took / 10ms) / 100;
  o["finished"] = r.finished;
  for (const auto& [what, n] : w.tallies()) o[what] = n;
  o["writes"] = w.writes();
  boost::json::array violations, holds;
  for (const std::string& v : w.violations()) violations.push_back(boost::json::string(v));
  for (const units::hold& h : holds_of(r.last))
    holds.push_back(boost::json::object{{"unit", h.unit},
                                        {"code", h.code},
                                        {"reason", h.sentence},
                                        {"released_by", h.released_by}});
  o["holds"] = std::move(holds);
  if (!violations.empty()) o["violation_list"] = std::move(violations);
  for (const auto& m : r.more) o[m.key()] = m.value();
  return o;
}

page result_text(const simulation::world& w, const show_result& r, colours tint) {
  const simulation::story& story = w.tells();
  if (r.stopped)
    return toned("stopped", tone::busy, tint) + " after " + seconds_text(r.took) + ": " +
           std::to_string(r.updated) + " of " + std::to_string(w.unit_count()) + " " +
           story.says.units + " " + story.arrived + "\n";
  page text =
      page("\n") +
      toned(r.finished ? "done" : "not finished", r.finished ? tone::good : tone::bad, tint) + ": ";
  text += r.ended.empty() ? rollout_text(w, r) : r.ended;
  text += page(", policies reloaded ") + std::to_string(r.policy_reloads) + " times\n";
  for (const units::hold& h : holds_of(r.last))
    text += page("  ") + h.unit + " waits: " + with_short_digests(h.sentence) + " [" + h.code +
            "]; released by: " + h.released_by + "\n";
  text += w.violation_count() == 0
              ? toned("no invariant was broken", tone::good, tint)
              : toned(std::to_string(w.violation_count()) + " invariants were broken:", tone::bad,
                      tint);
  text += "\n";
  for (const std::string& v : w.violations()) text += page("  ") + v + "\n";
  return text;
}

view view_of(const simulation::world& w, const service& windlass) {
  view v;
  std::size_t updated = 0;
  for (std::size_t at = 0; at < w.clusters().size(); ++at) {
    const std::string& name = w.clusters()[at]->name();
    const simulation::world::progress p = w.progress_of(at);
    const k8s::cluster* seen = windlass.fleet().find(name);
    updated += p.updated;
    v.clusters.push_back({name, seen ? std::string(k8s::name_of(seen->state())) : "Unknown",
                          p.trouble, p.message, p.units, p.updated});
  }
  v.title = page("windlass demo: ") + std::to_string(updated) + " of " +
            std::to_string(w.unit_count()) + " " + w.tells().says.units + " " + w.tells().arrived;
  return v;
}

}  // namespace cli::demo
