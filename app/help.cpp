#include "app/help.hpp"

#include "app/output.hpp"

#include <algorithm>

namespace app {
namespace {

using entry = help_page::entry;

constexpr std::size_t line_columns = 80, first_screen_lines = 23, most_flags = 10,
                      name_columns = 28;

/// "seconds to wait", of "seconds to wait; 0 = for ever (default: 15)".
std::string first_clause(const std::string& text) {
  std::size_t end = text.size();
  for (const char* mark : {"; ", ": ", " (", " ["}) end = std::min(end, text.find(mark));
  return text.substr(0, end);
}

std::string wrapped(const std::string& text, std::size_t hang) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += folded(page(text.substr(begin, end - begin)), line_columns, hang).text() + "\n";
    begin = end + 1;
  }
  return out;
}

/// Names beside what is said of them; a long name has its words below it.
std::string columns_of(const std::vector<entry>& all, help_extent how) {
  std::size_t width = 0;
  for (const entry& e : all)
    if (const std::size_t w = page(e.name).width(); w <= name_columns) width = std::max(width, w);
  std::string out;
  for (const entry& e : all) {
    const std::string about = how == help_extent::all ? e.about : first_clause(e.about);
    const std::size_t own = page(e.name).width();
    std::string line = "  " + e.name;
    if (own > width)
      out += wrapped(line, 4), line = std::string(width + 4, ' ') + about;
    else
      line += std::string(width - own + 2, ' ') + about;
    const std::size_t indent = width + 4;
    bool first = true;
    for (std::size_t at = 0; at < line.size();) {
      // Broken by hand: what follows stands below the words, not below the name.
      const std::string piece = first ? line : std::string(indent, ' ') + line.substr(at);
      if (page(piece).width() <= line_columns) {
        out += piece + "\n";
        break;
      }
      const std::string cut = folded(page(piece), line_columns, 0).text();
      const std::string kept = cut.substr(0, cut.find('\n'));
      out += kept + "\n";
      at = first ? kept.size() : at + kept.size() - indent;
      while (at < line.size() && line[at] == ' ') ++at;
      first = false;
    }
  }
  return out;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// The names alone, in as many lines as they take.
std::string names_of(const std::vector<entry>& all) {
  std::string out;
  for (const entry& e : all) out += (out.empty() ? "" : ", ") + e.name;
  return wrapped("  " + out, 0);
}

std::string usage_of(const help_page& p) {
  std::string out = p.path;
  for (const entry& a : p.arguments) out += a.matters ? " " + a.name : " [" + a.name + "]";
  if (!p.commands.empty()) out += p.flags.empty() ? " COMMAND" : " [COMMAND]";
  if (!p.flags.empty()) out += " [flags]";
  return wrapped(out, 4);
}

/// Those that matter, then the command's own.
std::vector<entry> chosen_flags(const help_page& p) {
  std::vector<entry> out;
  for (const bool marked : {true, false})
    for (const entry& f : p.flags)
      if (out.size() < most_flags && f.matters == marked && (marked || f.section.empty()))
        out.push_back(f);
  return out;
}

std::string first_screen(const help_page& p) {
  std::string out = usage_of(p) + "\n" + wrapped(p.about, 0);
  const std::size_t blank = p.footer.find("\n\n");
  const std::string examples = p.footer.substr(0, blank);
  if (!examples.empty()) out += "\n" + wrapped(examples, 4);
  if (!p.commands.empty()) {
    std::string list = columns_of(p.commands, help_extent::first_screen);
    const bool fits = lines_in(out) + lines_in(list) + 3 <= first_screen_lines;
    out += "\nCommands:\n" + (fits ? std::move(list) : names_of(p.commands)) + "`" + p.path +
           " COMMAND --help` says more of one.\n";
    if (p.flags.empty()) return out;
  }
  if (!p.arguments.empty()) out += "\n" + columns_of(p.arguments, help_extent::first_screen);
  std::vector<entry> flags = chosen_flags(p);
  const std::string ending =
      "`" + p.path + " --help-all` has " +
      (p.flags.empty() ? std::string("no more") : "all " + std::to_string(p.flags.size())) +
      " flags.\n";
  while (!flags.empty() &&
         lines_in(out) + 2 + lines_in(columns_of(flags, help_extent::first_screen)) + 1 >
             first_screen_lines)
    flags.pop_back();
  if (!flags.empty()) out += "\nFlags:\n" + columns_of(flags, help_extent::first_screen);
  return out + ending;
}

}  // namespace

std::string help_text(const help_page& p, help_extent how) {
  if (how == help_extent::first_screen) return first_screen(p);
  std::string out = usage_of(p) + "\n" + wrapped(p.about, 0);
  if (!p.commands.empty()) out += "\nCommands:\n" + columns_of(p.commands, how);
  if (!p.arguments.empty()) out += "\nArguments:\n" + columns_of(p.arguments, how);
  std::vector<std::string> sections = {""};
  for (const entry& f : p.flags)
    if (std::ranges::find(sections, f.section) == sections.end()) sections.push_back(f.section);
  for (const std::string& section : sections) {
    std::vector<entry> some;
    std::ranges::copy_if(p.flags, std::back_inserter(some),
                         [&](const entry& f) { return f.section == section; });
    if (!some.empty())
      out += "\n" + (section.empty() ? "Flags" : section) + ":\n" + columns_of(some, how);
  }
  if (!p.footer.empty()) out += "\n" + wrapped(p.footer, 4);
  return out;
}

}  // namespace app
