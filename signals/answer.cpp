#include "signals/answer.hpp"

#include "formats/json/json.hpp"
#include "reactor/plain/printable.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>

namespace signals {
namespace {

using formats::value;

constexpr std::size_t most_quoted = 120;

reading unknown(std::string why) {
  return {std::nullopt, std::move(why)};
}

std::string quoted(std::string_view text) {
  return "\"" + reactor::printable(text, most_quoted) + "\"";
}

const value* member(const value& of, std::string_view name) {
  return of.is_map() ? of.find(name) : nullptr;
}

std::string text_of(const value& of, std::string_view name) {
  const value* found = member(of, name);
  return found && found->is_string() ? found->text() : std::string();
}

std::optional<double> number_of(const value& v) {
  if (v.kind() == formats::type::float64) return v.real();
  if (v.is_integer()) return static_cast<double>(v.integer());
  return std::nullopt;
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
reading read_sample(const value* pair, reactor::wall_time now, reactor::nanoseconds stale_after) {
  if (!pair || !pair->is_list() || pair->size() != 2)
    return unknown("its sample is no pair of a time and a value");
  const auto at = number_of(pair->at(0).unbox());
  const value said = pair->at(1).unbox();
  if (!at || !said.is_string()) return unknown("its sample is no pair of a time and a value");
  const double age = std::chrono::duration<double>(now.time_since_epoch()).count() - *at;
  if (!(age >= -std::chrono::duration<double>(most_clock_ahead).count()))
    return unknown("its sample is " + in_seconds(-age) + " ahead of our clock");
  if (!(age <= std::chrono::duration<double>(stale_after).count()))
    return unknown("its sample is " + in_seconds(age) + " old");
  const std::string& text = said.text();
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
  const auto all = formats::read_json(body);
  if (!all || !all->is_map()) return unknown(no_json(status, body));
  const std::string says = text_of(*all, "status");
  if (status != 200 || says != "success") {
    const std::string error = text_of(*all, "error");
    return unknown("the server answers " + std::to_string(status) +
                   (error.empty() ? std::string() : ": " + quoted(error)));
  }
  if (const value* warned = member(*all, "warnings"); warned && warned->size() > 0)
    return unknown("the answer is partial" + (warned->is_list() && warned->at(0).is_string()
                                                  ? ": " + quoted(warned->at(0).text())
                                                  : std::string()));
  const value* data = member(*all, "data");
  if (!data) return unknown("the answer has no data");
  const std::string type = text_of(*data, "resultType");
  const value* result = member(*data, "result");
  if (type == "scalar") return read_sample(result, now, stale_after);
  if (type != "vector")
    return unknown(type.empty() ? "the answer has no resultType"
                                : "the answer is a " + reactor::printable(type, most_quoted) +
                                      ", no number");
  if (!result || !result->is_list()) return unknown("the answer has no result");
  if (result->size() == 0) return unknown("the query finds nothing");
  if (result->size() > 1)
    return unknown("the query finds " + std::to_string(result->size()) +
                   " series; one is needed, such as sum(…) makes");
  const value only = result->at(0).unbox();
  return read_sample(member(only, "value"), now, stale_after);
}

reading read_number(int status, std::string_view body) {
  if (body.size() > most_answer_bytes) return unknown("the answer is too large");
  const auto all = formats::read_json(body);
  if (status != 200 || !all) return unknown(no_json(status, body));
  if (const auto plain = number_of(*all)) return finite(*plain);
  const value* inner = member(*all, "value");
  if (!inner) return unknown("the answer is no number, and no object with a value");
  if (const auto n = number_of(inner->unbox())) return finite(*n);
  return unknown("the answer's value is no number");
}

}  // namespace signals
