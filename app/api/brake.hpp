#pragma once

#include "app/api/hold.hpp"
#include "k8s/informer/selector.hpp"
#include "reactor/plain/time.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace units {

/// The ConfigMap at home that stops everything, in the namespace of the kubeconfig Secrets.
inline constexpr std::string_view brake_object = "windlass-brake";

/// Its keys. `state` is "on" or "off"; `only` has names of APIs with commas between them and
/// `selector` labels of clusters, as kubectl -l takes them. All but `state` may be missing.
namespace brake_key {
inline constexpr std::string_view state = "state", why = "why", by = "by", since = "since",
                                  only = "only", selector = "selector";
inline constexpr std::string_view all[] = {state, why, by, since, only, selector};
}  // namespace brake_key

/// More of a key is not read, and a key that has more cannot be understood.
inline constexpr std::size_t most_brake_bytes = 4'096;

using brake_data = std::map<std::string, std::string, std::less<>>;

/// What the object says.
struct brake_order {
  bool is_on = false;
  std::string why, by, since;     // for people; may be empty
  std::vector<std::string> only;  // names of APIs; empty: all of them
  k8s::label_selector selector;   // of clusters; an empty one: all of them
  /// Why the object cannot be read or understood: the brake is on then, for everything.
  std::string problem;
  /// The version of the object that says so: one brake, told from those before and after it. Empty
  /// where the object could not be read.
  std::string version = {};
  friend bool operator==(const brake_order&, const brake_order&) = default;
};

/// Pure. An object that says neither "on" nor "off", names an API that is not among `apis`, or has
/// a selector that cannot be read, is a brake that is on for everything; `problem` says why.
brake_order read_brake(const brake_data& object, const std::vector<std::string>& apis);
/// The same of an object that could not be read.
brake_order unread_brake(std::string problem);

/// Why nothing begins: the brake, or the speed limit.
struct stop : hold {
  stop() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): what holds is why nothing begins
  stop(hold why) : hold(std::move(why)) {}
  std::optional<reactor::nanoseconds> again_in;  // when to ask again; none: a person ends it
  std::string brake;                             // of a brake: brake_order::version
  friend bool operator==(const stop&, const stop&) = default;
};

/// One brake over all APIs of a process. A writer asks it before it begins something.
class brake {
public:
  /// Why the API begins nothing on a cluster with these labels; none: it may. The caller names the
  /// unit.
  std::optional<stop> stops(std::string_view api, const k8s::string_map& cluster) const;
  const brake_order& order() const noexcept { return order_; }
  /// False where it said the same before.
  bool set(brake_order now);

private:
  brake_order order_;
};

/// looks: may something begin? begins: it begins now, and counts unless it is stopped. overrides:
/// it begins although the brake is on or the limit reached, and counts.
enum class asking { looks, begins, overrides };

/// Asks for one API on one cluster; `unit` is whose change it is. Empty: nothing can stop it.
using brake_question = std::function<std::optional<stop>(std::string_view unit, asking how)>;

/// Why nothing of the unit begins, as far as is known before it is tried.
inline std::optional<stop> ask(const brake_question& q, std::string_view unit) {
  return q ? q(unit, asking::looks) : std::nullopt;
}
/// Right before a change begins. None: it may, and has been counted.
inline std::optional<stop> begin(const brake_question& q, std::string_view unit,
                                 asking how = asking::begins) {
  return q ? q(unit, how) : std::nullopt;
}

/// "the brake is on since 2026-11-28T10:00:00Z, by alice: wrong image"
std::string brake_sentence(const brake_order& o);

}  // namespace units
