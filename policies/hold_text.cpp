#include "policies/hold_text.hpp"

#include <algorithm>
#include <chrono>

namespace policies {
namespace {

constexpr std::size_t max_reason_bytes = 300, max_code_bytes = 63;
constexpr reactor::nanoseconds least_wait = std::chrono::seconds(1),
                               most_wait = std::chrono::hours(24);

}  // namespace

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (text.size() > max_reason_bytes) {
    std::size_t end = max_reason_bytes - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80) --end;
    text.resize(end);
    text += "...";
  }
  return text;
}

bool is_code(std::string_view text) {
  if (text == signal_bad || text == signal_unknown) return true;
  return !text.empty() && text.size() <= max_code_bytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

shape reason_shape() {
  shape hold = record_shape(
      "hold",
      {maybe("code", text_shape(), "one word of letters and digits, for scripts and alerts"),
       {"reason", text_shape("a sentence"), "a sentence for people, one line"}});
  return either_shape("a reason or {code = …, reason = …}", {text_shape(), std::move(hold)});
}

namespace {

/// `place()` is where the reason is in the answer.
template <class Place>
reactor::result<rollout_hold> read_reason(const Place& place, const value& v) {
  const auto wrong = [&](std::string_view what) {
    return reactor::make_fault(reactor::errc::malformed, {}, place() + std::string(what));
  };
  if (const std::string* reason = v.if_string()) {
    if (std::string text = one_line(*reason); !text.empty())
      return rollout_hold{{}, std::move(text)};
    return wrong(": expected a sentence");
  }
  rollout_hold hold;
  if (const value* code = v.find("code")) {
    const std::string& text = *code->if_string();
    if (!is_code(text)) return wrong(".code: expected one word of letters and digits");
    hold.code = text;
  }
  hold.reason = one_line(*v.find("reason")->if_string());
  if (hold.reason.empty()) return wrong(".reason: expected a sentence");
  return hold;
}

}  // namespace

reactor::result<rollout_hold> read_hold(const std::string& name, const value& v) {
  return read_reason([&] { return "holds[\"" + one_line(name) + "\"]"; }, v);
}

reactor::result<rollout_hold> read_only_hold(const value& v) {
  return read_reason([] { return std::string("hold"); }, v);
}

reactor::nanoseconds bounded_wait(double seconds) {
  if (!(seconds > 0)) return reactor::nanoseconds(0);
  const double most = std::chrono::duration<double>(most_wait).count();
  const auto wait = std::chrono::duration_cast<reactor::nanoseconds>(
      std::chrono::duration<double>(std::min(seconds, most)));
  return std::max(wait, least_wait);
}

std::vector<std::shared_ptr<const rollout_input>> typical_rollouts(
    const std::vector<signal_declaration>& signals) {
  std::vector<std::shared_ptr<const rollout_input>> inputs;
  for (const bool busy : {false, true}) {
    auto input = std::make_shared<rollout_input>();
    const char* states[] = {"Pending", "Staging",  "Staged",   "Staged",  "Staged",
                            "Staged",  "UpToDate", "UpToDate", "Degraded"};
    for (const char* state : states) {
      rollout_unit u;
      const std::size_t n = input->units.size();
      u.name = "worker-" + std::to_string(n);
      u.cluster = "prod-eu";
      u.pool = "workers";
      u.state = state;
      u.zone = "zone-" + std::to_string(n % 3);
      u.labels = k8s::string_map{{"topology.kubernetes.io/zone", u.zone}, {"tier", "web"}};
      u.degraded = u.state == "Degraded";
      u.since = 1'795'000'000;
      u.image = "registry.example.com/os:1";
      u.target = "registry.example.com/os:2";
      if (n == 1) u.conditions = {"DiskPressure"};
      input->units.push_back(std::move(u));
    }
    rollout_fleet& f = input->fleet;
    if (busy) {
      input->units[3].slotted = true;
      f.in_slots = {input->units[3].name};
    }
    f.pool = "workers";
    f.cluster = "prod-eu";
    f.cluster_labels = k8s::string_map{{"env", "prod"}, {"wave", "2"}};
    f.startable = "Staged";
    f.capacity = 2;
    f.occupied = f.in_slots.size();
    f.free = busy ? 0 : 2;
    f.unit_count = input->units.size();
    f.updated = 2;
    f.degraded = 1;
    rollout_cluster other;
    other.name = "dev-eu";
    other.cluster_labels = k8s::string_map{{"env", "dev"}, {"wave", "1"}};
    other.units = other.updated = 5;
    rollout_cluster own;
    own.name = f.cluster;
    own.cluster_labels = f.cluster_labels;
    own.units = f.unit_count;
    own.updated = f.updated;
    own.degraded = f.degraded;
    f.clusters = {other, own};
    f.guards = {{"apps/v1/deployments/shop/web", {}, true, true, 3, 3},
                {"example.com/v1/alerts/ceph", {}, false, false, 0, 0}};
    f.image.kubernetes = "v1.34.2";
    f.kubernetes = {"v1.34.1", "v1.34.1"};
    f.signals = typical_signals(signals, busy ? std::nullopt : std::optional(0.5));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace policies
