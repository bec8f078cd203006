// A list cut into its objects while it arrives, in pieces whose sizes the first byte chooses,
// beside a plain JSON parse.
#include "k8s/informer/list_splitter.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

boost::json::value parsed(std::string_view text, bool& good) {
  boost::system::error_code error;
  boost::json::parse_options limits;
  limits.max_depth = 100;
  boost::json::value v = boost::json::parse(text, error, {}, limits);
  good = !error;
  return v;
}

struct cut {
  std::vector<std::string> objects;
  std::string outer;
  bool good = false;
};

cut cut_in(std::string_view text, std::size_t piece) {
  cut c;
  k8s::list_splitter splitter(1024 * 1024);
  const auto take = [&](std::string_view object) {
    c.objects.emplace_back(object);
    return true;
  };
  for (std::size_t at = 0; at < text.size(); at += piece) {
    const std::string part(text.substr(at, piece));  // exactly sized, for the sanitizer
    if (!splitter.feed(part, take)) return c;
  }
  c.good = static_cast<bool>(splitter.finish());
  if (c.good) c.outer = splitter.outer();
  return c;
}

void expect(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const cut whole = cut_in(text, text.size() + 1), pieces = cut_in(text, 1 + data[0] % 64);
  expect(whole.good == pieces.good && whole.outer == pieces.outer);
  if (whole.good) expect(whole.objects == pieces.objects);

  bool is_json = false;
  const boost::json::value plain = parsed(text, is_json);
  if (!is_json || !plain.is_object()) return 0;  // cutting is not validating
  const boost::json::object& list = plain.get_object();
  // Wherever "items" stands, and whatever stands beside it: the same objects, and the rest without
  // them.
  std::size_t times = 0;
  for (std::size_t at = text.find("\"items\""); at != text.npos;
       at = text.find("\"items\"", at + 1))
    ++times;
  if (times != 1 || !list.contains("items") || text.find("\\u") != text.npos) return 0;
  const boost::json::array* items = list.at("items").if_array();
  if (!items) return 0;
  for (const boost::json::value& one : *items)
    if (!one.is_object()) {
      expect(!whole.good);
      return 0;
    }
  if (!whole.good) return 0;  // past a limit
  expect(whole.objects.size() == items->size());
  for (std::size_t i = 0; i < items->size(); ++i) {
    bool good = false;
    expect(parsed(whole.objects[i], good) == (*items)[i] && good);
  }
  bool good = false;
  boost::json::value outer = parsed(whole.outer, good);
  expect(good && outer.is_object());
  boost::json::object expected = list;
  expected["items"] = boost::json::array();
  expect(outer.get_object() == expected);
  return 0;
}
