#pragma once

#include <map>
#include <string>
#include <vector>

namespace helm {

/// --set and its relatives, in the order in which they were written within each kind.
struct value_options {
  std::vector<std::string> files, set, set_string, set_file, set_json, set_literal;
  std::map<std::string, std::string> fetched;  // by address: what servers had (addresses_in)
};

}  // namespace helm
