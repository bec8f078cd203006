#pragma once

#include <string>
#include <vector>

namespace bench::hostile {

/// An API server that means harm.
struct server {
  std::string name;  // "endless 103 answers"
};
const std::vector<server>& servers();

}  // namespace bench::hostile
