#pragma once

#include "compose/pack_data.hpp"
#include "app/api/api.hpp"

namespace compose {

/// Objects that packs make for custom resources, on every cluster that serves the kinds they name,
/// home included. `variable` reads the environment; empty: the process's own.
units::api api(pack_data::variable variable = {});
/// Gives the API another environment, before it starts.
void set_up(units::api& to, pack_data::variable variable);

}  // namespace compose
