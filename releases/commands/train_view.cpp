#include "releases/commands/train_view.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace cli {
namespace {

using policies::value;
using policies::releases::finding;
using policies::releases::severity;

constexpr std::size_t commit_digits = 40, shown_digits = 8;

struct seen_pin {
  std::string holder, project, field, value;
  std::string is;  // what was found of it
};

/// "ahead 5" of a pin that is somewhere else, the finding's name of others: "pin-in-sync".
std::string word_for(const finding& f) {
  if (f.id == "train.pin-mismatch") {
    const std::size_t colon = f.why.rfind(": ");
    if (colon != f.why.npos) return f.why.substr(colon + 2);
  }
  return f.id.substr(f.id.find('.') + 1);
}

std::vector<seen_pin> pins_of(const value& train, const std::vector<finding>& findings) {
  std::map<std::string, std::string> found;
  for (const finding& f : findings) {
    if (!f.subject.starts_with("pin/") || f.how == severity::info) continue;
    std::string& words = found[f.subject];
    words += (words.empty() ? "" : ", ") + word_for(f);
  }
  std::vector<seen_pin> all;
  const value::array* list = train.list_of("pins");
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    const value& one = (*list)[i];
    seen_pin p{one.text_of("holder"),
               one.text_of("project"),
               one.text_of("field"),
               one.text_of("value"),
               {}};
    if (p.holder.empty() || p.project.empty()) continue;  // the policy says so
    if (const auto said = found.find("pin/" + p.holder + "/" + p.project + "." + p.field);
        said != found.end())
      p.is = said->second;
    all.push_back(std::move(p));
  }
  // One order whatever the document's is, and each pin once.
  const auto key = [](const seen_pin& p) {
    return std::tie(p.holder, p.project, p.field, p.value, p.is);
  };
  std::sort(all.begin(), all.end(),
            [&](const seen_pin& a, const seen_pin& b) { return key(a) < key(b); });
  all.erase(std::unique(all.begin(), all.end(),
                        [&](const seen_pin& a, const seen_pin& b) { return key(a) == key(b); }),
            all.end());
  return all;
}

bool is_hexadecimal(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

}  // namespace

std::string with_short_commits(const std::string& text) {
  std::string out = text;
  for (std::size_t at = 0; at + commit_digits <= out.size(); ++at) {
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(at);
    if (std::all_of(begin, begin + commit_digits, is_hexadecimal))
      out.erase(at + shown_digits, commit_digits - shown_digits);
  }
  return out;
}

page pin_matrix(const value& train, const std::vector<finding>& findings, colours tint) {
  std::map<std::string, std::map<std::string, page>> cells;
  std::set<std::string> projects;
  for (const seen_pin& p : pins_of(train, findings)) {
    page& cell = cells[p.holder][p.project];
    if (!cell.empty()) cell += ", ";
    cell += p.field + " " + with_short_commits(p.value);
    if (!p.is.empty()) cell += page(" ") + toned("(" + p.is + ")", tone::bad, tint);
    projects.insert(p.project);
  }
  if (cells.empty()) return {};
  std::vector<page> head{"PINNED BY"};
  for (const std::string& project : projects) head.push_back(project);
  table rows(head);
  for (auto& [holder, of] : cells) {
    std::vector<page> row{holder};
    for (const std::string& project : projects) row.push_back(of[project]);
    rows.row(std::move(row));
  }
  return rows.text("  ", output_columns());
}

boost::json::array pins_json(const value& train, const std::vector<finding>& findings) {
  boost::json::array all;
  for (const seen_pin& p : pins_of(train, findings))
    all.push_back(boost::json::object{{"holder", p.holder},
                                      {"project", p.project},
                                      {"field", p.field},
                                      {"value", p.value},
                                      {"is", p.is}});
  return all;
}

}  // namespace cli
