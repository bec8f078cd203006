#pragma once

#include <string_view>

namespace app {

/// What a process ends with.
inline constexpr int success = 0, failure = 1, wrong_usage = 2;
/// What was asked for needs an approval first, or is not allowed at all.
inline constexpr int needs_approval = 3, denied = 4;

/// Writes one line on standard error, "windlass: <sentence>", and returns `code`.
int complain(std::string_view sentence, int code = failure);
/// The same for another program: "<program>: <sentence>".
int complain_as(std::string_view program, std::string_view sentence, int code = failure);

}  // namespace app
