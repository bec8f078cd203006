#include "formats/plain/path.hpp"

#include "formats/plain/text.hpp"

#include <utility>
#include <vector>

namespace formats {

std::string base_name(std::string_view p) {
  if (p.empty()) return ".";
  while (!p.empty() && p.back() == '/') p.remove_suffix(1);
  if (auto slash = p.rfind('/'); slash != p.npos) p.remove_prefix(slash + 1);
  return p.empty() ? "/" : std::string(p);
}

std::string clean_path(std::string_view path) {
  if (path.empty()) return ".";
  bool rooted = path[0] == '/';
  std::vector<std::string> parts;
  for (auto& p : split(path, "/")) {
    if (p.empty() || p == ".") continue;
    if (p == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (p != ".." || !rooted) {
      parts.push_back(std::move(p));
    }
  }
  std::string out = rooted ? "/" : "";
  for (std::size_t i = 0; i < parts.size(); ++i) out += (i > 0 ? "/" : "") + parts[i];
  return out.empty() ? "." : out;
}

}  // namespace formats
