#include "bootc/condition.hpp"

#include <algorithm>

namespace bootc {

const condition* find_condition(const std::vector<condition>& all, std::string_view type) noexcept {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const condition& c) { return c.type == type; });
  return at == all.end() ? nullptr : &*at;
}

std::string_view condition_status(const std::vector<condition>& all,
                                  std::string_view type) noexcept {
  const condition* found = find_condition(all, type);
  return found ? std::string_view(found->status) : "Unknown";
}

void set_condition(std::vector<condition>& all, condition wanted, reactor::wall_time now) {
  wanted.message = clipped(std::move(wanted.message));
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const condition& c) { return c.type == wanted.type; });
  if (at == all.end()) {
    wanted.last_transition_time = reactor::format_rfc3339(now);
    all.push_back(std::move(wanted));
    return;
  }
  wanted.last_transition_time =
      at->status == wanted.status ? at->last_transition_time : reactor::format_rfc3339(now);
  *at = std::move(wanted);
}

std::vector<condition> parse_conditions(k8s::wire_value list) {
  std::vector<condition> out;
  list.elements([&](k8s::wire_value c) {
    condition one;
    one.type = c["type"].text();
    one.status = c["status"].text();
    one.reason = c["reason"].text();
    one.message = c["message"].text();
    one.last_transition_time = c["lastTransitionTime"].text();
    one.observed_generation = c["observedGeneration"].integer();
    out.push_back(std::move(one));
  });
  return out;
}

std::string clipped(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

}  // namespace bootc
