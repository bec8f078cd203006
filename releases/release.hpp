#pragma once

#include "k8s/client/condition.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/informer/meta.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace k8s {
class wire_value;
}

namespace releases {

/// The collection of Releases.
const k8s::resource& collection();

/// A Release as home has it: a document that is read and judged elsewhere (library), and what was
/// said of it.
struct release {
  k8s::object_meta meta;
  std::string document;                    // what of it is a document, as JSON
  std::vector<k8s::condition> conditions;  // of status, or of the annotation where that has none
  bool in_annotation = false;              // that is where they come from
  bool ready = false, in_use = false;      // of status

  static release parse(k8s::wire_value object);
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const release&, const release&) = default;
};

/// The ConfigMap with what people consented to.
struct consent {
  k8s::object_meta meta;
  std::string waivers;  // the text of waivers.yaml

  static consent parse(k8s::wire_value object);
  std::size_t heap_bytes() const noexcept { return meta.heap_bytes() + waivers.capacity(); }
  friend bool operator==(const consent&, const consent&) = default;
};

}  // namespace releases
