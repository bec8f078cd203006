#include "app/workflow_line.hpp"

#include "reactor/plain/printable.hpp"

namespace app {
namespace {

/// A command of a workflow is one line; in its properties colons and commas mean something too.
enum class place_in_line { property, message };
std::string escaped(std::string_view text, place_in_line where) {
  std::string out;
  for (const char c : reactor::printable(text)) {
    if (c == '%') {
      out += "%25";
    } else if (where == place_in_line::property && c == ':') {
      out += "%3A";
    } else if (where == place_in_line::property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string workflow_line(std::string_view level, std::string_view file, std::string_view title,
                          std::string_view message) {
  std::string out = "::" + std::string(level) + " ";
  if (!file.empty()) out += "file=" + escaped(file, place_in_line::property) + ",";
  return out + "title=" + escaped(title, place_in_line::property) +
         "::" + escaped(message, place_in_line::message) + "\n";
}

}  // namespace app
