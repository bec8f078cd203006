#include "policies/host/hook.hpp"

#include "policies/host/hooks/hook_version.hpp"
#include "policies/host/record/record.hpp"
#include "policies/host/signals/declaration.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace policies {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : std::string(between)) + word;
  return out;
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string with_unit(const shape_member& m) {
  std::string text = m.about;
  if (!m.unit.empty()) text += (text.empty() ? "" : "; ") + m.unit;
  return text;
}

/// Every record within a shape, innermost last, each name once.
void collect(const shape& s, std::vector<const shape*>& records) {
  if (s.is == shape::kind::record) {
    const bool known = std::any_of(records.begin(), records.end(),
                                   [&](const shape* r) { return r->name == s.name; });
    if (!known) records.push_back(&s);
    if (known) return;
  }
  for (const shape& inner : s.of) collect(inner, records);
  for (const shape_member& m : s.members) collect(m.is, records);
}

// ---------------------------------------------------------------- for people

std::string words_for(const shape& s) {
  switch (s.is) {
    case shape::kind::any: return "any";
    case shape::kind::flag: return "boolean";
    case shape::kind::number: return "number";
    case shape::kind::text:
      return s.words.empty() ? "string" : "`\"" + joined(s.words, "\"`, `\"") + "\"`";
    case shape::kind::list: return "list of " + words_for(s.of.front());
    case shape::kind::map: return "by name, " + words_for(s.of.front());
    case shape::kind::record: return "[" + s.name + "](#" + s.name + ")";
    case shape::kind::either: {
      std::string out;
      for (const shape& form : s.of) out += (out.empty() ? "" : " or ") + words_for(form);
      return out;
    }
  }
  return {};
}

std::string heading_link(std::string text) {
  const auto at = text.find("](#");
  if (at == std::string::npos) return text;
  for (std::size_t i = at + 3; i < text.size() && text[i] != ')'; ++i)
    text[i] = text[i] == ' ' ? '-' : static_cast<char>(std::tolower(text[i]));
  return text;
}

void table_of(std::string& out, const std::vector<shape_member>& members, bool answer) {
  out += "| field | is | |\n|---|---|---|\n";
  for (const shape_member& m : members) {
    out += "| `" + m.name + "` | " + heading_link(words_for(m.is)) +
           (m.optional && !answer ? ", or nil" : "") + (!m.optional && answer ? ", required" : "") +
           " | " + with_unit(m) + " |\n";
  }
  out += "\n";
}

// ---------------------------------------------------------------- for editors

std::string class_name(const std::string& name) {
  std::string out = "windlass.";
  for (const char c : name) out += c == ' ' || c == '-' ? '_' : c;
  return out;
}

std::string type_of(const shape& s) {
  switch (s.is) {
    case shape::kind::any: return "any";
    case shape::kind::flag: return "boolean";
    case shape::kind::number: return "number";
    case shape::kind::text:
      return s.words.empty() ? "string" : "\"" + joined(s.words, "\"|\"") + "\"";
    case shape::kind::list: {
      const std::string inner = type_of(s.of.front());
      return (inner.find('|') == std::string::npos ? inner : "(" + inner + ")") + "[]";
    }
    case shape::kind::map: return "table<string, " + type_of(s.of.front()) + ">";
    case shape::kind::record: return class_name(s.name);
    case shape::kind::either: {
      std::string out;
      for (const shape& form : s.of) out += (out.empty() ? "" : "|") + type_of(form);
      return out;
    }
  }
  return {};
}

void class_of(std::string& out, const std::string& name, const std::vector<shape_member>& members,
              bool exact) {
  out += std::string("---@class ") + (exact ? "(exact) " : "") + name + "\n";
  for (const shape_member& m : members) {
    const std::string about = with_unit(m);
    out += "---@field " + m.name + (m.optional ? "? " : " ") + type_of(m.is) +
           (about.empty() ? "" : " " + about) + "\n";
  }
  out += "\n";
}

std::vector<const shape*> records_of(const hook& h, bool of_answer) {
  std::vector<const shape*> records;
  if (of_answer) {
    collect(h.answer, records);
  } else {
    for (const shape_member& a : h.arguments) collect(a.is, records);
  }
  return records;
}

}  // namespace

const hook* find_hook(const hook_list& all, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const hook& h) { return h.name == name; });
  return found == all.end() ? nullptr : &*found;
}

value plain_argument(const std::vector<argument>& question, std::size_t at) {
  return at < question.size() ? plain_of(question[at]) : value();
}

value names_of(const hook_list& all) {
  value::object families;
  for (const hook& h : all) {
    value& family = families[h.family()];
    if (family.is_null()) family = value::array();
    std::get<value::array>(family.data).emplace_back(h.function());
  }
  return families;
}

value arguments_of(const hook_list& all) {
  value::object hooks;
  for (const hook& h : all) {
    if (!h.is_described()) {
      if (h.takes) hooks[h.name] = value::object();
      continue;
    }
    value::array arguments;
    for (const shape_member& a : h.arguments)
      arguments.push_back(
          value::object{{"name", a.name}, {"is", described(a.is)}, {"optional", a.optional}});
    hooks[h.name] = value::object{{"arguments", std::move(arguments)}};
  }
  return hooks;
}

