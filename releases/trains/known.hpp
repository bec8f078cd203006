#pragma once

#include "policies/host/value.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace policies::trains {

/// The release trains that come with the program, oldest first: documents as `read_train` takes
/// them (releases/trains/data).
const std::vector<std::string>& known_train_texts();

/// The text of the one that is called so, with or without a leading "v"; null if none is.
const std::string* known_train(std::string_view name);

/// All of them as the `trains` of a document: what was released together, for `train.match`.
value::array known_train_rows();

}  // namespace policies::trains
