#include "formats/json/member.hpp"

#include <boost/json/value.hpp>

namespace formats {

std::string text_member(const boost::json::object& o, std::string_view name) {
  const boost::json::value* v = o.if_contains(name);
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

}  // namespace formats
