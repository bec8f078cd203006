#include "helm/sources/provenance.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

/// A .prov file before its signature is checked, and the signed text after.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace sources = helm::sources;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto block = sources::find_signed_block(text)) {
    const auto again = sources::find_signed_block(*block);
    if (!again || *again != *block) std::abort();
  }
  if (const auto sums = sources::read_signed_text(text))
    for (const auto& [name, sum] : *sums) static_cast<void>(sources::check_sum(*sums, name, sum));
  return 0;
}
