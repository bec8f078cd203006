#include "signals/answer.hpp"

#include "formats/json/exact.hpp"
#include "formats/json/member.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>

namespace signals {
namespace {

namespace json = boost::json;

constexpr std::size_t most_quoted = 120, most_depth = 16;

reading unknown(std::string why) {
  return {std::nullopt, std::move(why)};
}

std::string quoted(std::string_view text) {
  return "\"" + reactor::printable(text, most_quoted) + "\"";
}

/// None: it is no JSON.
std::optional<json::value> parsed(std::string_view body) {
  boost::system::error_code wrong;
  json::value out = formats::parse_json(body, wrong, most_depth);
  if (wrong) return std::nullopt;
  return out;
}

std::optional<double> number_of(const json::value& v) {
  if (!v.is_number()) return std::nullopt;
  return v.to_number<double>();
}

reading finite(double n) {
  if (std::isnan(n)) return unknown("the answer is NaN");
  if (std::isinf(n)) return unknown("the answer is infinite");
  return {n, {}};
}

std::string in_seconds(double s) {
  // Beyond that it is no age of anything.
  constexpr double most = 1e12;
  if (!(s < most)) return "very many seconds";
  return std::to_string(static_cast<std::int64_t>(s)) + " s";
}

/// [unix seconds, "number"]
reading read_sample(const json::value* sample, reactor::wall_time now,
                    reactor::nanoseconds stale_after) {
  const json::array* pair = sample ? sample->if_array() : nullptr;
  const auto at = pair && pair->size() == 2 ? number_of((*pair)[0]) : std::nullopt;
  const json::string* said = at ? (*pair)[1].if_string() : nullptr;
  if (!said) return unknown("its sample is no pair of a time and a value");
  const double age = std::chrono::duration<double>(now.time_since_epoch()).count() - *at;
  if (!(age >= -std::chrono::duration<double>(most_clock_ahead).count()))
    return unknown("its sample is " + in_seconds(-age) + " ahead of our clock");
  if (!(age <= std::chrono::duration<double>(stale_after).count()))
    return unknown("its sample is " + in_seconds(age) + " old");
  const std::string_view text = *said;
  if (text == "NaN") return unknown("the answer is NaN");
  if (text == "+Inf" || text == "-Inf" || text == "Inf") return unknown("the answer is infinite");
  // from_chars reads words as well.
  const bool digits = text.find_first_not_of("0123456789+-.eE") == text.npos;
  double n = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (!digits || text.empty() || wrong != std::errc() || end != text.data() + text.size())
    return unknown("its value is no number: " + quoted(text));
  return finite(n);
}

/// What is wrong with an answer that is no JSON, in a few words.
std::string no_json(int status, std::string_view body) {
  std::string out =
      status == 200 ? "the answer is no JSON" : "the server answers " + std::to_string(status);
  return body.empty() ? out : out + ": " + quoted(body);
}

}  // namespace

reading read_prometheus(int status, std::string_view body, reactor::wall_time now,
                        reactor::nanoseconds stale_after) {
  if (body.size() > most_answer_bytes) return unknown("the answer is too large");
  const auto all = parsed(body);
  if (!all || !all->is_object()) return unknown(no_json(status, body));
  const json::object& answer = all->get_object();
  if (status != 200 || formats::text_member(answer, "status") != "success") {
    const std::string error = formats::text_member(answer, "error");
    return unknown("the server answers " + std::to_string(status) +
                   (error.empty() ? std::string() : ": " + quoted(error)));
  }
  if (const json::value* warned = answer.if_contains("warnings");
      warned && !(warned->is_array() && warned->get_array().empty()))
    return unknown("the answer is partial: " + quoted(json::serialize(*warned)));
  const json::value* has = answer.if_contains("data");
  const json::object* data = has ? has->if_object() : nullptr;
  if (!data) return unknown("the answer has no data");
  const std::string type = formats::text_member(*data, "resultType");
  const json::value* result = data->if_contains("result");
  if (type == "scalar") return read_sample(result, now, stale_after);
  if (type != "vector")
    return unknown(type.empty() ? "the answer has no resultType"
                                : "the answer is a " + reactor::printable(type, most_quoted) +
                                      ", no number");
  const json::array* series = result ? result->if_array() : nullptr;
  if (!series) return unknown("the answer has no result");
  if (series->empty()) return unknown("the query finds nothing");
  if (series->size() > 1)
    return unknown("the query finds " + std::to_string(series->size()) +
                   " series; one is needed, such as sum(…) makes");
  const json::object* only = series->front().if_object();
  return read_sample(only ? only->if_contains("value") : nullptr, now, stale_after);
}

reading read_number(int status, std::string_view body) {
  if (body.size() > most_answer_bytes) return unknown("the answer is too large");
  const auto all = parsed(body);
  if (status != 200 || !all) return unknown(no_json(status, body));
  if (const auto plain = number_of(*all)) return finite(*plain);
  const json::object* object = all->if_object();
  const json::value* inner = object ? object->if_contains("value") : nullptr;
  if (!inner) return unknown("the answer is no number, and no object with a value");
  if (const auto n = number_of(*inner)) return finite(*n);
  return unknown("the answer's value is no number");
}

}  // namespace signals
