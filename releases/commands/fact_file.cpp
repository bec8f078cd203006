#include "releases/commands/fact_file.hpp"

#include "app/output.hpp"
#include "formats/yaml/places.hpp"
#include "releases/trains/train.hpp"

#include <boost/algorithm/string/replace.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;
using formats::yaml_place;
using policies::value;
using reactor::errc;
using reactor::make_fault;
using reactor::result;

/// A list of facts, the fields that say what one of them is about, and those that say nothing any
/// more where a newer fact does not have them. Every other field of an entry is the user's.
struct fact_list {
  std::string_view name;
  std::vector<std::string_view> about, volatile_fields;
};
const std::array fact_lists = {fact_list{"images", {"ref"}, {"digest", "was"}},
                               fact_list{"tags", {"project", "tag"}, {"commit", "was"}},
                               fact_list{"ancestry", {"project", "from", "to"}, {}},
                               fact_list{"pins", {"holder", "project", "field"}, {}},
                               fact_list{"projects", {"name"}, {}}};
/// A file of these alone is one of facts.
constexpr std::string_view only_facts[] = {"images", "tags", "ancestry"};

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// The lists that have a fact.
json::object found_in(const json::object& facts) {
  json::object found;
  for (const auto& [name, list] : facts)
    if (!list.get_array().empty()) found[name] = list;
  return found;
}

using identity = std::vector<std::string>;

identity identity_of(const yaml_place& fact, const fact_list& list) {
  identity all;
  for (std::string_view field : list.about) {
    const yaml_place* at = fact.find(field);
    all.push_back(at != nullptr ? at->text : std::string());
  }
  return all;
}

identity identity_of(const json::value& fact, const fact_list& list) {
  identity all;
  for (std::string_view field : list.about)
    all.emplace_back(std::string_view(fact.get_object().at(field).get_string()));
  return all;
}

/// A fact as it is written at a column: a block, or one line inside [ ].
std::string fact_text(const json::value& fact, bool flow, std::size_t column) {
  if (flow) return json::serialize(fact);
  std::string text = machine_text(fact.get_object(), output_format::yaml), made;
  while (text.ends_with('\n')) text.pop_back();
  for (const char c : text) {
    made += c;
    if (c == '\n') made.append(column, ' ');
  }
  return made;
}

struct edit {
  std::size_t begin, end;
  std::string text;
};

/// Where a line that holds `at` ends, before its line break.
std::size_t line_end(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.find('\n', at), text.size());
  return end > at && end < text.size() && text[end - 1] == '\r' ? end - 1 : end;
}

/// Adds elements to a flow collection: behind its last one, before a comment that may follow that.
edit into_flow(const yaml_place& collection, const std::string& added) {
  if (collection.items.empty()) return {collection.begin + 1, collection.begin + 1, added};
  const std::size_t at = collection.items.back().end;
  return {at, at, ", " + added};
}

std::string joined(const std::vector<json::value>& facts) {
  std::string all;
  for (const json::value& one : facts) all += (all.empty() ? "" : ", ") + json::serialize(one);
  return all;
}

/// A scalar as YAML writes it on one line.
std::string scalar_text(const std::string& text) {
  std::string line = machine_text(json::object{{"x", text}}, output_format::yaml);
  while (line.ends_with('\n')) line.pop_back();
  const bool is_plain = line.find('\n') == line.npos && line.starts_with("x: ");
  return is_plain ? line.substr(3) : json::serialize(json::value(text));
}

/// Edits one entry field by field, so that comments and the user's own fields stay.
void update_entry(const yaml_place& old, const json::object& fresh, const fact_list& of,
                  std::vector<edit>& edits) {
  const auto flow_text = [](const std::string& text) { return json::serialize(json::value(text)); };
  std::string added;
  for (const auto& [key, value] : fresh) {
    const std::string text(value.get_string());
    const yaml_place* there = old.find(key);
    if (there == nullptr) {
      // Quoted, so that JSON stays JSON.
      added += old.flow ? ", " + flow_text(std::string(key)) + ": " + flow_text(text)
                        : "\n" + std::string(old.column, ' ') + std::string(key) + ": " +
                              scalar_text(text);
    } else if (there->what == yaml_place::kind::scalar && there->text != text) {
      edits.push_back({there->begin, there->end,
                       (there->begin == there->end ? " " : "") +
                           (old.flow ? flow_text(text) : scalar_text(text))});
    }
  }
  for (std::string_view key : of.volatile_fields) {
    const yaml_place* there = old.find(key);
    if (there != nullptr && !fresh.contains(key) && !there->text.empty())
      edits.push_back({there->begin, there->end, "''"});
  }
  if (added.empty()) return;
  const std::size_t at = old.items.back().end;
  edits.push_back({at, at, std::move(added)});
}

