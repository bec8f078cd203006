#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {

class object_type;

/// What a field of a built-in kind takes.
struct field_type {
  enum class form {
    text,
    int32,
    int64,
    real,
    flag,
    bytes,        // base64
    time,         // RFC 3339
    micro_time,   // with microseconds
    quantity,     // "100Mi", or a number
    int_or_text,  // a number or a text
    anything,
    object,  // of `type`
    list,    // of `element`
    map      // of `element`, by keys that are data
  };
  form is = form::anything;
  const object_type* type = nullptr;
  std::shared_ptr<const field_type> element;
  std::vector<std::string> keys;   // of a list whose elements are found by them
  std::vector<std::string> words;  // what validation takes of a text; empty: any

  /// As Go names it in messages: "[]v1.EnvVar".
  std::string go_name() const;
};

/// The fields of one Go type of the built-in API by their JSON names.
class object_type {
public:
  explicit object_type(std::string_view name);
  const std::string& name() const noexcept { return name_; }        // "DeploymentSpec"
  const std::string& go_name() const noexcept { return go_name_; }  // "v1.DeploymentSpec"
  /// Null: it has no such field.
  const field_type* field(std::string_view name) const noexcept;

private:
  friend struct type_table_reader;
  std::string name_, go_name_;
  std::map<std::string, field_type, std::less<>> fields_;
};

/// The type of a built-in kind; null for one that the table does not have.
const object_type* object_type_of(std::string_view api_version, std::string_view kind);

namespace type_tables {
extern const std::string_view kinds, types;
}

}  // namespace k8s
