#include "reactor/plain/hide.hpp"

namespace reactor {
namespace {

constexpr std::size_t shortest_hidden = 6;
constexpr std::size_t longest_shown = 7;  // so much of the beginning of a longer one says nothing
constexpr std::string_view hidden = "***";

}  // namespace

void hide(std::string& text, std::string_view secret) {
  if (secret.size() < shortest_hidden) return;
  const std::string_view begin = secret.substr(0, longest_shown + 1);
  for (std::size_t at = 0; (at = text.find(begin, at)) != text.npos; at += hidden.size()) {
    std::size_t n = begin.size();
    while (n < secret.size() && at + n < text.size() && text[at + n] == secret[n]) ++n;
    text.replace(at, n, hidden);
  }
}

}  // namespace reactor
