#pragma once

#include "bootc/kinds/node_pool.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace bootc {

/// The newest entry of each pool's record of its images (windlass.dev/target-history).
class image_histories {
public:
  /// Whether the record lacks the image that the pool asks for, or that every node has it. `now`:
  /// its status as this pass has it. The record is parsed where its text is not that of the last
  /// call for the pool.
  bool is_behind(const node_pool& pool, const node_pool_status& now);
  void forget(const std::string& pool) { newest_.erase(pool); }
  std::size_t parsed() const noexcept { return parsed_; }

private:
  struct newest {
    std::string text, target;
    bool is_done = false;
  };
  std::map<std::string, newest> newest_;  // by pool
  std::size_t parsed_ = 0;
};

/// The merge patch that adds both, on exactly this version of the pool. `object`: the pool as the
/// server has it, with managedFields, which say who asked for the image; `at_once`: how many nodes
/// may be disturbed at once.
boost::json::object history_patch(const boost::json::object& object, const node_pool_status& now,
                                  std::size_t at_once);

/// What a step took in each rollout that the pool's record has from beginning to end; the first
/// image of a pool is none.
std::vector<reactor::nanoseconds> past_steps(const node_pool& pool);

}  // namespace bootc
