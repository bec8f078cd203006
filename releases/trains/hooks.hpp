#pragma once

#include <string_view>

namespace policies::trains {

/// The questions about trains, by their names.
inline constexpr std::string_view hooks[] = {"train.check", "train.plan", "train.promote",
                                             "train.match", "train.sources"};

}  // namespace policies::trains
