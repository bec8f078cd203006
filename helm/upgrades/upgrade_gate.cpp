#include "helm/upgrades/upgrade_gate.hpp"

#include "formats/plain/listed.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/engagement.hpp"
#include "reactor/deadline.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/reason.hpp"
#include "reactor/system/files.hpp"
#include "reactor/task_group.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace helm::upgrades {
namespace {

using namespace std::chrono_literals;
using reactor::awaitable;
using reactor::result;
using removals::finding;
using removals::waiver;
using units::upgrade_answer;

constexpr std::size_t most_named = 3, waiver_bytes = 1u << 20, most_at_once = 2, most_kept = 4;
constexpr reactor::nanoseconds longest_look = 10min, fine_serves = 10min, look_again = 2min,
                               looking_takes = 5s;

std::string minor_text(unsigned minor) {
  return "Kubernetes 1." + std::to_string(minor);
}

std::string told_of(const finding& f) {
  return (f.ns.empty() ? "" : f.ns + "/") + f.object() + " (" +
         (f.removed_in == 0 ? f.why : f.api_version) +
         (f.owner.is == removals::object_owner::kind::unknown ? "" : ", " + f.owner.text()) + ")";
}

std::string command_for(const gate_facts& f) {
  return "`windlass check upgrade --to 1." + std::to_string(f.to) + " --cluster " + f.read.cluster +
         "`";
}

upgrade_answer looking(unsigned to) {
  return {upgrade_answer::kind::looking,
          "it is being looked at what of this cluster " + minor_text(to) + " would break",
          "the cluster was looked at", looking_takes};
}

/// What the gates of all clusters share.
struct gate_share {
  std::string waivers;  // a file, read before each judgement; empty: none
  std::size_t looking = 0;
};

class cluster_gate final : public units::upgrade_gate {
public:
  cluster_gate(k8s::engagement& on, std::shared_ptr<gate_share> with)
      : on_(on), loop_(on.loop()), share_(std::move(with)), tasks_(on.loop()) {}

  upgrade_answer ask(unsigned from, unsigned to) override {
    const step way{from, to};
    if (!known_.contains(way) && known_.size() == most_kept)
      std::erase_if(known_, [](const auto& one) { return !one.second.is_looking; });
    if (!known_.contains(way) && known_.size() == most_kept) return looking(to);
    seen& s = known_.try_emplace(way, seen{looking(to), {}, false}).first->second;
    if (!s.is_looking && loop_.now() >= s.due) {
      s.is_looking = true;
      tasks_.start("removed apis of " + on_.on().name(), look(way));
    }
    upgrade_answer out = s.is;
    out.again_in = std::max(looking_takes, s.due - loop_.now());
    return out;
  }

  awaitable<void> stop() override { co_await tasks_.cancel_and_join(); }

private:
  using step = std::pair<unsigned, unsigned>;
  struct seen {
    upgrade_answer is;
    reactor::steady_time due;  // to look again
    bool is_looking;
  };
  /// One of those that look at the same time, over all clusters.
  struct turn {
    explicit turn(std::shared_ptr<gate_share> of) : of_(std::move(of)) { ++of_->looking; }
    ~turn() { --of_->looking; }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    std::shared_ptr<gate_share> of_;
  };

  awaitable<void> look(step way) {
    while (share_->looking >= most_at_once) co_await loop_.sleep_for(1s);
    upgrade_answer is;
    {
      const turn mine(share_);
      is = co_await answer(way);
    }
    seen& s = known_.at(way);
    if (s.is.is != is.is || s.is.sentence != is.sentence) tell(way, is);
    s = {std::move(is),
         loop_.now() + (is.is == upgrade_answer::kind::fine ? fine_serves : look_again), false};
  }

