#include "helm/release/record.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

/// Release records: what is in a Secret, and its JSON. What was read is written and read again as
/// the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace release = helm::release;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(release::decode_record(text));
  const auto read = release::read_record(text);
  if (!read) return 0;
  const auto json = release::write_record(*read);
  if (!json) return 0;
  const auto again = release::read_record(*json);
  if (!again) std::abort();
  const auto second = release::write_record(*again);
  if (!second || *second != *json) std::abort();
  return 0;
}
