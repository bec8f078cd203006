#include "service/own_pod.hpp"

#include "formats/json/member.hpp"

#include <boost/json/array.hpp>

namespace cli {
namespace {

/// Of the container in deploy/; containers that others inject stand beside it.
constexpr std::string_view ours = "manager";

}  // namespace

std::string own_image(const boost::json::object& pod) {
  const boost::json::value* spec = pod.if_contains("spec");
  const boost::json::value* list =
      spec && spec->is_object() ? spec->get_object().if_contains("containers") : nullptr;
  if (!list || !list->is_array()) return {};
  const boost::json::array& containers = list->get_array();
  for (const boost::json::value& one : containers) {
    if (!one.is_object()) continue;
    const boost::json::object& container = one.get_object();
    if (containers.size() == 1 || formats::text_member(container, "name") == ours)
      return formats::text_member(container, "image");
  }
  return {};
}

std::string own_uid(const boost::json::object& pod) {
  const boost::json::value* metadata = pod.if_contains("metadata");
  return metadata && metadata->is_object() ? formats::text_member(metadata->get_object(), "uid")
                                           : std::string();
}

}  // namespace cli
