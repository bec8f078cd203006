#include "reactor/http/warnings.hpp"

#include <optional>
#include <string_view>

namespace reactor::http {
namespace {

/// Takes a quoted text from the front of `rest`; none where it is not one.
std::optional<std::string> take_quoted(std::string_view& rest) {
  if (!rest.starts_with('"')) return std::nullopt;
  std::string text;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    char c = rest[i];
    if (c == '"') {
      rest.remove_prefix(i + 1);
      return text;
    }
    if (c == '\\' && ++i < rest.size()) c = rest[i];
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) text += c;
  }
  return std::nullopt;
}

void skip_spaces(std::string_view& rest) {
  while (rest.starts_with(' ') || rest.starts_with('\t')) rest.remove_prefix(1);
}

/// "299 - ": the code and the agent. False for another code, or without an agent.
bool take_head(std::string_view& rest) {
  constexpr std::string_view code = "299 ";
  if (!rest.starts_with(code)) return false;
  rest.remove_prefix(code.size());
  const std::size_t agent = rest.find_first_of(" \"");
  if (agent == 0 || agent == rest.npos || rest[agent] != ' ') return false;
  rest.remove_prefix(agent + 1);
  return true;
}

}  // namespace

std::vector<std::string> warnings_in(const headers& fields) {
  std::vector<std::string> out;
  for (const auto& [name, value] : fields) {
    if (!reactor::http::same_name(name, "Warning")) continue;
    std::string_view rest = value;
    for (skip_spaces(rest); take_head(rest); skip_spaces(rest)) {
      auto text = take_quoted(rest);
      if (!text) break;
      if (!text->empty()) out.push_back(*std::move(text));
      skip_spaces(rest);
      if (std::string_view date = rest; take_quoted(date)) rest = date;
      skip_spaces(rest);
      if (!rest.starts_with(',')) break;
      rest.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace reactor::http
