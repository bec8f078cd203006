#pragma once

#include "k8s/sim/objects/json.hpp"
#include "reactor/plain/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::sim {

struct kind_info;

/// What the API answers instead of an object: the fields of a meta/v1 Status.
struct failure {
  int code = 500;
  std::string reason, message;
  json::object details;
  std::optional<int> retry_after_seconds;
  bool always_details = false;  // an empty details object is sent too
  std::string continue_token;   // of an expired page: where to go on, inconsistently
};

[[noreturn]] void throw_exception_from_error(const failure& f, const boost::source_location& where);

template <class T>
using outcome = reactor::result<T, failure>;

json::object to_status(const failure& f);

/// One wrong field, with the texts that real clients show and match.
struct field_error {
  enum class type {
    invalid,
    required,
    unsupported,
    forbidden,
    duplicate,
    too_long,
    too_many,
    type_invalid,
    not_found
  };
  type what = type::invalid;
  std::string field, message;  // message begins with the type's words: "Invalid value: ..."

  static field_error invalid(std::string field, const json::value& bad, std::string_view detail);
  static field_error required(std::string field, std::string_view detail = {});
  static field_error unsupported(std::string field, const json::value& bad,
                                 const std::vector<std::string>& supported);
  static field_error forbidden(std::string field, std::string_view detail);
  static field_error duplicate(std::string field, const json::value& bad);
  static field_error too_long(std::string field, std::size_t limit);
  static field_error too_many(std::string field, std::size_t actual, std::size_t limit);
  static field_error wrong_type(std::string field, const json::value& bad, std::string_view detail);
  static field_error not_found(std::string field, const json::value& bad);
  static field_error immutable(std::string field, const json::value& bad);
};
using field_errors = std::vector<field_error>;

failure bad_request(std::string message);
failure not_found(const kind_info& kind, std::string_view name);
failure already_exists(const kind_info& kind, std::string_view name);
failure conflict(const kind_info& kind, std::string_view name, std::string_view why);
failure modified_meanwhile(const kind_info& kind, std::string_view name);
failure forbidden(const kind_info& kind, std::string_view name, std::string_view why);
failure invalid(const kind_info& kind, std::string_view name, const field_errors& errors);
failure invalid(std::string_view group, std::string_view kind, std::string_view name,
                const field_errors& errors);
failure method_not_allowed();
failure page_not_found();
failure expired(std::string message);
failure too_large_version(std::uint64_t asked, std::uint64_t current);
failure unsupported_media(std::string_view got, std::string_view accepted);
/// What the decoder says about a body of the wrong shape.
failure not_decodable(const kind_info& kind, std::string_view why);

}  // namespace k8s::sim
