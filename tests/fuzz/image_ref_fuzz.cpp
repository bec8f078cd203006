#include "registry/image_ref.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

/// What is accepted is canonical: written out again it is the same reference.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto ref = registry::parse_image_ref(text);
  if (!ref) return 0;
  std::string again = ref->name;
  if (!ref->tag.empty()) again += ":" + ref->tag;
  if (!ref->digest.empty()) again += "@" + ref->digest;
  if (again != text || registry::digest_in(text) != ref->digest) std::abort();
  return 0;
}
