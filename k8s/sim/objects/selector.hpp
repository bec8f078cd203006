#pragma once

#include "k8s/sim/objects/failure.hpp"
#include "k8s/sim/objects/json.hpp"
#include "k8s/sim/objects/kind.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s::sim {

/// A label selector in its query form ("a=b,c in (d,e),!f") or its object form (matchLabels,
/// matchExpressions).
class label_selector {
public:
  static outcome<label_selector> parse(std::string_view text);
  static outcome<label_selector> from_object(const json::object& selector);

  /// `labels` may be null.
  bool matches(const json::object* labels) const;
  bool matches_object(const json::object& o) const {
    return matches(find_object(o, {"metadata", "labels"}));
  }
  bool empty() const noexcept { return terms_.empty(); }

private:
  enum class op { in, not_in, exists, missing, greater, less };
  struct term {
    std::string key;
    op how = op::in;
    std::vector<std::string> values;
  };
  std::vector<term> terms_;
};

/// A field selector ("spec.nodeName=a,status.phase!=Failed"); which fields exist depends on the
/// kind.
class field_selector {
public:
  static outcome<field_selector> parse(std::string_view text, const kind_info& kind);
  bool matches(const json::object& o) const;
  bool empty() const noexcept { return terms_.empty(); }
  /// The value `field` must have, if the selector says so.
  const std::string* required(std::string_view field) const noexcept;

private:
  struct term {
    std::string field, value;
    bool equal = true;
  };
  std::vector<term> terms_;
};

/// "metadata.name" of an object as field selectors see it (booleans as words, absent as "").
std::string selectable_field(const json::object& o, std::string_view field);

}  // namespace k8s::sim
