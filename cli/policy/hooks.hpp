#pragma once

#include "policies/host/hook.hpp"

namespace cli {

/// Every hook that something in the program asks: what packs may have.
policies::shared_hooks all_hooks();

}  // namespace cli
