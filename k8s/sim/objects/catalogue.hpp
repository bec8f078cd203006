#pragma once

#include "k8s/sim/objects/kind.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::sim {

/// The collections one server serves: the built-in ones, which all servers share, and its own
/// custom ones.
class catalogue {
public:
  /// Serves what a server of that version has built in; at first that of the newest one.
  void be(std::string_view version) { built_in_ = &built_in_kinds_of(version); }
  kind_ptr find(std::string_view group, std::string_view version, std::string_view plural) const;
  /// By what stands in an object.
  kind_ptr find_kind(std::string_view api_version, std::string_view kind) const;
  /// Any served version of a collection; the storage version where there are several.
  kind_ptr find_collection(std::string_view group, std::string_view plural) const;
  bool has_group_version(std::string_view group, std::string_view version) const;

  /// Replaces all versions of one custom collection.
  void set_custom(std::string_view group, std::string_view plural, std::vector<kind_ptr> versions);
  void remove_custom(std::string_view group, std::string_view plural);

  /// Every collection, built-in first.
  std::vector<kind_ptr> all() const;
  /// Custom collections only.
  std::vector<kind_ptr> custom() const;

private:
  template <class Predicate>
  bool any(Predicate fits) const;

  const std::vector<kind_ptr>* built_in_ = &built_in_kinds();
  std::map<std::pair<std::string, std::string>, std::vector<kind_ptr>> custom_;
};

}  // namespace k8s::sim
