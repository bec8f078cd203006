#include "helm/commands/help.hpp"

#include "helm/go.hpp"

#include <algorithm>

namespace helm {
namespace {

constexpr std::size_t width = 80, widest_flag = 34;

/// Words in lines that begin at a column, behind what stands in the first line already.
std::string folded(std::string line, std::size_t column, std::string_view words) {
  std::string out;
  if (line.size() + 2 > column) {
    out = line + "\n";
    line.clear();
  }
  line.resize(column, ' ');
  bool first = true;
  for (const auto& word : split(words, " ")) {
    if (!first && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line.assign(column, ' ');
      first = true;
    }
    if (!first) line += ' ';
    line += word;
    first = false;
  }
  while (line.ends_with(' ')) line.pop_back();
  return out + line + "\n";
}

/// "  -n, --namespace string"
std::string flag_start(const flag_info& f) {
  return "  " + (f.brief ? "-" + std::string(1, f.brief) + ", " : "    ") + "--" + f.name +
         (f.type.empty() || f.type.starts_with("string[") ? "" : " ") +
         f.type.substr(f.type.starts_with("string[") ? 6 : 0);
}

template <class Wanted>
std::string flag_lines(const std::vector<flag_info>& flags, Wanted wanted) {
  std::size_t column = 0;
  for (const flag_info& f : flags)
    if (wanted(f)) column = std::max(column, std::min(flag_start(f).size() + 3, widest_flag));
  std::string out;
  for (const flag_info& f : flags) {
    if (!wanted(f)) continue;
    const std::string fallback = f.fallback.empty() ? "" : " (default " + f.fallback + ")";
    out += folded(flag_start(f), column, f.about + fallback);
  }
  return out;
}

std::string section(const std::string& heading, const std::string& lines) {
  return lines.empty() ? std::string() : "\n" + heading + "\n" + lines;
}

std::string usage_line(const verb& v, std::string_view rest) {
  return "Usage: windlass helm " + std::string(v.name) +
         (v.takes.empty() ? "" : " " + std::string(v.takes)) + std::string(rest) + "\n";
}

std::string names_line(const verb& v) {
  return v.others.empty() ? std::string()
                          : "Also called: " + replace_all(std::string(v.others), " ", ", ") + "\n";
}

std::string verb_lines(const std::vector<const verb*>& some) {
  std::string out;
  for (const verb* v : some)
    if (v->family != verb_family::refused) out += folded("  " + std::string(v->name), 22, v->about);
  return out;
}

}  // namespace

std::string refusal_of(const verb& v) {
  return "helm " + std::string(v.name) + " is not supported by windlass: " + std::string(v.about);
}

std::string help_text() {
  std::vector<const verb*> top;
  for (const verb& v : verbs())
    if (words_of(v) == 1) top.push_back(&v);
  return "Render, check, install, fetch and publish Helm charts as Helm " +
         std::string(stock_version) + " does.\nUsage: windlass helm COMMAND ARGUMENTS\n\n" +
         verb_lines(top) +
         "\nThe flags of a command: windlass helm COMMAND --help\n"
         "What of Helm is not here, and why: docs/helm.md\n"
         "\nExamples:\n"
         "  windlass helm template NAME cert-manager.tgz -f values.yaml\n"
         "  windlass helm show values ./chart\n"
         "  windlass helm lint ./chart\n"
         "  windlass helm upgrade --install web ./chart --atomic -n shops\n"
         "  windlass helm verify ./chart -f values.yaml\n";
}

std::string help_of(const verb& group) {
  return "windlass helm " + std::string(group.name) + ": " + std::string(group.about) + "\n" +
         usage_line(group, " COMMAND [flags]") + names_line(group) + "\n" +
         verb_lines(verbs_in(group));
}

std::string help_of(const verb& v, const std::vector<flag_info>& flags) {
  using use = flag_info::use;
  std::string without_effect;
  for (const flag_info& f : flags)
    if (f.is == use::ignored) without_effect += (without_effect.empty() ? "--" : ", --") + f.name;
  std::string out = "windlass helm " + std::string(v.name) + ": " + std::string(v.about) + "\n" +
                    usage_line(v, flags.empty() ? "" : " [flags]") + names_line(v);
  out += section("Flags:", flag_lines(flags, [](const flag_info& f) {
                   return f.is == use::works && !f.general;
                 }));
  out += section("Flags of every command:", flag_lines(flags, [](const flag_info& f) {
                   return f.is == use::works && f.general;
                 }));
  if (!without_effect.empty())
    out += section("Taken, and without effect:", folded("", 2, without_effect));
  out += section("Not supported:",
                 flag_lines(flags, [](const flag_info& f) { return f.is == use::refused; }));
  return out;
}

std::string reference_text(const std::function<std::vector<flag_info>(const verb& v)>& flags_of) {
  std::string out =
      "# Helm's verbs and flags\n\n"
      "What `windlass helm` takes of Helm " +
      std::string(stock_version) +
      ". Made by `windlass helm help --reference`; a test says when it is older than the program, "
      "and the live suite "
      "compares it with the stock `helm`: what that has stands here.\n\n"
      "*works*: as Helm does it. *no effect*: it is taken so that command lines keep working. "
      "*refused*: exit code 2 "
      "and the sentence behind it.\n\n";
  std::string general;
  for (const verb& v : verbs()) {
    if (is_group(v) && v.family != verb_family::refused) continue;
    out += "## helm " + std::string(v.name) + "\n\n";
    if (v.family == verb_family::refused) {
      out += "*refused*: " + std::string(v.about) + ".\n\n";
      continue;
    }
    out += std::string(v.about) + ".";
    if (!v.others.empty())
      out += " Also `" + replace_all(std::string(v.others), " ", "`, `") + "`.";
    out += "\n\n";
    std::string rows;
    for (const flag_info& f : flags_of(v)) {
      const char* is = f.is == flag_info::use::works     ? "works"
                       : f.is == flag_info::use::ignored ? "no effect"
                                                         : "refused";
      const std::string row = "| " + (f.brief ? "`-" + std::string(1, f.brief) + "` " : "") +
                              "`--" + f.name + "` | " + is + " | " + f.about + " |\n";
      if (!f.general) rows += row;
      if (f.general && v.name == "install") general += row;
    }
    const std::string head = "| flag | | |\n| --- | --- | --- |\n";
    if (!rows.empty()) out += head + rows + "\n";
  }
  return out + "## Flags of every command\n\n| flag | | |\n| --- | --- | --- |\n" + general;
}

}  // namespace helm
