#pragma once

#include "bootc/kinds/bootc_node.hpp"
#include "bootc/kinds/node_pool.hpp"
#include "bootc/pool/drain_progress.hpp"
#include "bootc/pool/rollout_plan.hpp"
#include "k8s/client/events.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bootc {

/// Who reports: the name under which other operators of this API do.
inline constexpr std::string_view event_reporter = "bootc-operator";
/// A drain that goes on for longer is told of, once.
inline constexpr reactor::nanoseconds long_drain = std::chrono::minutes(5);

/// "sha256:" and twelve digits; what is shorter, or no such digest, stays as it is.
std::string short_digest(std::string_view digest);

/// What is worth telling when a pool's status turns from what stands in it to `after`: a rollout
/// begins or is done, a tag names another image, what is wrong changed. The status is the memory:
/// an unchanged one tells nothing.
std::vector<k8s::event_note> pool_events(const node_pool& pool, const node_pool_status& after);

/// One step of a node. `remember` goes into its annotation `bootc.dev/last-observed-state`, which
/// tells nothing but what has been told.
struct node_step {
  std::optional<k8s::event_note> note;
  std::string remember;
};
/// Nothing when there is nothing new. A node that is idle without having arrived (it failed, say,
/// and tries again) is where it was.
std::optional<node_step> next_step(const bootc_node& b, const k8s::node* its, const node_pool& of);

/// Told as long as it stays true, once; about the node that it names, else about the pool.
k8s::event_note event_of(const warning& w, const k8s::node* its, const node_pool& of);

/// Remembers which drains it spoke of.
class drain_teller {
public:
  struct news {
    std::vector<k8s::event_note> notes;
    std::optional<reactor::wall_time> look_again;  // when a drain becomes a long one
  };
  /// One drain of `pool`; `its` Node may be null.
  void tell_one(const node_pool& pool, const std::string& node, const k8s::node* its,
                const drain_progress& d, reactor::wall_time now, news& into);
  /// After all of them were told: what is known of others goes.
  void forget(const node_pool& pool, const drains_by_node& all);

private:
  struct told {
    std::string pool;
    reactor::wall_time started{};
    bool is_long = false, ended = false;
  };
  std::map<std::string, told> told_;
};

}  // namespace bootc
