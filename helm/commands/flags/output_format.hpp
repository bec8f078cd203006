#pragma once

#include <cstdint>

namespace helm {

class command_flags;

/// What a listing is printed as.
enum class output_format : std::uint8_t { table, json, yaml };

/// -o table|json|yaml. Keeps a reference to `into`.
void add_output_flag(command_flags& f, output_format& into);

}  // namespace helm
