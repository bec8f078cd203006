#pragma once

#include "units/program/process.hpp"

namespace cli {
using program::stop_guard;
}
