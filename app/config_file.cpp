#include "app/config_file.hpp"

#include "formats/yaml/yaml.hpp"
#include "reactor/system/files.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <optional>

namespace app {
namespace {

namespace json = boost::json;

std::optional<std::string> as_flag_value(const json::value& v) {
  if (const json::string* text = v.if_string()) return std::string(*text);
  if (v.is_bool() || v.is_number()) return json::serialize(v);
  return std::nullopt;
}

/// Empty when it is nothing that a flag can be given.
std::vector<std::string> as_flag_values(const json::value& v) {
  std::vector<std::string> all;
  const auto add = [&](const json::value& one) {
    auto text = as_flag_value(one);
    if (text) all.push_back(std::move(*text));
    return text.has_value();
  };
  if (const json::array* list = v.if_array()) {
    if (!std::ranges::all_of(*list, add)) all.clear();
  } else {
    (void)add(v);
  }
  return all;
}

}  // namespace

reactor::result<std::vector<file_setting>> load_settings(const std::string& path) {
  constexpr std::size_t most = 1024 * 1024;
  const auto wrong = [&](const std::string& why) {
    return make_fault(reactor::errc::malformed, "reading " + path, why);
  };
  auto text = reactor::load_file(path, most);
  if (!text) return text.error();
  auto read = formats::parse_kubernetes_yaml(*text, path);
  if (!read) return read.error();
  const json::object* entries = read->if_object();
  if (entries == nullptr)
    return wrong("expected a mapping of flag names to values, such as \"log-format: json\"");
  std::vector<file_setting> settings;
  for (const auto& [flag, value] : *entries) {
    std::vector<std::string> all = as_flag_values(value);
    if (all.empty())
      return wrong("\"" + std::string(flag) +
                   "\": expected a text, number, boolean or list of them");
    settings.push_back({std::string(flag), std::move(all)});
  }
  return settings;
}

}  // namespace app
