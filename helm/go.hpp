#pragma once

#include "formats/go/problem.hpp"
#include "formats/go/text.hpp"
#include "formats/go/value.hpp"

/// The chart engine speaks Go's texts, values and errors all day: here formats' names are its own.
namespace helm {
using namespace formats;
}
