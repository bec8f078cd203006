#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace units {

/// How a unit does, whatever its API calls its states.
enum class standing { done, moving, trouble };

/// One more thing that an API says of its units.
struct detail {
  std::string key;                                      // in JSON
  std::variant<bool, std::int64_t, std::string> value;  // in JSON
  std::string column = {};                              // of `status -o wide`; empty = not there
  std::string label = {};                               // in `explain`; empty = not there
  std::string text = {};  // for people, where it is not the value itself
  friend bool operator==(const detail&, const detail&) = default;
};

/// What gets moved, as people see it: a node of a pool, a release of a tenant. All units of a row
/// have the same details.
struct unit {
  std::string name;
  std::string state;  // the API's word: "Staged"
  standing is = standing::moving;
  std::vector<detail> details;
  std::string message;  // what it reports of itself
  std::string trouble;  // why it counts as degraded although it does not say so
  friend bool operator==(const unit&, const unit&) = default;
};

}  // namespace units
