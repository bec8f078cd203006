#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace k8s {
class engagement;
}

namespace units {

/// What is known of what a newer Kubernetes would break on a cluster.
struct upgrade_answer {
  enum class kind : std::uint8_t { fine, found, looking, unknown } is = kind::fine;
  std::string sentence = {}, released_by = {};  // of all but fine
  reactor::nanoseconds again_in{};              // when to ask again; more than 0
  friend bool operator==(const upgrade_answer&, const upgrade_answer&) = default;
};

/// Says whether the API servers of one cluster may get a newer minor version.
class upgrade_gate {
public:
  virtual ~upgrade_gate() = default;
  /// From 1.`from` to 1.`to`. Never waits: at first the answer is that the cluster is looked at.
  virtual upgrade_answer ask(unsigned from, unsigned to) = 0;
  /// Ends what is under way.
  virtual reactor::awaitable<void> stop() = 0;
};

/// Makes the gate of a cluster; the engagement outlives it.
using upgrade_gates = std::function<std::unique_ptr<upgrade_gate>(k8s::engagement& on)>;

}  // namespace units
