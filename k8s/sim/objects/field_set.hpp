#pragma once

#include "k8s/sim/objects/json.hpp"
#include "k8s/sim/objects/shape.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::sim {

/// A set of field paths as managedFields' FieldsV1 writes them: "f:spec", "k:{\"name\":\"a\"}",
/// "v:\"x\"".
struct field_set {
  bool member = false;
  std::map<std::string, field_set> children;

  bool empty() const noexcept { return !member && children.empty(); }
  json::object to_json() const;
  static field_set from_json(const json::object& fields);

  void unite(const field_set& other);
  void subtract(const field_set& other);
  field_set intersection(const field_set& other) const;
  /// Every member's path, as messages print it (".spec.containers[name=\"a\"].image").
  std::vector<std::string> paths() const;
};

/// All fields of an applied configuration.
field_set fields_of(const json::value& v, const shape* of);

/// What differs between two states of an object.
struct field_changes {
  field_set added, modified, removed;
};
field_changes compare(const json::value& before, const json::value& after, const shape* of);

/// "k:{…}" for an element of a map list; empty when a key is missing.
std::string element_key(const json::value& element, const shape& list);

}  // namespace k8s::sim
