#pragma once

#include "policies/host/value.hpp"
#include "reactor/plain/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace policies {

struct shape_member;

/// What a value may be: of an argument as Lua reads it, or of an answer. A hook's shapes are its
/// whole description; its reference, the editor's annotations, the strict arguments of tests and
/// the check of answers are made from them.
struct shape {
  enum class kind { any, flag, number, text, list, map, record, either };
  kind is = kind::any;
  std::string name;                   // of a record: "unit"
  std::string expected;               // for messages: "a unit name"; empty: by kind
  std::vector<shape> of;              // list and map: what is in it; either: the forms
  std::vector<shape_member> members;  // record
  std::optional<double> least;        // number
  std::vector<std::string> words;     // text: no other than these; empty: any
  /// record: of a document that a person wrote. It may have other members, and Lua finds nil where
  /// one is absent.
  bool open = false;
};

struct shape_member {
  std::string name;
  shape is;
  std::string about;  // one sentence without its full stop
  std::string unit;   // "seconds", "unix seconds"
  bool optional = false;
  value otherwise;  // a scalar that tests leave out
};

/// A member that may be left out.
shape_member maybe(std::string name, shape is, std::string about);

shape flag_shape();
shape number_shape(std::string expected = {}, std::optional<double> least = {});
shape text_shape(std::string expected = {});
shape word_shape(std::vector<std::string> words);
shape list_shape(shape of, std::string expected = {});
shape map_shape(shape of, std::string expected = {});
shape record_shape(std::string name, std::vector<shape_member> members, std::string expected = {});
shape either_shape(std::string expected, std::vector<shape> forms);

/// Whether `v` is of that shape; nil is, where a member is optional.
/// Errors   errc::malformed names the place: "start[3]: expected a unit name, got a number";
///          "the answer: unknown entry 'strat', is it start? known are start, holds".
reactor::result<void> check(const value& v, const shape& is);

/// The shape as Lua reads it: kind, name, of, members with name, is, optional, otherwise.
value described(const shape& s);

/// Whether `right` may have been meant by `wrong`.
bool is_slip(std::string_view wrong, std::string_view right) noexcept;

}  // namespace policies
