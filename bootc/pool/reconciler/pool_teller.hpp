#pragma once

#include "bootc/pool/events/event_notes.hpp"
#include "bootc/pool/reconciler/pool_reader.hpp"
#include "bootc/pool/reconciler/pool_writer.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bootc {

/// Says on objects, in Events and in the log what a plan and its steps mean, each thing once.
/// Nothing depends on what it says.
/// Lifetime  loop, views and settings outlive it.
class pool_teller {
public:
  pool_teller(reactor::loop& l, cluster_views views, const reconciler_settings& settings)
      : loop_(l), views_(views), settings_(settings) {}

  struct noted {
    node_notes all;
    bool are_left = false;                         // these are enough for one pass
    std::optional<reactor::wall_time> look_again;  // when those that are too young may be written
  };
  /// What nodes that hold a slot or are in trouble get written on them: why they wait. Those that
  /// wait for a slot are in the pool's count. Most go along with a step, and one that fails is
  /// tried again by a later pass.
  awaitable<noted> notes_of(const node_pool& pool, rollout_plan& plan);  // borrowed
  /// Warnings, each once as long as it stays true.
  void say_new(const node_pool& pool, const std::vector<warning>& warnings);
  /// The drains of the pool; when one of them becomes a long one, if none of them is yet.
  awaitable<std::optional<reactor::wall_time>> tell_of_drains(node_pool pool, drains_by_node ours);
  void tell(k8s::event_note note);
  /// The log's lines about a status that was written over `pool`'s: a rollout that begins or is
  /// done, Degraded that comes or goes.
  void tell_status(const node_pool& pool, const node_pool_status& now);
  void tell_other_operator(const std::string& holder);
  void gone(const bootc_node& b) { noted_at_.erase(b.meta.name.str()); }

private:
  reactor::steady_time may_note_at(const bootc_node& b, const hold* now) const;
  void note_step(const bootc_node& b, const node_pool& pool, boost::json::object& annotations);

  reactor::loop& loop_;
  cluster_views views_;
  const reconciler_settings& settings_;
  std::map<std::string, std::set<std::string>> said_;  // warnings that still hold, by pool
  drain_teller drain_teller_;
  std::map<std::string, reactor::steady_time> noted_at_;  // the holds on BootcNodes, by node
  std::map<std::string, std::string> told_steps_;  // by node, until its object remembers them
  std::string other_said_;                         // the other operator that the log has told of
};

}  // namespace bootc
