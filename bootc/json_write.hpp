#pragma once

#include "bootc/condition.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <vector>

/// What several kinds write alike. Included by .cpp files only.
namespace bootc::json_write {

inline boost::json::array conditions(const std::vector<condition>& all) {
  boost::json::array out;
  for (const condition& c : all) {
    boost::json::object one{{"type", c.type},
                            {"status", c.status},
                            {"reason", c.reason},
                            {"message", c.message},
                            {"lastTransitionTime", c.last_transition_time}};
    if (c.observed_generation != 0) one["observedGeneration"] = c.observed_generation;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace bootc::json_write
