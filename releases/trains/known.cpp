#include "releases/trains/known.hpp"

#include "releases/trains/train.hpp"

namespace policies::trains {
namespace {

constexpr std::string_view name_key = "train: ";

std::string_view without_v(std::string_view name) {
  if (name.starts_with('v')) name.remove_prefix(1);
  return name;
}

std::string_view name_in(std::string_view text) {
  const std::size_t at = text.find(name_key) + name_key.size();
  return text.substr(at, text.find('\n', at) - at);
}

/// A project's release where its commit was tagged, else the commit.
std::string version_of(const value& project) {
  const std::string release = project.text_of("release");
  return release.empty() ? project.text_of("candidate") : release;
}

value row_of(const value& train) {
  value::object row{{"train", train.text_of("train")}};
  for (const value& project : *train.list_of("projects")) {
    const std::string name = project.text_of("name");
    if (name == "Kata") row["bundle"] = project.text_of("release");
    const std::string side = name == "guest-components" ? "client"
                             : name == "Trustee"        ? "server"
                                                        : "";
    if (side.empty()) continue;
    row[side] = version_of(project);
    row[side + "_commit"] = project.text_of("candidate");
    row[side + "_protocol"] = project.text_of("protocol");
  }
  return row;
}

}  // namespace

const std::string* known_train(std::string_view name) {
  for (const std::string& text : known_train_texts())
    if (without_v(name_in(text)) == without_v(name)) return &text;
  return nullptr;
}

value::array known_train_rows() {
  value::array rows;
  for (const std::string& text : known_train_texts())
    if (auto train = read_train(text, std::string(name_in(text)))) rows.push_back(row_of(*train));
  return rows;
}

}  // namespace policies::trains
