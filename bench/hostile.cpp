#include "bench/hostile.hpp"

#include "app/progress.hpp"
#include "bench/child.hpp"
#include "bench/hostile/attackers.hpp"
#include "bench/hostile/siege/besieged.hpp"
#include "bench/hostile/siege/strangers.hpp"
#include "bench/hostile/victim.hpp"
#include "bench/measure.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

using hostile::attack;
using hostile::attacks;
using hostile::reading;

constexpr std::size_t again = 6;                       // so many of the worst are looked at again
constexpr std::size_t rounds = 5;                      // so often
constexpr std::size_t closely = 3, close_rounds = 15;  // and of these the most unfair
constexpr std::size_t shown = 40;

app::progress shown_of(std::string stage, std::size_t of) {
  return {app::progress::standard_error(app::progress::reader::everyone),
          "bench: " + std::move(stage), "attacks", of};
}

/// Undergoes them all, in as many processes as it takes.
class trial {
public:
  explicit trial(std::string attackers) : attackers_(std::move(attackers)) {}

  void run(std::string stage, std::vector<std::size_t> wanted, std::size_t times) {
    app::progress shown = shown_of(std::move(stage), wanted.size());
    std::size_t next = 0;
    while (next < wanted.size()) {
      std::string list;
      for (std::size_t i = next; i < wanted.size(); ++i) list += " " + std::to_string(wanted[i]);
      auto process = child::start(
          {"hostile", "--sender", "victim " + std::to_string(times) + list + " : " + attackers_});
      if (!process) throw std::runtime_error(process.error().message());
      std::size_t before = next;
      for (std::string line = process->read_line(); !line.empty(); line = process->read_line()) {
        reading r;
        if (!parse_reading(line, r)) continue;
        take(r);
        // Packs and kubeconfigs come first, whatever the order.
        const auto found =
            std::find(wanted.begin() + static_cast<std::ptrdiff_t>(next), wanted.end(), r.attack);
        if (found == wanted.end()) continue;
        std::iter_swap(found, wanted.begin() + static_cast<std::ptrdiff_t>(next));
        ++next;
        shown.next();
      }
      if (process->wait() == 0 && next == wanted.size()) return;
      if (next == before && !came_up_) throw std::runtime_error("no victim came up");
      if (next < wanted.size()) {
        std::fprintf(stderr, "bench: the process ended in \"%s\"\n",
                     attacks()[wanted[next]].name().c_str());
        ++crashes;
        ++next;
      }
    }
  }

  std::map<std::size_t, reading> readings;
  std::size_t crashes = 0;

private:
  void take(const reading& r) {
    came_up_ = true;
    const auto [at, fresh] = readings.emplace(r.attack, r);
    if (fresh) return;
    reading merged = r;
    merged.stall_ms = std::min(r.stall_ms, at->second.stall_ms);
    merged.rss_mb = std::max(r.rss_mb, at->second.rss_mb);
    merged.canary_hits += at->second.canary_hits;
    merged.escaped |= at->second.escaped;
    at->second = merged;
  }
  std::string attackers_;
  bool came_up_ = false;
};

bool networked(const reading& r) {
  const auto what = attacks()[r.attack].what;
  return what == attack::kind::server || what == attack::kind::caller;
}
bool is_pack(const reading& r) {
  return attacks()[r.attack].what == attack::kind::pack;
}
double ratio(const reading& r) {
  return r.ratio;
}

/// The attacks with the largest `of`, largest first.
template <class Of, class Which>
std::vector<std::size_t> largest(const std::map<std::size_t, reading>& all, std::size_t n, Of of,
                                 Which which) {
  std::vector<std::size_t> order;
  for (const auto& [index, r] : all)
    if (which(r)) order.push_back(index);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return of(all.at(a)) > of(all.at(b)); });
  order.resize(std::min(order.size(), n));
  return order;
}

/// What the service itself went through, one stranger after the other.
struct sieges {
  std::map<std::size_t, hostile::siege_outcome> outcomes;
  double stall_ms = 0, rss_mb = 0, stop_s = 0;
  std::string slowest;  // whose turn was the longest
  std::size_t harmed = 0;

