#pragma once

#include "units/program/process.hpp"

namespace cli {
using program::run_to_end;
}
