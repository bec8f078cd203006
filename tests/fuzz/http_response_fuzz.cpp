#include "tests/fuzz/http_message_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_http_message(reactor::http::wire_parser::kind::response, data, size);
  return 0;
}
