#include "k8s/sim/objects/failure.hpp"

#include "k8s/sim/objects/kind.hpp"

#include <set>
#include <stdexcept>

namespace k8s::sim {

namespace {

std::string printed(const json::value& v) {
  return v.is_null() ? "null" : json::serialize(v);
}

json::object named_details(const kind_info& kind, std::string_view name) {
  json::object d;
  d["name"] = name;
  if (!kind.group.empty()) d["group"] = kind.group;
  d["kind"] = kind.plural;
  return d;
}

std::string about(const kind_info& kind, std::string_view name) {
  return kind.qualified() + " \"" + std::string(name) + "\"";
}

std::string_view cause_reason(field_error::type t) {
  using type = field_error::type;
  switch (t) {
    case type::invalid: return "FieldValueInvalid";
    case type::required: return "FieldValueRequired";
    case type::unsupported: return "FieldValueNotSupported";
    case type::forbidden: return "FieldValueForbidden";
    case type::duplicate: return "FieldValueDuplicate";
    case type::too_long: return "FieldValueTooLong";
    case type::too_many: return "FieldValueTooMany";
    case type::type_invalid: return "FieldValueTypeInvalid";
    case type::not_found: return "FieldValueNotFound";
  }
  return "FieldValueInvalid";
}

}  // namespace

void throw_exception_from_error(const failure& f, const boost::source_location&) {
  throw std::runtime_error(f.message);
}

json::object to_status(const failure& f) {
  json::object meta;
  if (!f.continue_token.empty()) meta["continue"] = f.continue_token;
  json::object s{{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", std::move(meta)},
                 {"status", "Failure"}};
  if (!f.message.empty()) s["message"] = f.message;
  if (!f.reason.empty()) s["reason"] = f.reason;
  json::object details = f.details;
  if (f.retry_after_seconds && !details.contains("retryAfterSeconds")) {
    details["retryAfterSeconds"] = *f.retry_after_seconds;
  }
  if (!details.empty() || f.always_details) s["details"] = std::move(details);
  s["code"] = f.code;
  return s;
}

field_error field_error::invalid(std::string field, const json::value& bad,
                                 std::string_view detail) {
  return {type::invalid, std::move(field),
          "Invalid value: " + printed(bad) + ": " + std::string(detail)};
}
field_error field_error::required(std::string field, std::string_view detail) {
  return {type::required, std::move(field),
          detail.empty() ? "Required value" : "Required value: " + std::string(detail)};
}
field_error field_error::unsupported(std::string field, const json::value& bad,
                                     const std::vector<std::string>& supported) {
  std::string list;
  for (const std::string& s : supported) list += (list.empty() ? "" : ", ") + quoted(s);
  return {type::unsupported, std::move(field),
          "Unsupported value: " + printed(bad) + ": supported values: " + list};
}
field_error field_error::forbidden(std::string field, std::string_view detail) {
  return {type::forbidden, std::move(field), "Forbidden: " + std::string(detail)};
}
field_error field_error::duplicate(std::string field, const json::value& bad) {
  return {type::duplicate, std::move(field), "Duplicate value: " + printed(bad)};
}
field_error field_error::too_long(std::string field, std::size_t limit) {
  return {type::too_long, std::move(field),
          "Too long: may not be more than " + std::to_string(limit) + " bytes"};
}
field_error field_error::too_many(std::string field, std::size_t actual, std::size_t limit) {
  return {type::too_many, std::move(field),
          "Too many: " + std::to_string(actual) + ": must have at most " + std::to_string(limit) +
              " items"};
}
field_error field_error::wrong_type(std::string field, const json::value& bad,
                                    std::string_view detail) {
  return {type::type_invalid, std::move(field),
          "Invalid value: " + printed(bad) + ": " + std::string(detail)};
}
field_error field_error::not_found(std::string field, const json::value& bad) {
  return {type::not_found, std::move(field), "Not found: " + printed(bad)};
}
field_error field_error::immutable(std::string field, const json::value& bad) {
  return invalid(std::move(field), bad, "field is immutable");
}

failure bad_request(std::string message) {
  return {400, "BadRequest", std::move(message)};
}

failure not_found(const kind_info& kind, std::string_view name) {
  return {404, "NotFound", about(kind, name) + " not found", named_details(kind, name)};
}

failure already_exists(const kind_info& kind, std::string_view name) {
  return {409, "AlreadyExists", about(kind, name) + " already exists", named_details(kind, name)};
}

failure conflict(const kind_info& kind, std::string_view name, std::string_view why) {
  return {409, "Conflict",
          "Operation cannot be fulfilled on " + about(kind, name) + ": " + std::string(why),
          named_details(kind, name)};
}

failure modified_meanwhile(const kind_info& kind, std::string_view name) {
  return conflict(kind, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

failure forbidden(const kind_info& kind, std::string_view name, std::string_view why) {
  return {403, "Forbidden", about(kind, name) + " is forbidden: " + std::string(why),
          named_details(kind, name)};
}

failure invalid(const kind_info& kind, std::string_view name, const field_errors& errors) {
  return invalid(kind.group, kind.kind, name, errors);
}

failure invalid(std::string_view group, std::string_view kind, std::string_view name,
                const field_errors& errors) {
  std::string text;
  std::set<std::string> seen;
  std::size_t count = 0;
  json::array causes;
  for (const field_error& e : errors) {
    std::string line = e.field + ": " + e.message;
    causes.push_back(
        json::object{{"reason", cause_reason(e.what)}, {"message", e.message}, {"field", e.field}});
    if (!seen.insert(line).second) continue;
    text += (count++ ? ", " : "") + line;
  }
  if (count > 1) text = "[" + text + "]";
  json::object details;
  if (!name.empty()) details["name"] = name;
  if (!group.empty()) details["group"] = group;
  details["kind"] = kind;
  details["causes"] = std::move(causes);
  std::string qualified(kind);
  if (!group.empty()) qualified += "." + std::string(group);
  return {422, "Invalid", qualified + " \"" + std::string(name) + "\" is invalid: " + text,
          std::move(details)};
}

failure method_not_allowed() {
  failure f{405, "MethodNotAllowed",
            "the server does not allow this method on the requested resource"};
  f.always_details = true;
  return f;
}

failure page_not_found() {
  failure f{404, "NotFound", "the server could not find the requested resource"};
  f.always_details = true;
  return f;
}

failure expired(std::string message) {
  return {410, "Expired", std::move(message)};
}

failure too_large_version(std::uint64_t asked, std::uint64_t current) {
  failure f{504, "Timeout",
            "Timeout: Too large resource version: " + std::to_string(asked) +
                ", current: " + std::to_string(current)};
  f.details["causes"] = json::array{json::object{{"reason", "ResourceVersionTooLarge"},
                                                 {"message", "Too large resource version"}}};
  f.retry_after_seconds = 1;
  return f;
}

failure unsupported_media(std::string_view got, std::string_view accepted) {
  return {415, "UnsupportedMediaType",
          "the body of the request was in an unknown format - accepted media types include: " +
              std::string(accepted) + (got.empty() ? "" : "")};
}

failure not_decodable(const kind_info& kind, std::string_view why) {
  return bad_request(kind.kind + " in version " + quoted(kind.version) +
                     " cannot be handled as a " + kind.kind + ": " + std::string(why));
}

}  // namespace k8s::sim
