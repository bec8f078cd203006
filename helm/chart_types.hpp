#pragma once

#include "formats/go/value.hpp"

/// The Go types that Helm defines over slices and maps. render_context.cpp has their names and
/// methods.
namespace helm::chart_type {

using formats::defined_over;
using formats::type;

inline constexpr type values = formats::defined(defined_over::map, 0);
inline constexpr type files = formats::defined(defined_over::typed_map, 1);
inline constexpr type version_set = formats::defined(defined_over::list, 2);
inline constexpr type maintainer_list = formats::defined(defined_over::list, 3);
inline constexpr type dependency_list = formats::defined(defined_over::list, 4);

}  // namespace helm::chart_type
