#include "app/api/override_order.hpp"

#include "formats/plain/text.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json.hpp>

#include <utility>

namespace units {
namespace {

namespace json = boost::json;

constexpr std::size_t most_override_bytes = 4'096, most_shown_of_override = 300;
/// Clocks differ by less.
constexpr reactor::nanoseconds ahead = std::chrono::minutes(5);

std::string shown_text(std::string_view text) {
  return reactor::printable(formats::trim_set(text, " \t\r\n"), most_shown_of_override);
}

}  // namespace

override_order read_override(std::string_view annotation) {
  override_order out;
  const auto unreadable = [&](std::string problem) {
    out.problem = std::move(problem);
    return out;
  };
  if (annotation.size() > most_override_bytes) return unreadable("it is too long");
  boost::system::error_code wrong;
  const json::value read = json::parse(annotation, wrong);
  if (wrong || !read.is_object()) return unreadable("it is no JSON object");
  const auto text = [&](std::string_view key) {
    const json::value* v = read.get_object().if_contains(key);
    return v && v->is_string() ? std::string_view(v->get_string()) : std::string_view();
  };
  out.why = shown_text(text("why"));
  out.by = shown_text(text("by"));
  out.at = shown_text(text("at"));
  out.target = text("target");
  out.brake = text("brake");
  return out;
}

std::string annotation_of(const override_order& o) {
  return json::serialize(json::object{
      {"why", o.why}, {"by", o.by}, {"at", o.at}, {"target", o.target}, {"brake", o.brake}});
}

std::string why_void(const override_order& o, const override_facts& now) {
  if (!o.problem.empty()) return o.problem;
  if (o.why.empty()) return "it gives no reason (why)";
  const auto at = reactor::parse_rfc3339(o.at);
  if (!at) return "it does not say when it was given (at)";
  if (*at > now.now + ahead) return "it was given at " + o.at + ", which is not yet";
  if (now.now >= *at + override_lasts)
    return "it was given at " + o.at + ", and counts for " +
           reactor::format_duration(override_lasts);
  if (o.target != now.target)
    return "it was given for " + (o.target.empty() ? "no target" : shown_text(o.target));
  if (o.brake != now.brake)
    return o.brake.empty() ? "it was given before the brake was put on"
                           : "it was given for a brake that is over, or was changed since";
  return {};
}

std::string override_sentence(const override_order& o) {
  std::string text = o.by.empty() ? std::string("an order") : o.by + "'s order";
  text += o.brake.empty() ? " lets it go on over the speed limit"
                          : " lets it go on although the brake is on";
  if (const auto at = reactor::parse_rfc3339(o.at))
    text += ", until " + reactor::format_rfc3339(*at + override_lasts);
  return text + ": " + o.why;
}

}  // namespace units
