#pragma once

#include "formats/go/literal.hpp"
#include "formats/go/value.hpp"
#include "formats/plain/problem.hpp"
#include "formats/plain/text.hpp"

/// The chart engine speaks Go's texts, values and errors all day: here formats' names are its own.
namespace helm {
using namespace formats;
}
