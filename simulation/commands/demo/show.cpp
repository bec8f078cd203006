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
constexpr reactor::nanoseconds look_again = 200ms;

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

std::string seconds_text(double s) {
  std::string text = std::to_string(static_cast<long>(s * 10 + 0.5));
  if (text.size() < 2) text.insert(0, 1, '0');
  return text.substr(0, text.size() - 1) + "." + text.substr(text.size() - 1) + " s";
}

}  // namespace

reactor::awaitable<show_result> play(reactor::loop& l, simulation::world& w, service& windlass,
                                     show_options options, reactor::event& stop) {
  show_result r;
  auto started = co_await windlass.start();
  if (!started) {
    r.problem = started.error().message();
    co_return r;
  }
  const reactor::steady_time began = l.now(), give_up = began + options.time_limit;
  std::vector<page> messages;
  const auto tell = [&](const page& line) {
    if (options.tell) options.tell(line);
    messages.push_back(line);
    if (messages.size() > most_shown_messages) messages.erase(messages.begin());
  };
  std::optional<reactor::steady_time> rolling_since;  // nothing once it has ended
  const auto draw = [&](const page& footer) {
    if (!options.draw) return;
    view v = view_of(w, windlass);
    v.about = options.about;
    v.messages = messages;
    v.footer = footer;
    if (rolling_since)
      v.title += page(" ") + time_text({{},
                                        {},
                                        count(w).updated,
                                        w.unit_count() - w.expected_held(),
                                        l.now() - *rolling_since});
    options.draw(std::move(v));
  };
  windlass.on_pack_event = [&](const policies::pack_event& e) {
    if (e.what != policies::pack_event::kind::loaded) tell(e.message());
  };
  const page underway =
      options.keep ? page("Ctrl-C stops it")
                   : page("Ctrl-C stops it; --keep leaves the fleet and its folder up at the end");
  // Everything runs what is asked for: Windlass finds the fleet in order first.
  while (count(w).settled < w.clusters().size() && l.now() < give_up && !stop.is_set()) {
    draw(underway);
    (void)co_await stop.wait(l.now() + look_again);
  }
  if (!stop.is_set())
    tell("fleet of " + std::to_string(w.clusters().size()) + " clusters is known after " +
         seconds_text(std::chrono::duration<double>(l.now() - began).count()) + "; rolling out " +
         w.tells().target);
  const reactor::steady_time rollout = l.now();
  rolling_since = rollout;
  if (!stop.is_set()) options.roll_out ? options.roll_out() : w.roll_out();
  const std::size_t goal = w.unit_count() - w.expected_held();
  std::size_t last_told = 0;
  reactor::steady_time told_at = l.now();
  for (std::size_t updated = 0; !stop.is_set() && l.now() < give_up;) {
    updated = count(w).updated;
    draw(underway);
    if (!options.draw && updated != last_told && (l.now() - told_at > 2s || updated == goal)) {
      tell(std::to_string(updated) + " of " + std::to_string(w.unit_count()) + " " +
           w.tells().says.units + " updated " +
           time_text({{}, {}, updated, goal, l.now() - rollout}));
      last_told = updated;
      told_at = l.now();
    }
    if (updated >= goal) {
      r.finished = true;
      break;
    }
    (void)co_await stop.wait(l.now() + look_again);
  }
  rolling_since.reset();
  // The last slots are freed a moment after the last unit is back.
  if (r.finished) (void)co_await stop.wait(l.now() + 1s);
  r.seconds = std::chrono::duration<double>(l.now() - rollout).count();
  r.stopped = stop.is_set() && !r.finished;
  r.updated = count(w).updated;
  if (!r.stopped) {
    r.last = co_await look_at(windlass, l, {}, l.now() + 2s);
    r.updated = count(w).updated;
    r.held = r.last.held;
    w.check_at_rest();
  }
  if (options.keep && !stop.is_set()) {
    const std::string done = (r.finished ? "done after " : "not finished after ") +
                             seconds_text(r.seconds) + ", " + std::to_string(r.held) + " held";
    if (!options.draw) tell(page(done) + "; the fleet stays up; stop it with Ctrl-C");
    while (!stop.is_set()) {
      draw(page(done) + "; the fleet stays up, Ctrl-C stops it");
      (void)co_await stop.wait(options.draw ? l.now() + look_again : reactor::never);
    }
    r.updated = count(w).updated;
  }
  r.policy_reloads = windlass.packs().reloads();
  windlass.on_pack_event = {};
  co_return r;
}

boost::json::object result_json(const simulation::world& w, const show_result& r) {
  boost::json::object o;
  o["clusters"] = w.clusters().size();
  o[w.tells().says.units] = w.unit_count();
  o["updated"] = r.updated;
  o["held"] = r.held;
  o["violations"] = w.violation_count();
  o["max_disrupted"] = w.max_disrupted();
  o["policy_reloads"] = r.policy_reloads;
  o["seconds"] = static_cast<double>(static_cast<long>(r.seconds * 100)) / 100;
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
  return o;
}

page result_text(const simulation::world& w, const show_result& r, colours tint) {
  const simulation::story& story = w.tells();
  if (r.stopped)
    return toned("stopped", tone::busy, tint) + " after " + seconds_text(r.seconds) + ": " +
           std::to_string(r.updated) + " of " + std::to_string(w.unit_count()) + " " +
           story.says.units + " " + story.arrived + "\n";
  page text =
      page("\n") +
      toned(r.finished ? "done" : "not finished", r.finished ? tone::good : tone::bad, tint) +
      ": " + std::to_string(r.updated) + " of " + std::to_string(w.unit_count()) + " " +
      story.says.units + " " + story.arrived + " after " + seconds_text(r.seconds) + ", " +
      std::to_string(r.held) + " held, at most " + std::to_string(w.max_disrupted()) + " " +
      story.says.units + " of a cluster disturbed at once, ";
  for (const auto& [what, n] : w.tallies()) text += std::to_string(n) + " " + what + ", ";
  text += page("policies reloaded ") + std::to_string(r.policy_reloads) + " times\n";
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
