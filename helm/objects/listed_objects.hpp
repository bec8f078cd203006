#pragma once

#include "helm/objects/object.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {
class client;
}

namespace helm::objects {

/// A collection in one namespace of which several objects are asked for.
struct collection {
  k8s::resource of;
  std::string ns;
};
/// Those that are worth one list instead of a request for each object: namespaced, with at least
/// `worth_a_list` objects that have a name. A list of a cluster-scoped kind is as long as the
/// cluster has them.
inline constexpr std::size_t worth_a_list = 3;
std::vector<collection> worth_listing(const object_list& wanted);

/// Which of many objects are on a cluster, and their metadata, with few requests. What it does not
/// know has to be asked for: a list may be refused or too long.
/// Lifetime  the client outlives it.
class listed_objects {
public:
  enum class presence : std::uint8_t { unknown, absent, present };
  struct finding {
    presence is = presence::unknown;
    const boost::json::object* object = nullptr;  // of present: its metadata
  };

  /// A list of more than `most_bytes` is too long.
  listed_objects(k8s::client& api, std::uint64_t most_bytes) : api_(api), most_bytes_(most_bytes) {}
  reactor::awaitable<void> read(const object_list& wanted);  // borrowed
  finding find(const object& o) const;

  /// One page of a collection; `whole` when there are no others.
  void take(const collection& c, boost::json::object page);

private:
  struct listed {
    std::map<std::string, boost::json::object, std::less<>> by_name;
    bool whole = false;
  };
  k8s::client& api_;
  std::uint64_t most_bytes_;
  std::map<std::string, listed> all_;  // by path
};

}  // namespace helm::objects
