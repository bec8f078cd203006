#pragma once

#include <boost/json/object.hpp>

#include <string>
#include <string_view>

namespace helm::objects::testing {

/// What our merging makes of a question as tests/helm/differential/objects/main.go answers it.
struct merge_answer {
  std::string out, err;
};
merge_answer answer(const boost::json::object& question);

/// JSON as Go writes it: sorted members, short numbers.
std::string canonical(const boost::json::value& v);

/// The object that `text` says; throws where it is none.
boost::json::object parse(std::string_view text);

}  // namespace helm::objects::testing
