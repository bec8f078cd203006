#include "service/page/files.hpp"

#include "formats/digest.hpp"
#include "service/page/texts.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace web {
namespace {

struct described {
  std::string_view name, type;
};
constexpr std::string_view html = "text/html; charset=utf-8", css = "text/css; charset=utf-8",
                           script = "text/javascript; charset=utf-8";
// In the order of service/page/CMakeLists.txt.
constexpr std::array<described, 12> names = {{
    {"index.html", html},
    {"login.html", html},
    {"missing.html", html},
    {"page.css", css},
    {"login.js", script},
    {"text.js", script},
    {"live.js", script},
    {"draw.js", script},
    {"commands.js", script},
    {"timeline.js", script},
    {"page.js", script},
    {"icon.svg", "image/svg+xml"},
}};

}  // namespace

std::span<const file> files() {
  static const std::vector<file> all = [] {
    std::vector<file> made;
    for (std::size_t i = 0; i < std::min(names.size(), texts().size()); ++i) {
      const std::string& text = texts()[i];
      made.push_back({names[i].name, names[i].type, text,
                      "\"" + formats::sha256_hex(text).substr(0, 32) + "\""});
    }
    return made;
  }();
  return all;
}

const file* find_file(std::string_view name) {
  const auto found = std::ranges::find(files(), name, &file::name);
  return found == files().end() ? nullptr : &*found;
}

}  // namespace web
