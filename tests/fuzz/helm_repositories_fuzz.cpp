#include "helm/sources/repositories_file.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

/// repositories.yaml: what was read is written and read again as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace sources = helm::sources;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = sources::read_repositories(text);
  if (!file) return 0;
  const auto written = sources::write_repositories(*file);
  if (!written) return 0;
  const auto again = sources::read_repositories(*written);
  if (!again || again->entries != file->entries) std::abort();
  return 0;
}
