#include "k8s/client/condition.hpp"

#include "k8s/client/events.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace k8s {
namespace {

namespace json = boost::json;

constexpr std::size_t condition_message_bytes = 32'768;  // metav1.Condition's maxLength

std::string text(const json::object& o, std::string_view field) {
  const json::value* v = o.if_contains(field);
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

}  // namespace

bool same_but_time(const condition& a, const condition& b) noexcept {
  return a.type == b.type && a.status == b.status && a.reason == b.reason &&
         a.message == b.message && a.observed_generation == b.observed_generation;
}

bool same_but_time(const std::vector<condition>& a, const std::vector<condition>& b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const condition& x, const condition& y) { return same_but_time(x, y); });
}

const condition* find_condition(const std::vector<condition>& all, std::string_view type) noexcept {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const condition& c) { return c.type == type; });
  return found == all.end() ? nullptr : &*found;
}

bool set_condition(std::vector<condition>& all, condition next, reactor::wall_time now) {
  next.message = cut_utf8(reactor::printable_lines(next.message), condition_message_bytes);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const condition& c) { return c.type == next.type; });
  if (found == all.end()) {
    next.last_transition_time = reactor::format_rfc3339(now);
    all.push_back(std::move(next));
    return true;
  }
  next.last_transition_time =
      found->status == next.status ? found->last_transition_time : reactor::format_rfc3339(now);
  const bool changed = !same_but_time(*found, next);
  *found = std::move(next);
  return changed;
}

json::array conditions_to_json(const std::vector<condition>& all) {
  json::array out;
  for (const condition& c : all) {
    json::object o{{"type", c.type},
                   {"status", c.status},
                   {"reason", c.reason},
                   {"message", c.message},
                   {"lastTransitionTime", c.last_transition_time}};
    if (c.observed_generation != 0) o["observedGeneration"] = c.observed_generation;
    out.push_back(std::move(o));
  }
  return out;
}

std::vector<condition> conditions_from_json(const json::value& list) {
  std::vector<condition> out;
  if (!list.is_array()) return out;
  for (const json::value& one : list.get_array()) {
    if (!one.is_object()) continue;
    const json::object& o = one.get_object();
    condition c;
    c.type = text(o, "type");
    if (c.type.empty()) continue;
    c.status = text(o, "status");
    c.reason = text(o, "reason");
    c.message = text(o, "message");
    c.last_transition_time = text(o, "lastTransitionTime");
    const json::value* g = o.if_contains("observedGeneration");
    if (g && g->is_int64()) c.observed_generation = g->get_int64();
    out.push_back(std::move(c));
  }
  return out;
}

std::vector<condition> parse_conditions(wire_value list) {
  std::vector<condition> out;
  list.elements([&](wire_value c) {
    condition one;
    const auto [type, status, reason, message, since, generation] =
        c.fields("type", "status", "reason", "message", "lastTransitionTime", "observedGeneration");
    one.type = type.text();
    one.status = status.text();
    one.reason = reason.text();
    one.message = message.text();
    one.last_transition_time = since.text();
    one.observed_generation = generation.integer();
    if (!one.type.empty()) out.push_back(std::move(one));
  });
  return out;
}

}  // namespace k8s
