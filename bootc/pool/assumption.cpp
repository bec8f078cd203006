#include "bootc/pool/assumption.hpp"

#include "bootc/kinds/conditions.hpp"

#include <algorithm>

namespace bootc {

void assume_image(pool_world& world, const std::string& ref) {
  if (world.pool.spec.image_ref == ref) return;
  world.pool.spec.image_ref = ref;
  ++world.pool.meta.generation;
}

assumption assumption_of(const std::string& ref, const std::optional<tag_resolution>& looked_up,
                         const rollout_plan& now, const rollout_plan& forecast) {
  assumption out;
  if (!looked_up || looked_up->ref != ref)
    out.unresolved = "no registry was asked";
  else if (looked_up->digest.empty())
    out.unresolved = looked_up->error.empty() ? "the registry has not answered" : looked_up->error;
  out.is_absent = !out.unresolved.empty() && looked_up && looked_up->is_absent;
  const std::string& target = now.status.target_digest;
  const bool names_itself = !target.empty() && ref.ends_with("@" + target);
  if (!names_itself || !out.unresolved.empty())
    out.notes.push_back("as if the image were " + ref +
                        (!out.unresolved.empty() ? "; it could not be looked up: " + out.unresolved
                         : target.empty()        ? "; what it names is not known"
                                                 : ", which names " + target + " now"));
  if (target.empty()) return out;
  std::size_t fetch = 0, move = 0;
  for (const unit& u : now.units) {
    if (u.booted_digest == target) continue;
    ++move;
    if (u.state == unit_state::pending || u.state == unit_state::staging) ++fetch;
  }
  if (move == 0) {
    out.notes.push_back("every node runs it already");
    return out;
  }
  const std::size_t at_once = std::max<std::size_t>(forecast.capacity, 1);
  out.steps = (move + at_once - 1) / at_once;
  out.notes.push_back(std::to_string(fetch) + (fetch == 1 ? " node fetches" : " nodes fetch") +
                      " it; " + std::to_string(move) + (move == 1 ? " node boots" : " nodes boot") +
                      " it in " + std::to_string(out.steps) +
                      (out.steps == 1 ? " step" : " steps") + " or more, " +
                      std::to_string(at_once) + " at once");
  return out;
}

}  // namespace bootc
