#include "releases/commands/train_diff.hpp"

#include "releases/commands/train_document.hpp"
#include "releases/commands/train_view.hpp"

#include <boost/json.hpp>

#include <map>
#include <set>
#include <utility>

namespace cli {
namespace {

using policies::value;

template <class Visit>
void each(const value& document, std::string_view list, Visit&& visit) {
  if (const value::array* all = document.list_of(list))
    for (const value& one : *all) visit(one);
}

/// What both documents know of commits.
class commits {
public:
  commits(const value& former, const value& later) {
    for (const value* d : {&former, &later}) {
      each(*d, "tags", [&](const value& t) {
        if (!t.text_of("commit").empty())
          tags_[{t.text_of("project"), t.text_of("tag")}] = t.text_of("commit");
      });
      each(*d, "ancestry", [&](const value& a) {
        const std::string project = a.text_of("project");
        distances_[{project, of(project, a.text_of("from")), of(project, a.text_of("to"))}] = {
            a.text_of("ahead"), a.text_of("behind")};
      });
    }
  }
  std::string of(const std::string& project, const std::string& name) const {
    const auto found = tags_.find({project, name});
    return found == tags_.end() ? name : found->second;
  }
  std::string how(const std::string& project, const std::string& from,
                  const std::string& to) const {
    if (from.empty() || to.empty()) return {};
    const std::string a = of(project, from), b = of(project, to);
    if (a == b) return "same commit";
    if (const auto found = distances_.find({project, a, b}); found != distances_.end())
      return in_words(found->second.first, found->second.second);
    if (const auto found = distances_.find({project, b, a}); found != distances_.end())
      return in_words(found->second.second, found->second.first);
    return {};
  }

private:
  static std::string in_words(const std::string& ahead, const std::string& behind) {
    if (behind == "0") return "ahead " + ahead;
    return ahead == "0" ? "behind " + behind : "diverged";
  }
  struct triple {
    std::string project, from, to;
    auto operator<=>(const triple&) const = default;
  };
  std::map<std::pair<std::string, std::string>, std::string> tags_;
  std::map<triple, std::pair<std::string, std::string>> distances_;
};

using by_name = std::map<std::string, const value*>;

by_name named(const value& document, std::string_view list, std::string (*name)(const value&)) {
  by_name all;
  each(document, list, [&](const value& one) { all.emplace(name(one), &one); });
  return all;
}

std::set<std::string> names_of(const by_name& a, const by_name& b) {
  std::set<std::string> all;
  for (const by_name* of : {&a, &b})
    for (const auto& [name, one] : *of) all.insert(name);
  return all;
}

std::string text_in(const by_name& of, const std::string& name, std::string_view field) {
  const auto found = of.find(name);
  return found == of.end() ? std::string() : found->second->text_of(field);
}

}  // namespace

std::vector<train_change> changes_of(const value& former, const value& later) {
  const commits known(former, later);
  std::vector<train_change> all;
  const auto changed = [&](std::string what, const std::string& from, const std::string& to,
                           std::string how) {
    if (from != to) all.push_back({std::move(what), from, to, std::move(how)});
  };
  const auto name = [](const value& p) { return p.text_of("name"); };
  const by_name before = named(former, "projects", name), after = named(later, "projects", name);
  for (const std::string& project : names_of(before, after)) {
    const std::string subject = "project/" + project;
    if (!before.contains(project) || !after.contains(project))
      all.push_back({subject, before.contains(project) ? "is in the train" : "",
                     after.contains(project) ? "is in the train" : "", ""});
    for (const char* field : {"release", "candidate", "digest", "protocol", "evidence"}) {
      const bool is_commit = std::string_view(field) == "candidate";
      const std::string from = text_in(before, project, field), to = text_in(after, project, field);
      changed(subject + " " + field, from, to,
              is_commit ? known.how(project, from, to) : std::string());
    }
  }
  const by_name pinned = named(former, "pins", pin_key), pins = named(later, "pins", pin_key);
  for (const std::string& pin : names_of(pinned, pins)) {
    const std::string from = text_in(pinned, pin, "value"), to = text_in(pins, pin, "value");
    changed("pin/" + pin, from, to, known.how(text_in(pins, pin, "project"), from, to));
    changed("pin/" + pin + " image", text_in(pinned, pin, "image"), text_in(pins, pin, "image"),
            "");
  }
  return all;
}

page changes_text(const std::vector<train_change>& changes) {
  if (changes.empty()) return page("  nothing changed\n");
  table rows({"WHAT", "FROM", "TO", ""});
  for (const train_change& c : changes)
    rows.row({c.what, with_short_commits(c.from), with_short_commits(c.to), c.how});
  return rows.text("  ", output_columns());
}

boost::json::array changes_json(const std::vector<train_change>& changes) {
  boost::json::array all;
  for (const train_change& c : changes)
    all.push_back(
        boost::json::object{{"what", c.what}, {"from", c.from}, {"to", c.to}, {"how", c.how}});
  return all;
}

}  // namespace cli