/// Whether two entries about one thing say different things.
bool contradict(const yaml_place& a, const yaml_place& b) {
  for (std::size_t i = 0; i < a.keys.size(); ++i) {
    const yaml_place* other = b.find(a.keys[i]);
    const bool tells_only_when = a.keys[i] == "at" || a.keys[i] == "source";
    if (!tells_only_when && other != nullptr && other->text != a.items[i].text) return true;
  }
  return false;
}

std::size_t line_of(std::string_view text, const yaml_place& at) {
  const auto begin = text.begin();
  return 1 + static_cast<std::size_t>(
                 std::count(begin, begin + static_cast<std::ptrdiff_t>(at.begin), '\n'));
}

/// Puts `fresh` into a list that the text has.
result<void> update(std::string_view text, const std::string& file, const yaml_place& list,
                    const fact_list& of, std::vector<json::value> fresh, std::vector<edit>& edits) {
  const bool is_empty = list.what == yaml_place::kind::scalar && list.begin == list.end;
  if (is_empty) {
    edits.push_back({list.end, list.end, " [" + joined(fresh) + "]"});
    return {};
  }
  if (list.what != yaml_place::kind::sequence)
    return make_fault(errc::malformed, "update " + file,
                      std::string(of.name) + ": expected a list");
  std::map<identity, const yaml_place*> replaced;
  for (const yaml_place& old : list.items) {
    if (old.what != yaml_place::kind::mapping) continue;
    identity about = identity_of(old, of);
    const auto same = std::find_if(fresh.begin(), fresh.end(), [&](const json::value& f) {
      return identity_of(f, of) == about;
    });
    if (same == fresh.end()) continue;
    const auto [first, is_new] = replaced.emplace(std::move(about), &old);
    if (!is_new && contradict(*first->second, old))
      return make_fault(errc::malformed, "update " + file,
                        std::string(of.name) + ": lines " +
                            std::to_string(line_of(text, *first->second)) + " and " +
                            std::to_string(line_of(text, old)) +
                            " are about the same and differ; take the wrong one out");
    std::vector<edit> of_entry;
    update_entry(old, same->get_object(), of, of_entry);
    // In a block, what is added stands behind the comment of the last line.
    for (edit& e : of_entry) {
      if (!old.flow && e.text.starts_with('\n')) e.begin = e.end = line_end(text, e.begin);
      edits.push_back(std::move(e));
    }
  }
  std::erase_if(fresh, [&](const json::value& f) { return replaced.contains(identity_of(f, of)); });
  if (fresh.empty()) return {};
  if (list.flow) {
    edits.push_back(into_flow(list, joined(fresh)));
    return {};
  }
  std::string added;
  for (const json::value& one : fresh)
    added += "\n" + std::string(list.column, ' ') + "- " + fact_text(one, false, list.column + 2);
  const std::size_t at = line_end(text, list.end);
  edits.push_back({at, at, std::move(added)});
  return {};
}

/// A list that the text does not have yet.
edit new_list(std::string_view text, const yaml_place& root, std::string_view name,
              const json::value& facts) {
  if (root.flow)
    return into_flow(root, json::serialize(json::value(name)) + ": " + json::serialize(facts));
  const std::size_t at = line_end(text, root.end);
  json::object one;
  one[name] = facts;
  return {at, at, "\n" + std::string(root.column, ' ') + fact_text(one, false, root.column)};
}

/// A document of the user that has nothing to do with trains stays as it is.
bool takes_facts(const yaml_place& root) {
  const auto has = [&](std::string_view key) { return root.find(key) != nullptr; };
  if (has("train") || has("projects") || has("pins")) return true;
  return std::all_of(root.keys.begin(), root.keys.end(), [](const std::string& key) {
    return std::find(std::begin(only_facts), std::end(only_facts), key) != std::end(only_facts);
  });
}

