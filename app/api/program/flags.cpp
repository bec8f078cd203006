#include "units/program/flags.hpp"

#include "units/program/settings_file.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <optional>

namespace program {
namespace {

std::optional<reactor::nanoseconds> interval_of(const std::string& text) {
  constexpr double longest = 366.0 * 24 * 3600;
  double number = 0;
  const auto [stopped, failed] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (failed == std::errc() && stopped == text.data() + text.size()) {
    if (!(number >= 0.001 && number <= longest)) return std::nullopt;
    return reactor::nanoseconds(static_cast<std::int64_t>(number * 1e9));
  }
  const auto parsed = reactor::parse_duration(text);
  const bool fits = parsed && *parsed >= std::chrono::milliseconds(1) &&
                    *parsed <= std::chrono::seconds(static_cast<std::int64_t>(longest));
  return fits ? std::optional(*parsed) : std::nullopt;
}

}  // namespace

void add_logging(CLI::App& app, std::string& level, std::string& format) {
  app.add_option("--log-level,--zap-log-level", level, "debug, info, warning, error or off")
      ->capture_default_str();
  app.add_option("--log-format,--zap-encoder", format, "console or json")
      ->check(CLI::IsMember({"console", "json"}))
      ->capture_default_str();
}

void add_config(CLI::App& app, std::string& file) {
  app.add_option("--config", file,
                 "YAML file with the same settings by their long names; flags win over it")
      ->option_text("FILE");
}

void add_interval(CLI::App& app, const std::string& names, reactor::nanoseconds& to,
                  const std::string& about, const std::string& shown) {
  const auto check = [](const std::string& text) {
    if (interval_of(text)) return std::string();
    return "\"" + text + "\" is no duration above zero, such as 30s, 5m or 1h30m";
  };
  app.add_option_function<std::string>(
         names, [&to](const std::string& text) { to = interval_of(text).value(); }, about)
      ->check(CLI::Validator(check, "", "interval"))
      ->default_str(shown);
}

with_file with_settings(const std::vector<std::string>& words, std::size_t commands,
                        const CLI::App& command, const std::string& file) {
  with_file out;
  auto settings = load_settings(file);
  if (!settings) {
    out.problem = settings.error().message();
    return out;
  }
  const auto flags = words.begin() + static_cast<std::ptrdiff_t>(commands);
  out.words.assign(words.begin(), flags);
  for (const file_setting& s : *settings) {
    const CLI::Option* option = command.get_option_no_throw("--" + s.flag);
    if (option == nullptr || s.flag == "config" || s.flag == "help") {
      out.left_out.push_back(s.flag);
      continue;
    }
    if (option->count() > 0) continue;
    // A list is the flag given again and again, where it may be, or else one value with commas.
    std::string joined;
    for (const std::string& one : s.values)
      if (option->get_items_expected_max() > 1)
        out.words.push_back("--" + s.flag + "=" + one);
      else
        joined += (joined.empty() ? "" : ",") + one;
    if (option->get_items_expected_max() <= 1) out.words.push_back("--" + s.flag + "=" + joined);
    out.taken.insert(option->get_lnames().front());
  }
  out.words.insert(out.words.end(), flags, words.end());
  return out;
}

}  // namespace program
