#include "compose/concerns.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace compose {
namespace {

const std::set<policies::compose::object_name>& in(const auto& map, const auto& key) {
  static const std::set<policies::compose::object_name> none;
  const auto found = map.find(key);
  return found == map.end() ? none : found->second;
}

}  // namespace

void concerns::put(const object_name& parent, std::set<object_name> named,
                   const std::vector<query>& asked) {
  for (const object_name& one : named_by(parent)) {
    if (named.contains(one)) continue;
    const auto with = parents_.find(one);
    with->second.erase(parent);
    if (with->second.empty()) parents_.erase(with);
  }
  for (const object_name& one : named) parents_[one].insert(parent);
  if (named.empty())
    named_.erase(parent);
  else
    named_[parent] = std::move(named);
  for (auto kind = by_labels_.begin(); kind != by_labels_.end();) {
    kind->second.erase(parent);
    kind = kind->second.empty() ? by_labels_.erase(kind) : std::next(kind);
  }
  for (const query& q : asked)
    if (q.name.empty()) by_labels_[q.kind][parent].push_back(q);
}

const std::set<concerns::object_name>& concerns::naming(const object_name& one) const {
  return in(parents_, one);
}

const std::set<concerns::object_name>& concerns::named_by(const object_name& parent) const {
  return in(named_, parent);
}

std::vector<concerns::object_name> concerns::asking(
    const object_name& one, const std::map<std::string, std::string>& labels) const {
  std::vector<object_name> out;
  const auto asked = by_labels_.find(one.kind);
  if (asked == by_labels_.end()) return out;
  for (const auto& [parent, queries] : asked->second)
    if (std::ranges::any_of(queries, [&](const query& q) { return q.matches(one, labels); }))
      out.push_back(parent);
  return out;
}

}  // namespace compose