  void run() {
    app::progress first = shown_of("strangers of the service", hostile::strangers().size());
    for (std::size_t i = 0; i < hostile::strangers().size(); ++i) {
      take(i, hostile::besiege(i, at_work));
      first.next();
    }
    // One look finds what is slow, and as much of the noise.
    std::vector<std::size_t> slow;
    for (const auto& [i, o] : outcomes) slow.push_back(i);
    std::ranges::stable_sort(slow, std::greater(),
                             [this](std::size_t i) { return outcomes.at(i).stall_ms; });
    slow.resize(std::min(slow.size(), again));
    app::progress more = shown_of("the slowest strangers again", slow.size() * looks_again);
    for (const std::size_t i : slow)
      for (std::size_t look = 0; look < looks_again; ++look) {
        take(i, hostile::besiege(i, at_work));
        more.next();
      }
    for (const auto& [i, o] : outcomes) {
      if (o.stall_ms > stall_ms) slowest = hostile::strangers()[i].name;
      stall_ms = std::max(stall_ms, o.stall_ms);
      rss_mb = std::max(rss_mb, o.rss_mb);
      stop_s = std::max(stop_s, o.stop_s);
    }
  }

private:
  void take(std::size_t i, hostile::siege_outcome o) {
    if (!o.stood || !o.damage.empty()) {
      ++harmed;
      std::fprintf(stderr, "bench: \"%s\": %s\n", hostile::strangers()[i].name.c_str(),
                   o.damage.empty() ? "others were not served" : o.damage.c_str());
    }
    const auto [at, is_first] = outcomes.emplace(i, o);
    if (is_first) return;
    hostile::siege_outcome& known = at->second;
    known.stall_ms = std::min(o.stall_ms, known.stall_ms);
    known.rss_mb = std::max(o.rss_mb, known.rss_mb);
    known.stop_s = std::max(o.stop_s, known.stop_s);
  }
  static constexpr std::size_t looks_again = 3;
  static constexpr reactor::nanoseconds at_work = std::chrono::seconds(2);
};

}  // namespace

