#pragma once

#include <span>
#include <string>
#include <string_view>

namespace web {

/// A file of the page, as it was built into the program from service/page/files.
struct file {
  std::string_view name;  // "page.css"
  std::string_view type;  // of its content
  std::string_view text;
  std::string tag;  // an entity tag: another one for another text
};
std::span<const file> files();
/// Null when there is none of that name.
const file* find_file(std::string_view name);

}  // namespace web