  awaitable<upgrade_answer> answer(step way) {
    gate_facts facts;
    facts.from = way.first;
    facts.to = way.second;
    facts.read.cluster = on_.on().name();
    removals::findings found(static_cast<int>(way.second), most_gate_rows);
    auto read = co_await reactor::with_deadline(loop_, read_all(found), loop_.now() + longest_look,
                                                "look at the cluster");
    if (read)
      facts.read = std::move(*read);
    else
      facts.read.not_seen.push_back({"the cluster", reactor::reason_of(read.error())});
    facts.rows = found.rows();
    facts.left_out = found.left_out();
    const auto load = [](const std::string& file) { return load_waivers(file); };
    auto waivers = co_await loop_.offload(load, share_->waivers);
    if (!waivers) facts.read.not_seen.push_back({"the waivers", waivers.error().message()});
    co_return judge(std::move(facts), waivers ? *waivers : std::vector<waiver>(), loop_.wall());
  }

  awaitable<result<cluster_reading>> read_all(removals::findings& into) {  // borrowed
    std::string name = on_.on().name();
    reading_options usual;
    cluster_reading read = co_await read_cluster(loop_, on_.api(), on_.discovery(), std::move(name),
                                                 into, std::move(usual));
    co_return std::move(read);
  }

  void tell(step way, const upgrade_answer& is) const {
    const std::string to = "1." + std::to_string(way.second);
    if (is.is == upgrade_answer::kind::fine)
      on_.log().info("nothing of the cluster stops the upgrade", {{"kubernetes", to}});
    else
      on_.log().warning("an upgrade is held", {{"kubernetes", to}, {"why", is.sentence}});
  }

  k8s::engagement& on_;
  reactor::loop& loop_;
  std::shared_ptr<gate_share> share_;
  std::map<step, seen> known_;
  reactor::task_group tasks_;
};

}  // namespace

result<std::vector<waiver>> load_waivers(const std::string& file) {
  if (file.empty()) return std::vector<waiver>();
  auto text = reactor::load_file(file, waiver_bytes);
  if (!text) return text.error();
  auto read = removals::read_waivers(*text, file);
  if (!read) return reactor::make_fault(reactor::errc::malformed, "", read.error().text);
  return std::move(*read);
}

upgrade_answer judge(gate_facts f, const std::vector<waiver>& waivers, reactor::wall_time now) {
  std::erase_if(f.rows, [&](const finding& row) {
    return row.removed_in != 0 && static_cast<unsigned>(row.removed_in) <= f.from;
  });
  (void)removals::waive(f.rows, waivers, now);
  std::vector<std::string> found, unseen;
  for (const finding& row : f.rows)
    if (row.waived.empty()) found.push_back(told_of(row));
  for (const auto& one : f.read.not_seen)
    if (one.is == unseen::weight::needed) unseen.push_back(one.what + ": " + one.why);
  if (!found.empty()) {
    const std::size_t all = found.size();
    return {upgrade_answer::kind::found,
            minor_text(f.to) +
                " breaks what this cluster uses: " + formats::listed(found, most_named) +
                (f.left_out > 0 ? " (of more than " + std::to_string(all) + ")" : "") + "; " +
                command_for(f) + " lists all",
            "it is changed or deleted, or --removed-api-waivers covers it", look_again};
  }
  if (f.left_out > 0)
    unseen.push_back(std::to_string(f.left_out) + " findings beyond " +
                     std::to_string(most_gate_rows) + " that waivers cover");
  if (!unseen.empty())
    return {upgrade_answer::kind::unknown,
            "it is not known what of this cluster " + minor_text(f.to) + " would break: " +
                formats::listed(unseen, most_named) + "; " + command_for(f) + " says all",
            "all of it can be looked at", look_again};
  return {upgrade_answer::kind::fine, {}, {}, fine_serves};
}

units::upgrade_gates gates_with(std::string waivers) {
  const auto share = std::make_shared<gate_share>(gate_share{std::move(waivers), 0});
  return [share](k8s::engagement& on) -> std::unique_ptr<units::upgrade_gate> {
    return std::make_unique<cluster_gate>(on, share);
  };
}

}  // namespace helm::upgrades
