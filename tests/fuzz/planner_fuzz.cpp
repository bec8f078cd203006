// Random answers to the planner of rollouts: whatever a policy says about a pool in whatever state,
// the safety rules of tests/bootc/pool/policy_answers hold for the plan.

#include "tests/bootc/pool/policy_answers.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bootc::testing::any_rollout world({data, size});
  const auto plan = world.plan();
  const auto violations = world.violations(plan);
  for (const std::string& v : violations) std::fprintf(stderr, "%s\n", v.c_str());
  if (!violations.empty()) std::abort();
  return 0;
}
