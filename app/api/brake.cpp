#include "app/api/brake.hpp"

#include "formats/plain/text.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <utility>

namespace units {
namespace {

constexpr std::size_t most_shown = 300;

std::string_view text_of(const brake_data& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view without_blanks(std::string_view text) {
  return formats::trim_set(text, " \t\r\n");
}

std::string shown(std::string_view text) {
  return reactor::printable(without_blanks(text), most_shown);
}

/// "bootc, tenants" into `to`; what is wrong with it, or empty.
std::string read_names(std::string_view text, const std::vector<std::string>& apis,
                       std::vector<std::string>& to) {
  while (!without_blanks(text).empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string name(without_blanks(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (name.empty()) continue;
    if (std::ranges::find(apis, name) == apis.end())
      return "its key only names \"" + shown(name) + "\", which is no API";
    to.push_back(name);
  }
  return {};
}

}  // namespace

brake_order unread_brake(std::string problem) {
  brake_order out;
  out.is_on = true;
  out.problem = std::move(problem);
  return out;
}

brake_order read_brake(const brake_data& object, const std::vector<std::string>& apis) {
  brake_order out;
  out.why = shown(text_of(object, brake_key::why));
  out.by = shown(text_of(object, brake_key::by));
  out.since = shown(text_of(object, brake_key::since));
  const std::string_view state = without_blanks(text_of(object, brake_key::state));
  if (state == "off") return out;
  out.is_on = true;
  const auto not_understood = [&](std::string problem) {
    out.only.clear();
    out.selector = {};
    out.problem = std::move(problem);
    return out;
  };
  if (!object.contains(brake_key::state)) return not_understood("it has no key state");
  if (state != "on")
    return not_understood("its key state says \"" + shown(state) + "\", neither on nor off");
  for (const std::string_view key : {brake_key::only, brake_key::selector})
    if (text_of(object, key).size() >= most_brake_bytes)
      return not_understood("its key " + std::string(key) + " is too long");
  if (std::string wrong = read_names(text_of(object, brake_key::only), apis, out.only);
      !wrong.empty())
    return not_understood(std::move(wrong));
  auto selector = k8s::label_selector::parse(without_blanks(text_of(object, brake_key::selector)));
  if (!selector) return not_understood("its key selector: " + shown(selector.error()));
  out.selector = std::move(*selector);
  return out;
}

std::string brake_sentence(const brake_order& o) {
  std::string text = "the brake is on";
  if (!o.since.empty()) text += " since " + o.since;
  if (!o.by.empty()) text += ", by " + o.by;
  if (!o.why.empty()) text += ": " + o.why;
  if (!o.problem.empty())
    text +=
        "; the ConfigMap " + std::string(brake_object) + " stops everything, since " + o.problem;
  return text;
}

std::optional<stop> brake::stops(std::string_view api, const k8s::string_map& cluster) const {
  if (!order_.is_on) return std::nullopt;
  if (!order_.only.empty() && std::ranges::find(order_.only, api) == order_.only.end())
    return std::nullopt;
  if (!order_.selector.matches(cluster)) return std::nullopt;
  stop h;
  h.code = hold_code::braked.code;
  h.sentence = brake_sentence(order_);
  h.released_by = hold_code::braked.released;
  h.since = order_.since;
  h.brake = order_.version;
  return h;
}

bool brake::set(brake_order now) {
  if (now == order_) return false;
  order_ = std::move(now);
  return true;
}

}  // namespace units
