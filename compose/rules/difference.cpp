#include "compose/rules/difference.hpp"

#include "reactor/plain/printable.hpp"

#include <set>

namespace policies::compose {
namespace {

constexpr std::size_t most_lines = 40, longest = 60;
const value nothing;

bool is_nothing(const value& v) {
  if (v.is_null()) return true;
  if (const auto* list = std::get_if<value::array>(&v.data)) return list->empty();
  if (const auto* members = std::get_if<value::object>(&v.data)) {
    for (const auto& [key, member] : *members)
      if (!is_nothing(member)) return false;
    return true;
  }
  return false;
}

const std::string* item_name(const value& v) {
  const value* name = v.find("name");
  return name == nullptr ? nullptr : name->if_string();
}

/// Every element has a name, and no two the same.
bool is_named(const value::array& list) {
  std::set<std::string> names;
  for (const value& one : list) {
    const std::string* name = item_name(one);
    if (name == nullptr || !names.insert(*name).second) return false;
  }
  return !list.empty();
}

const value* named(const value::array& list, const std::string& name) {
  for (const value& one : list) {
    const std::string* its = item_name(one);
    if (its != nullptr && *its == name) return &one;
  }
  return nullptr;
}

class comparison {
public:
  explicit comparison(std::vector<std::string>* lines) : lines_(lines) {}

  bool covers(const value& there, const value& asked) {
    const auto* members = std::get_if<value::object>(&asked.data);
    // An empty table asks for nothing; what is there stays. An empty list asks for no entries.
    if (asked.is_null() || (members != nullptr && members->empty())) return true;
    if (there.is_null() && is_nothing(asked)) return true;
    if (members != nullptr && there.if_object() != nullptr) {
      bool fine = true;
      for (const auto& [key, member] : *members) {
        const value* found = there.find(key);
        const auto length = path_.size();
        if (lines_ != nullptr)
          path_ += (path_.empty() ? "" : ".") + reactor::printable(key, longest);
        fine = covers(found == nullptr ? nothing : *found, member) && fine;
        path_.resize(length);
        if (!fine && lines_ == nullptr) return false;
      }
      return fine;
    }
    const auto* list = std::get_if<value::array>(&asked.data);
    if (list != nullptr && there.if_array() != nullptr) return covers(*there.if_array(), *list);
    if (there == asked) return true;
    differ(there, asked);
    return false;
  }

private:
  bool covers(const value::array& there, const value::array& asked) {
    const bool by_name = is_named(asked) && (there.empty() || is_named(there));
    bool fine = by_name || there.size() == asked.size();
    if (!fine) differ(value(there), value(asked));
    if (!fine) return false;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const value* found = by_name ? named(there, *item_name(asked[i])) : &there[i];
      const auto length = path_.size();
      if (lines_ != nullptr)
        path_ += by_name ? "[" + reactor::printable(*item_name(asked[i]), longest) + "]"
                         : "[" + std::to_string(i) + "]";
      fine = covers(found == nullptr ? nothing : *found, asked[i]) && fine;
      path_.resize(length);
      if (!fine && lines_ == nullptr) return false;
    }
    return fine;
  }

  void differ(const value& there, const value& asked) {
    if (lines_ == nullptr) return;
    lines_->push_back(path_ + ": " + (there.is_null() ? "nothing" : shown(there)) + " → " +
                      shown(asked));
  }

  std::vector<std::string>* lines_;
  std::string path_;  // where differences are written down
};

}  // namespace

std::string shown(const value& v) {
  if (const std::string* text = v.if_string())
    return "\"" + reactor::printable(*text, longest) + "\"";
  return reactor::printable(to_text(v), longest);
}

bool covers(const value& there, const value& asked) {
  return comparison(nullptr).covers(there, asked);
}

bool same(const value& a, const value& b) {
  if (is_nothing(a) || is_nothing(b)) return is_nothing(a) && is_nothing(b);
  const auto *x = std::get_if<value::object>(&a.data), *y = std::get_if<value::object>(&b.data);
  if (x != nullptr && y != nullptr) {
    for (const auto& [key, member] : *x) {
      const value* other = b.find(key);
      if (!same(member, other == nullptr ? nothing : *other)) return false;
    }
    for (const auto& [key, member] : *y)
      if (a.find(key) == nullptr && !is_nothing(member)) return false;
    return true;
  }
  const auto *p = std::get_if<value::array>(&a.data), *q = std::get_if<value::array>(&b.data);
  if (p != nullptr && q != nullptr) {
    if (p->size() != q->size()) return false;
    for (std::size_t i = 0; i < p->size(); ++i)
      if (!same((*p)[i], (*q)[i])) return false;
    return true;
  }
  return a == b;
}

value merge_patch_between(const value& from, const value& to) {
  const auto *before = std::get_if<value::object>(&from.data),
             *after = std::get_if<value::object>(&to.data);
  if (before == nullptr || after == nullptr) {
    if (same(from, to)) return {};
    // What is a list there stays one when it becomes empty.
    if (is_nothing(to) && std::holds_alternative<value::array>(from.data)) return value::array{};
    return to;
  }
  value::object patch;
  for (const auto& [key, member] : *after) {
    const value* old = from.find(key);
    if (old == nullptr) {
      if (!is_nothing(member)) patch.emplace(key, member);
    } else if (!same(*old, member)) {
      patch.emplace(key, merge_patch_between(*old, member));
    }
  }
  for (const auto& [key, member] : *before)
    if (!is_nothing(member) && !after->contains(key)) patch.emplace(key, value());
  return patch.empty() ? value() : value(std::move(patch));
}

std::vector<std::string> differences(const value& there, const value& asked) {
  std::vector<std::string> lines;
  (void)comparison(&lines).covers(there, asked);
  if (lines.size() > most_lines) {
    const std::size_t more = lines.size() - most_lines;
    lines.resize(most_lines);
    lines.push_back("and " + std::to_string(more) + " more");
  }
  return lines;
}

}  // namespace policies::compose
