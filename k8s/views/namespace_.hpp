#pragma once

#include "k8s/informer/view.hpp"

namespace k8s {

struct namespace_ {
  object_meta meta;  // all annotations but last-applied
  bool terminating = false;

  static namespace_ parse(wire_value object);
  friend bool operator==(const namespace_&, const namespace_&) = default;
};

}  // namespace k8s