identity identity_of(const value& fact, const fact_list& list) {
  identity all;
  for (std::string_view field : list.about) all.push_back(fact.text_of(field));
  return all;
}

/// What the document must say once the facts are in it: with_facts holds its text against this.
value merged(value document, const json::object& facts) {
  auto& into = std::get<value::object>(document.data);
  for (const fact_list& of : fact_lists) {
    const json::value* fresh = facts.if_contains(of.name);
    if (fresh == nullptr) continue;
    value& member = into[std::string(of.name)];
    if (member.if_array() == nullptr) member = value::array();
    auto& list = std::get<value::array>(member.data);
    const std::size_t old = list.size();
    for (const json::value& fact : fresh->get_array()) {
      const identity about = identity_of(fact, of);
      value::object fields;
      for (const auto& [key, text] : fact.get_object())
        fields[std::string(key)] = std::string(text.get_string());
      bool found = false;
      for (std::size_t i = 0; i < old; ++i) {
        auto* entry = std::get_if<value::object>(&list[i].data);
        if (entry == nullptr || identity_of(list[i], of) != about) continue;
        found = true;
        for (std::string_view key : of.volatile_fields) {
          const auto there = entry->find(key);
          if (there != entry->end() && !fields.contains(key)) there->second = std::string();
        }
        for (const auto& [key, text] : fields) (*entry)[key] = text;
      }
      if (!found) list.emplace_back(std::move(fields));
    }
  }
  return document;
}

}  // namespace

result<std::string> with_facts(std::string text, const std::string& file,
                               const json::object& asked) {
  if (text.empty()) return machine_text(asked, output_format::yaml);
  // Places are counted behind it.
  if (text.starts_with(byte_order_mark)) {
    auto rest = with_facts(text.substr(byte_order_mark.size()), file, asked);
    if (rest) rest->insert(0, byte_order_mark);
    return rest;
  }
  auto before = policies::trains::read_train(text, file);
  if (!before) return before.error();
  auto root = formats::yaml_places(text, "update " + file);
  if (!root) return root.error();
  if (!takes_facts(*root))
    return make_fault(errc::malformed, "update " + file,
                      "neither a train document (train, projects or pins) nor facts (images, tags, "
                      "ancestry)");
  const json::object facts = found_in(asked);
  if (facts.empty()) return text;
  std::vector<edit> edits;
  if (root->items.empty()) {
    edits.push_back({root->begin, root->end, fact_text(facts, false, root->column)});
  } else {
    std::vector<edit> lists;  // new ones stand behind what is added to the last of the others
    for (const fact_list& l : fact_lists) {
      const json::value* fresh = facts.if_contains(l.name);
      if (fresh == nullptr) continue;
      const yaml_place* list = root->find(l.name);
      if (list == nullptr) {
        lists.push_back(new_list(text, *root, l.name, *fresh));
        continue;
      }
      const json::array& all = fresh->get_array();
      auto done = update(text, file, *list, l, {all.begin(), all.end()}, edits);
      if (!done) return done.error();
    }
    edits.insert(edits.end(), lists.begin(), lists.end());
  }
  // The last place first, so that the others stay where they are; edits at one place keep their
  // order.
  std::stable_sort(edits.begin(), edits.end(),
                   [](const edit& a, const edit& b) { return a.begin < b.begin; });
  const std::size_t line_break = text.find('\n');
  const bool dos = line_break != text.npos && line_break > 0 && text[line_break - 1] == '\r';
  for (auto e = edits.rbegin(); e != edits.rend(); ++e) {
    if (dos) boost::algorithm::replace_all(e->text, "\n", "\r\n");
    text.replace(e->begin, e->end - e->begin, e->text);
  }
  auto after = policies::trains::read_train(text, file);
  if (!after || *after != merged(std::move(*before), facts))
    return make_fault(errc::malformed, "update " + file,
                      "its lists of facts cannot be changed where they stand (aliases or tags of "
                      "YAML): write them out");
  return text;
}

}  // namespace cli
