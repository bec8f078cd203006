#include "fleetwide/kinds/rollout.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace fleetwide {
namespace {

constexpr std::size_t most_clusters = 1'000'000;

std::optional<share> read_share(k8s::wire_value v) {
  share out;
  if (v.kind() == k8s::wire_kind::number) {
    const std::int64_t n = v.integer();
    if (n < 0 || n > static_cast<std::int64_t>(most_clusters)) return std::nullopt;
    out.value = static_cast<std::size_t>(n);
    return out;
  }
  std::string_view text = v.text();
  out.is_percent = text.ends_with('%');
  if (out.is_percent) text.remove_suffix(1);
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out.value);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  if (out.value > (out.is_percent ? 100 : most_clusters)) return std::nullopt;
  return out;
}

}  // namespace

std::size_t share::up(std::size_t of) const noexcept {
  return is_percent ? (of * value + 99) / 100 : value;
}

std::size_t share::down(std::size_t of) const noexcept {
  return is_percent ? of * value / 100 : value;
}

rollout_settings rollout_settings::parse(k8s::wire_value v) {
  rollout_settings out;
  const auto [waves, most, failures, soak, on_failure] =
      v.fields("waves", "maxClusters", "maxFailures", "soak", "onFailure");
  const auto wrong = [&](std::string_view field, const std::string& why) {
    if (out.problem.empty()) out.problem = "spec.rollout." + std::string(field) + " " + why;
  };
  const auto take = [&](share& to, k8s::wire_value from, std::string_view field) {
    if (!from.present()) return;
    if (const auto read = read_share(from))
      to = *read;
    else
      wrong(field, from.json() + " is neither a number nor a share like \"10%\"");
  };
  take(out.max_clusters, most, "maxClusters");
  take(out.max_failures, failures, "maxFailures");
  if (soak.present()) {
    const auto read = reactor::parse_duration(std::string(soak.text()));
    if (read && *read >= reactor::nanoseconds::zero())
      out.soak = *read;
    else
      wrong("soak", soak.json() + " is no duration like \"10m\"");
  }
  const std::string_view answer = on_failure.text();
  out.goes_back = answer == "Return";
  if (!answer.empty() && answer != "Halt" && answer != "Return")
    wrong("onFailure", on_failure.json() + " is neither Halt nor Return");
  out.wave_label = waves["label"].text();
  waves["values"].elements([&](k8s::wire_value name) { out.waves.emplace_back(name.text()); });
  if (out.wave_label.empty() && !out.waves.empty()) wrong("waves", "has values and no label");
  if (std::set(out.waves.begin(), out.waves.end()).size() != out.waves.size())
    wrong("waves.values", "names a value twice");
  return out;
}

std::size_t rollout_settings::wave_of(std::string_view value) const {
  return static_cast<std::size_t>(std::ranges::find(waves, value) - waves.begin());
}

std::string rollout_settings::wave_name(std::size_t wave) const {
  if (wave < waves.size()) return waves[wave];
  return waves.empty() ? "all" : "others";
}

}  // namespace fleetwide
