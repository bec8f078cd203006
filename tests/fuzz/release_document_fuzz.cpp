// Release documents, requests and waivers: what is read is written and read back the same.
#include "releases/rules/document.hpp"
#include "releases/rules/repository.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto rules = policies::releases::read_requests(text, "fuzz");
      rules && rules->blocks.size() > 1000)
    std::abort();
  if (const auto waivers = policies::releases::read_waivers(text, "fuzz");
      waivers && waivers->size() > 1000)
    std::abort();
  const auto read = policies::releases::read_document(text, "fuzz");
  if (!read) return 0;
  // A version that YAML took for a number is a text once it is written: what was written is what
  // stays the same.
  const auto again =
      policies::releases::read_document(policies::releases::write_document(*read), "fuzz");
  if (!again || again->hash != read->hash) std::abort();
  const auto third =
      policies::releases::read_document(policies::releases::write_document(*again), "fuzz");
  if (!third || third->components != again->components || third->apps != again->apps ||
      third->hash != again->hash)
    std::abort();
  return 0;
}
