#pragma once

#include <map>
#include <string>
#include <string_view>

namespace k8s {

class merge_type;

/// What strategic merging does with one field. Fields without an entry are scalars to it.
struct merge_field {
  enum class form { object, map, list };
  form is = form::object;
  bool replace = false;  // an object that is never merged
  // a patch names the keys that stay: a changed kind of source removes its siblings
  bool retain_keys = false;
  bool merge = false;  // a list that is merged, by `key` or as a set of scalars
  std::string key;     // of a merged list's elements; empty = scalars
  // of the object or of a merged list's elements; null = none known
  const merge_type* type = nullptr;
};

/// The fields of one Go type of the built-in API, found by their JSON names.
class merge_type {
public:
  explicit merge_type(std::string name) : name_(std::move(name)) {}
  /// "DeploymentSpec", as messages name it.
  const std::string& name() const noexcept { return name_; }
  const merge_field* field(std::string_view name) const noexcept;

private:
  friend struct merge_schema_reader;
  std::string name_;
  std::map<std::string, merge_field, std::less<>> fields_;
};

/// The type of a built-in kind, or null: custom resources and aggregated APIs take no strategic
/// patches.
const merge_type* merge_type_of(std::string_view api_version, std::string_view kind);

namespace merge_tables {
extern const std::string_view kinds, types;
}

}  // namespace k8s
