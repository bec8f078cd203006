#pragma once

#include "formats/go/value.hpp"
#include "formats/plain/problem.hpp"

#include <span>
#include <string>
#include <string_view>

namespace formats {

/// What encoding/json does: sorted keys, Go's float form, invalid UTF-8 replaced.
enum class json_escapes : bool { html, none };
struct json_style {
  json_escapes escapes = json_escapes::html;
  bool indented = false;  // two spaces
};
/// Errors   "json: unsupported value: +Inf".
outcome<std::string> write_json(const value& v, json_style style = {});

/// Which of encoding/json's two ways of reading an error text is like: they differ in what they say
/// of a text cut short. A number too large for a float64 is infinite in a stream.
enum class json_source : bool { text, stream };
/// One JSON text; numbers become float64.
/// Errors   encoding/json's, with the offending character: "invalid character 'x' looking for
///          beginning of value".
outcome<value> read_json(std::string_view text, json_source from = json_source::text);
/// A text and what is wrong with its numbers alone: one too large for a float64 is null in `read`,
/// and `too_large` is encoding/json's error for the first of them. Empty: there is none.
struct json_reading {
  value read;
  std::string too_large;
};
outcome<json_reading> read_json_with_nulls(std::string_view text);
/// read_json of a long text of which only what `path` leads to, through objects, is asked for, and
/// the scalars beside each step. Of the rest one member at a time is held.
outcome<value> read_json_along(std::string_view text, std::span<const std::string_view> path);
/// One JSON value at the start of `text`; `used` says where it ended. For --set-json, where more
/// may follow.
/// Errors   those of a stream.
outcome<value> read_json_prefix(std::string_view text, std::size_t& used);

/// A double as encoding/json writes it.
std::string json_number(double d);

}  // namespace formats
