#include "k8s/client/answer.hpp"

#include "formats/json/exact.hpp"
#include "reactor/http/retry_after.hpp"
#include "reactor/plain/memory.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/secret.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace k8s {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

// A server's sentence is quoted to people; an endless one is not.
constexpr std::size_t answer_message_bytes = 2'048;
constexpr std::size_t causes_limit = 16;

// What a stranger answers with.
constexpr std::string_view a_page = "a web page; is the server's address right?",
                           no_json = "something that is not JSON";

errc classify(int status, std::string_view reason) {
  switch (status) {
    case 401: return errc::unauthorized;
    case 403: return errc::forbidden;
    case 404: return errc::not_found;
    case 409: return reason == "AlreadyExists" ? errc::exists : errc::conflict;
    case 410: return errc::gone;
    case 429: return errc::throttled;
    case 408: return errc::unavailable;
    default: break;
  }
  if (status >= 500) return errc::unavailable;
  if (status >= 400) return errc::invalid;
  return errc::malformed;
}

/// What a stranger sent, fit to be shown: one line, printable, without credentials, cut on a
/// character.
std::string shown(std::string_view text) {
  const std::string out = reactor::redact(reactor::printable(text, answer_message_bytes));
  const auto begin = out.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return out.substr(begin, out.find_last_not_of(' ') - begin + 1);
}

std::string text_field(const json::object& o, std::string_view name) {
  const json::value* v = o.if_contains(name);
  return v && v->is_string() ? shown(v->get_string()) : std::string();
}

bool is_page(const reactor::http::headers& fields, std::string_view body) {
  if (fields.get("Content-Type").starts_with("text/html")) return true;
  const auto begin = body.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && body[begin] == '<';
}

fault stranger(int status, std::string doing, std::string_view what) {
  fault f;
  f.code = errc::malformed;
  f.http_status = status;
  f.doing = std::move(doing);
  f.detail = "the server does not speak the Kubernetes API: it answered " + std::to_string(status) +
             " with " + std::string(what);
  return f;
}

/// A failure without a Status. Its body is not quoted: the author of a kubeconfig chooses the
/// server and may read our faults, so they would show what any HTTP server near us says.
fault plain_failure(int status, const reactor::http::headers& fields, std::string doing) {
  fault f;
  f.code = classify(status, {});
  f.http_status = status;
  f.doing = std::move(doing);
  f.retry_after = reactor::http::retry_after(fields);
  f.detail = "the server answered " + std::to_string(status);
  return f;
}

}  // namespace

fault fault_from_status(const json::object& o, int status, std::string doing) {
  fault f;
  if (const json::value* code = o.if_contains("code"); code && code->is_int64()) {
    const auto named = code->get_int64();
    if (named >= 400 && named < 600) status = static_cast<int>(named);
  }
  f.reason = text_field(o, "reason");
  f.code = classify(status, f.reason);
  f.http_status = status;
  f.doing = std::move(doing);
  f.detail = text_field(o, "message");
  if (f.detail.empty()) {
    f.detail = f.reason.empty() ? "the server answered " + std::to_string(status) : f.reason;
  }
  const json::value* details = o.if_contains("details");
  if (!details || !details->is_object()) return f;
  if (const json::value* s = details->get_object().if_contains("retryAfterSeconds");
      s && s->is_int64() && s->get_int64() > 0) {
    f.retry_after = std::min<reactor::nanoseconds>(
        std::chrono::seconds(std::min<std::int64_t>(s->get_int64(), 600)), 10min);
  }
  const json::value* causes = details->get_object().if_contains("causes");
  if (!causes || !causes->is_array()) return f;
  for (const json::value& one : causes->get_array()) {
    if (!one.is_object() || f.causes.size() == causes_limit) continue;
    const json::object& c = one.get_object();
    f.causes.push_back({text_field(c, "reason"), text_field(c, "message"), text_field(c, "field")});
  }
  return f;
}

bool is_budget_refusal(const fault& f) {
  return f.code == errc::throttled &&
         std::any_of(f.causes.begin(), f.causes.end(),
                     [](const cause& c) { return c.reason == "DisruptionBudget"; });
}

std::optional<fault> no_object_in(int status, const reactor::http::headers& fields,
                                  std::string_view body, std::string doing) {
  if (is_page(fields, body)) return stranger(status, std::move(doing), a_page);
  const auto begin = body.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || body[begin] != '{')
    return stranger(status, std::move(doing), no_json);
  return std::nullopt;
}

result<json::value> read_answer(int status, const reactor::http::headers& fields,
                                std::string_view body, std::string doing,
                                json::storage_ptr storage) {
  if (status >= 300 && status < 400) {
    return stranger(status, std::move(doing), "a redirect; is the server's address right?");
  }
  const bool success = status >= 200 && status < 300;
  // A balancer or a login proxy in front of a server answers these with pages of its own.
  const bool may_be_a_page = status == 401 || status == 403 || status == 429 || status >= 500;
  if (is_page(fields, body)) {
    if (may_be_a_page) return plain_failure(status, fields, std::move(doing));
    return stranger(status, std::move(doing), a_page);
  }
  boost::system::error_code code;
  json::value parsed(storage);
  if (!reactor::memory_allows([&] { parsed = formats::parse_json(body, code, 64, storage); })) {
    fault f;
    f.code = errc::unavailable;
    f.http_status = status;
    f.doing = std::move(doing);
    f.detail = "there is not enough memory for the answer";
    return f;
  }
  if (code) {
    if (!success) return plain_failure(status, fields, std::move(doing));
    return stranger(status, std::move(doing), no_json);
  }
  const json::object* object = parsed.if_object();
  const auto is = [&](std::string_view field, std::string_view value) {
    const json::value* v = object ? object->if_contains(field) : nullptr;
    return v && v->is_string() && v->get_string() == value;
  };
  if (is("kind", "Status") && (!success || is("status", "Failure"))) {
    fault f = fault_from_status(*object, status, std::move(doing));
    if (!f.retry_after) f.retry_after = reactor::http::retry_after(fields);
    return f;
  }
  if (!success) return plain_failure(status, fields, std::move(doing));
  return parsed;
}

}  // namespace k8s
