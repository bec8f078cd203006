#include "helm/render/manifest_text.hpp"

namespace helm {

std::string source_block(const std::string& path, const std::string& text) {
  return "---\n# Source: " + path + "\n" + text + "\n";
}

std::string take_notes(std::map<std::string, std::string>& files, const std::string& chart_name,
                       notes_of which) {
  std::string notes;
  const auto own = chart_name + "/templates/NOTES.txt";
  for (auto at = files.begin(); at != files.end();) {
    if (!at->first.ends_with("NOTES.txt")) {
      ++at;
      continue;
    }
    if (which == notes_of::subcharts_too || at->first == own) {
      if (!notes.empty()) notes += '\n';
      notes += at->second;
    }
    at = files.erase(at);
  }
  return notes;
}

outcome<std::string> manifest_of(const sorted_manifests& sorted, std::string before,
                                 const manifest_options& how) {
  std::string out = std::move(before);
  for (const manifest& m : sorted.manifests) {
    const bool hidden = how.hide_secrets && m.kind == "Secret" && m.api_version == "v1";
    const std::string text = hidden ? "# HIDDEN: The Secret output has been suppressed" : m.content;
    if (how.put)
      how.put(m.path, text);
    else
      out += source_block(m.path, text);
  }
  if (!how.after) return out;
  return how.after(out, how.steady, how.cancelled);
}

}  // namespace helm
