#pragma once

#include <boost/json/object.hpp>

#include <string>

namespace helm::objects::testing {

/// What our merging makes of a question as tests/helm/differential/objects/main.go answers it.
struct merge_answer {
  std::string out, err;
};
merge_answer answer(const boost::json::object& question);

/// JSON as Go writes it: sorted members, short numbers.
std::string canonical(const boost::json::value& v);

}  // namespace helm::objects::testing
