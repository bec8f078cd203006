#include "bootc/pool/assumption.hpp"

#include "bootc/kinds/conditions.hpp"

#include <algorithm>

namespace bootc {

void assume_image(pool_world& world, const std::string& ref) {
  if (world.pool.spec.image_ref == ref) return;
  world.pool.spec.image_ref = ref;
  ++world.pool.meta.generation;
}

std::vector<std::string> rollout_notes(const std::string& ref, const rollout_plan& now,
                                       const rollout_plan& forecast) {
  std::vector<std::string> out;
  const std::string& target = now.status.target_digest;
  if (target.empty() || !ref.ends_with("@" + target)) {
    const condition* wrong = find_condition(now.status.conditions, pool_condition::degraded);
    out.push_back("as if the image were " + ref +
                  (wrong && wrong->reason == pool_reason::tag_resolution_error
                       ? "; " + wrong->message
                   : target.empty() ? "; what it names is not known"
                                    : ", which names " + target + " now"));
  }
  if (target.empty()) return out;
  std::size_t fetch = 0, move = 0;
  for (const unit& u : now.units) {
    if (u.booted_digest == target) continue;
    ++move;
    if (u.state == unit_state::pending || u.state == unit_state::staging) ++fetch;
  }
  if (move == 0) {
    out.push_back("every node runs it already");
    return out;
  }
  const std::size_t at_once = std::max<std::size_t>(forecast.capacity, 1);
  out.push_back(std::to_string(fetch) + (fetch == 1 ? " node fetches" : " nodes fetch") + " it; " +
                std::to_string(move) + (move == 1 ? " node boots" : " nodes boot") + " it in " +
                std::to_string((move + at_once - 1) / at_once) + " steps or more, " +
                std::to_string(at_once) + " at once");
  return out;
}

}  // namespace bootc
