#include "app/process.hpp"

#include "reactor/loop.hpp"
#include "reactor/plain/entropy.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>

namespace app {

void declare_logging(app::flags& f, std::string& level, std::string& format) {
  f.value("--log-level,--zap-log-level", level, "debug, info, warning, error or off")
      .shows_default();
  f.value("--log-format,--zap-encoder", format, "console or json")
      .one_of({"console", "json"})
      .shows_default();
}

reactor::result<std::optional<reactor::endpoint>> parse_bind_address(const std::string& text,
                                                                     const std::string& flag) {
  if (text == "0") return std::optional<reactor::endpoint>();
  const auto bad = [&] {
    return reactor::make_fault(reactor::errc::malformed, "--" + flag + " " + text,
                               "expected HOST:PORT, :PORT, or 0 to turn it off");
  };
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return bad();
  reactor::endpoint at;
  at.host = text.substr(0, colon);
  if (at.host.starts_with('[') && at.host.ends_with(']'))
    at.host = at.host.substr(1, at.host.size() - 2);
  if (at.host.empty()) at.host = "0.0.0.0";
  const char* first = text.data() + colon + 1;
  const char* last = text.data() + text.size();
  const auto [end, ec] = std::from_chars(first, last, at.port);
  if (first == last || ec != std::errc{} || end != last) return bad();
  return std::optional<reactor::endpoint>(at);
}

reactor::result<reactor::logger> logger_from(reactor::loop& l, const std::string& level,
                                             const std::string& format) {
  auto parsed = reactor::parse_log_level(level);
  if (!parsed) return parsed.error();
  reactor::log_options o;
  o.level = *parsed;
  o.format = format == "json" ? reactor::log_format::json : reactor::log_format::console;
  return reactor::make_logger(l, o);
}

std::string host_identity() {
  if (const char* pod = std::getenv("POD_NAME"); pod && *pod) return pod;
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "windlass";
}

const std::string& process_identity() {
  static const std::string identity = [] {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string random(8, '0');
    std::uint64_t drawn = reactor::system_entropy().next();
    for (char& c : random) c = digits[drawn % 16], drawn /= 16;
    return host_identity() + "-" + random;
  }();
  return identity;
}

}  // namespace app
