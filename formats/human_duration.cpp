#include "formats/human_duration.hpp"

#include <cstdint>

namespace formats {

std::string human_duration(reactor::nanoseconds d) {
  // The steps of k8s.io/apimachinery's HumanDuration.
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(d).count();
  auto part = [](std::int64_t n, const char* unit) { return std::to_string(n) + unit; };
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return part(seconds, "s");
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return part(minutes, "m") + (seconds % 60 ? part(seconds % 60, "s") : "");
  if (minutes < 180) return part(minutes, "m");
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return part(hours, "h") + (minutes % 60 ? part(minutes % 60, "m") : "");
  if (hours < 48) return part(hours, "h");
  if (hours < 192) return part(hours / 24, "d") + (hours % 24 ? part(hours % 24, "h") : "");
  if (hours < 24 * 365 * 2) return part(hours / 24, "d");
  if (hours < 24 * 365 * 8) {
    const std::int64_t days = (hours / 24) % 365;
    return part(hours / 24 / 365, "y") + (days ? part(days, "d") : "");
  }
  return part(hours / 24 / 365, "y");
}

}  // namespace formats
