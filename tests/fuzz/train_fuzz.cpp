// Train documents: what is read is bounded, and every scalar is a text.
#include "releases/trains/train.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

std::size_t values_in(const policies::value& v) {
  if (v.if_bool() != nullptr || v.if_number() != nullptr) std::abort();
  std::size_t count = 1;
  if (const auto* o = v.if_object()) {
    for (const auto& [key, member] : *o) count += values_in(member);
  } else if (const auto* a = v.if_array()) {
    for (const policies::value& one : *a) count += values_in(one);
  }
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = policies::trains::read_train(text, "fuzz");
  if (read && values_in(*read) > 20'001) std::abort();  // and the file's name
  return 0;
}
