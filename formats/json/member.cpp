#include "formats/json/member.hpp"

#include <boost/json/value.hpp>

namespace formats {

std::string text_member(const boost::json::object& o, std::string_view name) {
  const boost::json::value* v = o.if_contains(name);
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

std::string text_member(const boost::json::object& o, std::string_view outer,
                        std::string_view name) {
  const boost::json::value* inner = o.if_contains(outer);
  return inner && inner->is_object() ? text_member(inner->get_object(), name) : std::string();
}

}  // namespace formats
