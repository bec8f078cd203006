#pragma once

#include "k8s/informer/meta.hpp"

namespace bootc {

/// Those that views of the kinds keep.
inline const k8s::annotation_filter our_annotations{false, {"bootc.dev/", "windlass.dev/"}};

}  // namespace bootc
