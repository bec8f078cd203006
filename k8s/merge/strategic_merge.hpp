#pragma once

#include "reactor/plain/result.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace k8s {

class merge_type;

/// Why a strategic patch cannot be made or applied, in the API server's words, and the status it
/// gives for that.
struct merge_refusal {
  std::string text;
  int status = 500;
};
[[noreturn]] void throw_exception_from_error(const merge_refusal& r,
                                             const boost::source_location& where);

template <class T>
using merge_result = reactor::result<T, merge_refusal>;

/// The members of a patch that are no fields.
namespace directive {
inline constexpr std::string_view patch = "$patch", retain_keys = "$retainKeys",
                                  element_order = "$setElementOrder/",
                                  delete_scalars = "$deleteFromPrimitiveList/";
}

/// Where a merge is within the Go types of an object: below a known type, or somewhere no field is
/// known.
struct merge_position {
  const merge_type* type = nullptr;
  std::string_view otherwise = "map";  // what is there instead of a struct
};
/// How a field's value merges when it is an object or a list.
struct merge_plan {
  bool merge = false, replace = false, retain_keys = false;
  std::string key;
  merge_position inner;
};
merge_result<merge_plan> plan_for_object(const merge_position& at, std::string_view field);
merge_result<merge_plan> plan_for_list(const merge_position& at, std::string_view field);

/// `target` with a strategic merge patch applied, as the API server does it.
merge_result<boost::json::object> apply_strategic_patch(boost::json::object target,
                                                        boost::json::object patch,
                                                        const merge_type& type);
/// One patch that does what `first` and then `second` do.
merge_result<boost::json::object> join_strategic_patches(boost::json::object first,
                                                         boost::json::object second,
                                                         const merge_type& type);

}  // namespace k8s
