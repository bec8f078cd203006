#include "bench/hostile/packs.hpp"

namespace bench::hostile {

const std::vector<pack>& packs() {
  static const std::vector<pack> all;
  return all;
}

pack_outcome try_pack(const pack&) {
  return {};
}

}  // namespace bench::hostile
