#pragma once

#include <string>
#include <vector>

namespace bench::hostile {

/// A caller of our listeners that means harm.
struct caller {
  std::string name;  // "200 connections that never say a word"
};
const std::vector<caller>& callers();

}  // namespace bench::hostile
