#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::sim {

/// What merging has to know about a field that its JSON does not tell: which lists are maps or sets
/// in disguise, which objects are replaced as a whole. Fields without a shape are granular objects
/// and atomic lists.
struct shape {
  enum class list_kind { atomic, set, map };

  bool atomic = false;                 // an object owned and replaced as a whole
  list_kind list = list_kind::atomic;  // how server-side apply merges the list
  std::vector<std::string> keys;       // of a map list
  std::map<std::string, std::string, std::less<>> key_defaults;  // a key left out counts as this
  std::shared_ptr<const shape> element;                          // of the list or of a map's values
  std::map<std::string, std::shared_ptr<const shape>, std::less<>> fields;
  bool is_map = false;  // keys are data (labels), not fields

  const shape* field(std::string_view name) const noexcept;
  const shape* each() const noexcept { return element.get(); }
};

/// The shapes of the built-in kinds, made once for all servers. "" = only metadata is known.
const std::shared_ptr<const shape>& built_in_shape(std::string_view kind);
/// The shape of metav1.ObjectMeta.
const std::shared_ptr<const shape>& metadata_shape();

}  // namespace k8s::sim
