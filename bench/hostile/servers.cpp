#include "bench/hostile/servers.hpp"

namespace bench::hostile {

const std::vector<server>& servers() {
  static const std::vector<server> all;
  return all;
}

}  // namespace bench::hostile
