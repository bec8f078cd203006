#include "bench/hostile/callers.hpp"

namespace bench::hostile {

const std::vector<caller>& callers() {
  static const std::vector<caller> all;
  return all;
}

}  // namespace bench::hostile