boost::json::object measure_hostile() {
  auto attackers = child::start({"hostile", "--sender", "attackers"});
  if (!attackers) throw std::runtime_error(attackers.error().message());
  const std::string where = attackers->read_line();
  if (where.empty()) throw std::runtime_error("the attackers did not come up");
  struct remove_file {
    std::string path;
    ~remove_file() { unlink(path.c_str()); }
  } const ca{hostile::parse_attackers(where).ca_file};

  trial all(where);
  std::vector<std::size_t> alone, beside_neighbours;
  for (std::size_t i = 0; i < attacks().size(); ++i) {
    const auto what = attacks()[i].what;
    (what == attack::kind::server || what == attack::kind::caller ? beside_neighbours : alone)
        .push_back(i);
  }
  all.run("packs, kubeconfigs and charts", alone, 1);
  all.run("servers and callers", beside_neighbours, 1);
  const auto stall = [](const reading& r) { return r.stall_ms; };
  for (int i = 0; i < 3; ++i)
    all.run("the slowest packs again", largest(all.readings, 20, stall, is_pack), 1);
  std::vector<std::size_t> worst = largest(all.readings, again, stall, networked);
  const std::vector<std::size_t> unfair = largest(all.readings, again, ratio, networked);
  for (const std::size_t i : unfair)
    if (std::find(worst.begin(), worst.end(), i) == worst.end()) worst.push_back(i);
  all.run("the worst servers and callers again", worst, rounds);
  const auto looked_at = [&worst](const reading& r) {
    return std::find(worst.begin(), worst.end(), r.attack) != worst.end();
  };
  // One look at each finds what is slow, but as much of the noise; the figure is of many looks.
  const std::vector<std::size_t> unfairest = largest(all.readings, closely, ratio, looked_at);
  all.run("the most unfair again", unfairest, close_rounds);

  sieges of_service;
  of_service.run();

  using hostile::stranger_kind;
  boost::json::object o = environment();
  o["attacks"] = attacks().size() + hostile::strangers().size();
  o["charts"] = std::ranges::count(attacks(), attack::kind::chart, &attack::what);
  o["tenants"] = hostile::count_of(stranger_kind::tenant);
  o["members"] = hostile::count_of(stranger_kind::member);
  o["registries"] = hostile::count_of(stranger_kind::registry);
  o["fleet_authors"] = hostile::count_of(stranger_kind::fleet_author);
  const auto of_loop = [](const reading& r) { return !is_pack(r); };
  const std::vector<std::size_t> by_stall = largest(all.readings, shown, stall, of_loop);
  const reading* const most = by_stall.empty() ? nullptr : &all.readings.at(by_stall.front());
  const bool is_of_service = !most || of_service.stall_ms > most->stall_ms;
  o["worst_stall_ms"] = rounded(is_of_service ? of_service.stall_ms : most->stall_ms);
  o["worst_stall_attack"] = is_of_service ? of_service.slowest : attacks()[most->attack].name();
  double rss = 0, policy = 0, unfairness = 0;
  std::size_t escapes = of_service.harmed, hits = 0;
  boost::json::object ended;  // how many children, by why
  const auto count = [&ended](const std::string& why) {
    ended[why] = (ended.contains(why) ? ended[why].as_int64() : 0) + 1;
  };
  for (const auto& [index, outcome] : of_service.outcomes)
    for (const std::string& why : outcome.children_ended) count(why);
  for (const auto& [index, r] : all.readings) {
    std::istringstream reasons(r.children_ended);
    for (std::string why; std::getline(reasons, why, ',');) count(why);
    rss = std::max(rss, r.rss_mb);
    if (is_pack(r)) policy = std::max(policy, r.stall_ms);
    escapes += r.escaped ? 1 : 0;
    hits += r.canary_hits;
  }
  for (const std::size_t i : unfairest)
    unfairness = std::max(unfairness, ratio(all.readings.at(i)));
  o["worst_rss_mb"] = rounded(rss, 1);
  o["rss_mb"] = rounded(of_service.rss_mb, 1);
  o["stop_s"] = rounded(of_service.stop_s);
  o["neighbour_p99_ratio"] = rounded(unfairness);
  o["policy_worst_stall_ms"] = rounded(policy);
  o["crashes"] = all.crashes;
  o["children_ended"] = std::move(ended);
  o["escapes"] = escapes;
  o["canary_hits"] = hits;
  boost::json::array points;
  for (const std::size_t i : by_stall) {
    const reading& r = all.readings.at(i);
    boost::json::object p;
    p["attack"] = attacks()[i].name();
    p["stall_ms"] = rounded(r.stall_ms);
    p["rss_mb"] = rounded(r.rss_mb, 1);
    p["neighbour_p99_ms"] = rounded(r.p99_ms);
    p["quiet_p99_ms"] = rounded(r.quiet_p99_ms);
    p["ratio"] = rounded(r.ratio);
    p["log_lines"] = r.log_lines;
    p["series"] = r.series;
    p["connections"] = r.connections;
    points.push_back(std::move(p));
  }
  for (const auto& [index, outcome] : of_service.outcomes) {
    boost::json::object p;
    p["attack"] = hostile::strangers()[index].name;
    p["stall_ms"] = rounded(outcome.stall_ms);
    p["rss_mb"] = rounded(outcome.rss_mb, 1);
    p["stop_s"] = rounded(outcome.stop_s);
    points.push_back(std::move(p));
  }
  o["points"] = std::move(points);
  return o;
}

int run_hostile_side(const std::string& specification) {
  if (specification == "attackers") return hostile::run_attackers();
  std::istringstream in(specification);
  std::string word;
  std::size_t times = 1;
  in >> word >> times;
  if (word == "surroundings") return hostile::run_surroundings(times);
  std::vector<std::size_t> wanted;
  while (in >> word && word != ":")
    wanted.push_back(std::strtoul(word.c_str(), nullptr, 10) % attacks().size());
  std::string attackers;
  std::getline(in, attackers);
  return hostile::run_victim(attackers, wanted, times);
}

}  // namespace bench
