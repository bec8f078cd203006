#include "formats/json/exact.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_stack.hpp>

#include <charconv>
#include <string>

namespace formats {
namespace {

namespace json = boost::json;
using boost::system::error_code;

/// What boost::json::parse does with the pieces of a text, but for doubles.
struct builder {
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  explicit builder(const json::storage_ptr& storage) : stack(storage) {}

  json::value_stack stack;
  std::string number;  // the beginning of one that came in pieces

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return true; }
  bool on_object_end(std::size_t n, error_code&) {
    stack.push_object(n);
    return true;
  }
  bool on_array_begin(error_code&) { return true; }
  bool on_array_end(std::size_t n, error_code&) {
    stack.push_array(n);
    return true;
  }
  bool on_key_part(json::string_view s, std::size_t, error_code&) {
    stack.push_chars(s);
    return true;
  }
  bool on_key(json::string_view s, std::size_t, error_code&) {
    stack.push_key(s);
    return true;
  }
  bool on_string_part(json::string_view s, std::size_t, error_code&) {
    stack.push_chars(s);
    return true;
  }
  bool on_string(json::string_view s, std::size_t, error_code&) {
    stack.push_string(s);
    return true;
  }
  bool on_number_part(json::string_view s, error_code&) {
    number.append(s.data(), s.size());
    return true;
  }
  bool on_int64(std::int64_t i, json::string_view, error_code&) {
    stack.push_int64(i);
    number.clear();
    return true;
  }
  bool on_uint64(std::uint64_t u, json::string_view, error_code&) {
    stack.push_uint64(u);
    number.clear();
    return true;
  }
  bool on_double(double d, json::string_view s, error_code&) {
    number.append(s.data(), s.size());
    double exact = d;
    const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), exact);
    const bool whole = code == std::errc{} && end == number.data() + number.size();
    stack.push_double(whole ? exact : d);
    number.clear();
    return true;
  }
  bool on_bool(bool b, error_code&) {
    stack.push_bool(b);
    return true;
  }
  bool on_null(error_code&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }
};

}  // namespace

json::value parse_json(std::string_view text, error_code& code, std::size_t depth,
                       json::storage_ptr storage) {
  json::parse_options options;
  options.max_depth = depth;
  json::basic_parser<builder> parser(options, storage);
  builder& made = parser.handler();
  made.stack.reset(storage);
  const std::size_t read = parser.write_some(false, text.data(), text.size(), code);
  if (!code && read < text.size()) code = json::make_error_code(json::error::extra_data);
  if (code) return nullptr;
  return made.stack.release();
}

}  // namespace formats
