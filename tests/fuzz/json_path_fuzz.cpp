#include "formats/json/path.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <string_view>

/// Any text as a template: it is read or refused, and what is read ends on a document.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const boost::json::value document = boost::json::parse(
      R"({"a": {"b": [1, 2.5, "x", {"c": null, "name": "n"}], "t": true}, "items": [{"n": 1}, {}]})");
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto path = formats::json_path::parse(text)) {
    static_cast<void>(path->text(document));
    static_cast<void>(path->find(document));
  }
  static_cast<void>(formats::json_path::parse_relaxed(text));
  return 0;
}