std::string reference_page(const hook_list& all) {
  std::string out =
      "# Hooks\n\n<!-- Made by `windlass policy reference` from the descriptions in the program; a "
      "test says when it is "
      "older. -->\n\n"
      "A pack answers questions, its hooks. Arguments are read-only views: a field that does not "
      "exist is an error, not "
      "nil. What an answer may not have is refused with its place.\n\n"
      "A pack says which version of the hooks it is for, `api = " +
      std::to_string(hook_versions.back().number) +
      "` in the table that `policy.lua` returns; one that says none is for the newest. Another one "
      "is refused, with what changed.\n\n| version | since | what a pack has to change "
      "|\n|---|---|---|\n";
  for (const hook_version& v : hook_versions)
    out += "| " + std::to_string(v.number) + (v.number < oldest_hook_version ? ", refused" : "") +
           " | " + std::string(v.since) + " | " + std::string(v.changed) + " |\n";
  out += "\n";
  std::set<std::string> told;
  for (const hook& h : all) {
    if (!h.is_described()) continue;
    std::vector<std::string> names;
    for (const shape_member& a : h.arguments) names.push_back(a.name);
    out += "## `" + h.name + "(" + joined(names, ", ") + ")`\n\n" + capital(h.question) + "\n\n";
    out += "* **asked** " + h.asked + "\n* **a pack that fails:** " + h.failure +
           "\n* **may take** " + h.budget + "\n\n";
    if (!h.declares.name.empty()) {
      out += "`policy.lua` says beside it `" + h.declares.name + "`, " + h.declares.about + ":\n\n";
      table_of(out, h.declares.is.members, true);
    }
    out += "Arguments:\n\n";
    table_of(out, h.arguments, false);
    if (h.answer.is == shape::kind::record) {
      out += "Answers a table:\n\n";
      table_of(out, h.answer.members, true);
    } else {
      out += "Answers " + words_for(h.answer) + "\n\n";
    }
    const auto tell = [&](const std::vector<const shape*>& records, bool exact) {
      for (const shape* r : records) {
        if (r == &h.answer || r == &h.declares.is || !told.insert(r->name).second) continue;
        out += "### " + r->name + "\n\n";
        table_of(out, r->members, exact);
      }
    };
    std::vector<const shape*> declared;
    if (!h.declares.name.empty()) collect(h.declares.is, declared);
    tell(declared, true);
    tell(records_of(h, false), false);
    tell(records_of(h, true), true);
  }
  const shape signals = signals_shape();
  out +=
      "## `signals` of policy.lua\n\nFacts from outside that the service fetches for the pack "
      "([signals](signals.md)): a list of tables, 16 at most.\n\n";
  table_of(out, signals.of.front().members, true);
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::string editor_types(const hook_list& all) {
  std::string out =
      "---@meta\n-- Annotations for lua-language-server: what hooks are given and answer. Made by "
      "`windlass policy types`.\n\n";
  std::set<std::string> told;
  std::map<std::string, std::vector<const hook*>> families;
  for (const hook& h : all) {
    families[h.family()].push_back(&h);
    if (!h.is_described()) continue;
    std::vector<const shape*> declared;
    if (!h.declares.name.empty()) collect(h.declares.is, declared);
    for (const shape* r : declared)
      if (told.insert(r->name).second) class_of(out, class_name(r->name), r->members, true);
    for (const bool of_answer : {false, true}) {
      for (const shape* r : records_of(h, of_answer)) {
        if (told.insert(r->name).second) class_of(out, class_name(r->name), r->members, of_answer);
      }
    }
  }
  for (const auto& [family, hooks] : families) {
    out += "---@class (exact) windlass.family." + family + "\n";
    for (const hook* h : hooks) {
      std::vector<std::string> arguments;
      for (const shape_member& a : h->arguments)
        arguments.push_back(a.name + (a.optional ? "?: " : ": ") + type_of(a.is));
      out += "---@field " + h->function() + "? " +
             (h->is_described() ? "fun(" + joined(arguments, ", ") + "): " + type_of(h->answer) +
                                      " " + h->question
                                : "function") +
             "\n";
    }
    out += "\n";
  }
  const shape signals = signals_shape();
  class_of(out, class_name(signals.of.front().name), signals.of.front().members, true);
  out +=
      "---@class (exact) windlass.applies\n---@field apis? string[]\n---@field clusters? "
      "table<string, "
      "string|string[]|boolean>\n---@field objects? table<string, string|string[]|boolean>\n\n"
      "--- What policy.lua returns.\n---@class (exact) windlass.pack\n---@field name "
      "string\n---@field version? string\n"
      "---@field api? integer the version of the hooks that it is for\n"
      "---@field order? number the lowest that applies is asked\n---@field applies? "
      "windlass.applies\n---@field signals? windlass.declared_signal[]\n";
  for (const auto& [family, hooks] : families)
    out += "---@field " + family + "? windlass.family." + family + "\n";
  std::set<std::string> declared;
  for (const hook& h : all)
    if (!h.declares.name.empty() && declared.insert(h.declares.name).second)
      out += "---@field " + h.declares.name + "? " + type_of(h.declares.is) + " " +
             h.declares.about + "\n";
  return out;
}

}  // namespace policies
