#include "k8s/merge/strategic_lists.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace k8s {

namespace json = boost::json;

namespace {

/// What Go calls the type of a decoded value.
std::string_view go_type(const json::value& v) {
  switch (v.kind()) {
    case json::kind::object: return "map[string]interface {}";
    case json::kind::array: return "[]interface {}";
    case json::kind::string: return "string";
    case json::kind::bool_: return "bool";
    case json::kind::double_: return "float64";
    case json::kind::null: return "%!s(<nil>)";
    default: return "int64";
  }
}

merge_refusal no_merge_key(const json::value& element, const std::string& key) {
  return {"map: " + printed(element) + " does not contain declared merge key: " + key};
}

/// Equal for equal values, and seldom else.
std::string text_of_value(const json::value& v) {
  return std::string(go_type(v)) + " " + printed(v);
}

/// The ranks of elements in a list: of the first with their key, or their value; none for what is
/// not there. Lists are as long as strangers make them, so none is searched for each element.
class ranks_in {
public:
  ranks_in(const json::array& order, const std::string& key, list_of what)
      : order_(order), key_(key), what_(what) {
    for (std::size_t i = 0; i < order.size(); ++i) at_[text(order[i])].push_back(i);
  }
  std::optional<std::size_t> of(const json::value& element) const {
    const auto found = at_.find(text(element));
    if (found == at_.end()) return std::nullopt;
    const json::value* wanted = identity(element);
    for (const std::size_t i : found->second) {
      const json::value* here = identity(order_[i]);
      if (wanted ? here && *here == *wanted : !here) return i;
    }
    return std::nullopt;
  }

private:
  const json::value* identity(const json::value& v) const {
    if (what_ == list_of::scalars) return &v;
    const json::object* o = v.if_object();
    return o ? o->if_contains(key_) : nullptr;
  }
  std::string text(const json::value& v) const {
    const json::value* is = identity(v);
    return is ? text_of_value(*is) : std::string();
  }
  const json::array& order_;
  const std::string& key_;
  list_of what_;
  std::map<std::string, std::vector<std::size_t>> at_;
};

merge_result<std::optional<std::size_t>> check_keys(const json::array& list,
                                                    const std::string& key) {
  for (const json::value& element : list) {
    auto found = key_of_element(element, key);
    if (!found) return found.error();
  }
  return std::optional<std::size_t>();
}

/// Merges a list that is the patch's (already in its order) with what only the server has, which
/// keeps its place relative to the elements that both know.
json::array interleave(json::array server_only, json::array patched,
                       const json::array& server_order, const std::string& key, list_of what) {
  std::vector<std::optional<std::size_t>> left, right;
  const ranks_in ranks(server_order, key, what);
  for (const json::value& v : server_only) left.push_back(ranks.of(v));
  for (const json::value& v : patched) right.push_back(ranks.of(v));
  json::array out;
  out.reserve(server_only.size() + patched.size());
  std::size_t i = 0, j = 0;
  while (i < server_only.size() || j < patched.size()) {
    const bool server_first = j >= patched.size() || (i < server_only.size() && left[i] &&
                                                      right[j] && *left[i] < *right[j]);
    out.push_back(server_first ? std::move(server_only[i++]) : std::move(patched[j++]));
  }
  return out;
}

}  // namespace

merge_result<list_of> elements_of(const json::array& a, const json::array& b) {
  const json::value* first = nullptr;
  for (const json::array* list : {&a, &b}) {
    for (const json::value& v : *list) {
      if (!first) {
        first = &v;
        if (v.is_array()) return merge_refusal{"lists of lists are not supported", 422};
      } else if (!same_json_type(*first, v)) {
        return merge_refusal{"list element types are not identical: [" + printed(a) + " " +
                             printed(b) + "]"};
      }
    }
  }
  if (!first) return merge_refusal{"no elements in any of the given slices"};
  return first->is_object() ? list_of::objects : list_of::scalars;
}

bool same_json_type(const json::value& a, const json::value& b) {
  return go_type(a) == go_type(b);
}

bool is_deletion(const json::value& element) {
  const json::object* o = element.if_object();
  const json::value* said = o ? o->if_contains(directive::patch) : nullptr;
  return said && *said == "delete";
}

merge_result<const json::value*> key_of_element(const json::value& element,
                                                const std::string& key) {
  const json::object* o = element.if_object();
  if (!o) return wrong_type(json::object(), element);
  const json::value* found = o->if_contains(key);
  if (!found) return no_merge_key(element, key);
  return found;
}

merge_refusal wrong_type(const json::value& wanted, const json::value& is) {
  return {"expected a " + std::string(go_type(wanted)) + ", but received a " +
          std::string(go_type(is))};
}

merge_result<std::optional<std::size_t>> find_element(const json::array& list,
                                                      const std::string& key,
                                                      const json::value& wanted) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const json::object* o = list[i].if_object();
    if (!o) return merge_refusal{"value for key " + std::to_string(i) + " is not a map"};
    const json::value* have = o->if_contains(key);
    if (have && *have == wanted) return std::optional(i);
  }
  return std::optional<std::size_t>();
}

bool contains(const json::array& list, const json::value& v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

void remove_repetitions(json::array& list) {
  // The last element takes the place of each repetition, as it does in Kubernetes.
  std::map<std::string, std::set<std::size_t>> places;
  for (std::size_t i = 0; i < list.size(); ++i) places[text_of_value(list[i])].insert(i);
  for (std::size_t i = 0; i + 1 < list.size(); ++i) {
    std::set<std::size_t>& same = places[text_of_value(list[i])];
    for (auto next = same.upper_bound(i); next != same.end(); next = same.upper_bound(i)) {
      const std::size_t at = *next, last = list.size() - 1;
      same.erase(next);
      if (at != last) {
        std::set<std::size_t>& moved = places[text_of_value(list[last])];
        moved.erase(last);
        moved.insert(at);
        list[at] = std::move(list[last]);
      }
      list.pop_back();
    }
  }
}

merge_result<json::array> in_order(json::array list, const json::array& order,
                                   const std::string& key, list_of what) {
  json::array deletions;
  if (what == list_of::objects) {
    if (auto fine = check_keys(list, key); !fine) return fine.error();
    if (auto fine = check_keys(order, key); !fine) return fine.error();
    json::array others;
    for (json::value& v : list) (is_deletion(v) ? deletions : others).push_back(std::move(v));
    list = std::move(others);
  }
  const ranks_in rank(order, key, what);
  std::vector<std::optional<std::size_t>> ranks;
  for (const json::value& v : list) ranks.push_back(rank.of(v));
  if (std::ranges::all_of(ranks, &std::optional<std::size_t>::has_value)) {
    std::vector<std::size_t> sorted(list.size());
    std::iota(sorted.begin(), sorted.end(), std::size_t{0});
    std::ranges::stable_sort(sorted, {}, [&](std::size_t i) { return *ranks[i]; });
    json::array out;
    for (const std::size_t i : sorted) out.push_back(std::move(list[i]));
    for (json::value& v : deletions) out.push_back(std::move(v));
    return out;
  }
  // An insertion sort, as the comparison of what `order` does not name is none that other sorts
  // could stand.
  for (std::size_t i = 1; i < list.size(); ++i) {
    for (std::size_t j = i; j > 0; --j) {
      const bool both = ranks[j] && ranks[j - 1];
      if (both && !(*ranks[j] < *ranks[j - 1])) break;
      std::swap(list[j], list[j - 1]);
      std::swap(ranks[j], ranks[j - 1]);
    }
  }
  for (json::value& v : deletions) list.push_back(std::move(v));
  return list;
}

merge_result<json::array> arrange(json::array merged, const json::array& order,
                                  const json::array& server_order, const std::string& key,
                                  list_of what) {
  json::array patched, server_only;
  for (json::value& v : merged) {
    bool named = false;
    if (key.empty()) {
      named = contains(order, v);
    } else {
      auto mine = key_of_element(v, key);
      if (!mine) return mine.error();
      auto found = find_element(order, key, **mine);
      if (!found) return found.error();
      named = found->has_value();
    }
    (named ? patched : server_only).push_back(std::move(v));
  }
  auto first = in_order(std::move(patched), order, key, what);
  if (!first) return first.error();
  auto second = in_order(std::move(server_only), server_order, key, what);
  if (!second) return second.error();
  return interleave(std::move(*second), std::move(*first), server_order, key, what);
}

merge_result<bool> check_order(const json::array& patch, const json::array& order,
                               const std::string& key) {
  if (patch.empty() || order.empty()) return true;
  std::size_t at = 0, in_order = 0;
  json::array kept;
  for (const json::value& v : patch) {
    if (!key.empty() && !v.is_object()) return wrong_type(json::object(), v);
    if (key.empty() || !is_deletion(v)) kept.push_back(v);
  }
  while (at < kept.size() && in_order < order.size()) {
    const json::value& mine = kept[at];
    if (mine.is_object() && mine.get_object().contains(directive::patch)) {
      ++at;
      continue;
    }
    bool equal = false;
    if (key.empty()) {
      equal = mine == order[in_order];
    } else {
      auto left = key_of_element(mine, key);
      if (!left) return left.error();
      auto right = key_of_element(order[in_order], key);
      if (!right) return right.error();
      equal = **left == **right;
    }
    if (equal) ++at;
    ++in_order;
  }
  if (at < kept.size() && in_order >= order.size()) {
    return merge_refusal{"The order in patch list:\n" + printed(patch) +
                         "\n doesn't match $setElementOrder list:\n" + printed(order) + "\n"};
  }
  return true;
}

std::string printed(const json::value& v) {
  switch (v.kind()) {
    case json::kind::null: return "<nil>";
    case json::kind::bool_: return v.get_bool() ? "true" : "false";
    case json::kind::int64: return std::to_string(v.get_int64());
    case json::kind::uint64: return std::to_string(v.get_uint64());
    case json::kind::string: return std::string(v.get_string());
    case json::kind::double_: {
      char text[32];
      const auto end =
          std::to_chars(text, text + sizeof text, v.get_double(), std::chars_format::general);
      return std::string(text, end.ptr);
    }
    case json::kind::array: {
      std::string out = "[";
      for (const json::value& element : v.get_array()) {
        if (out.size() > 1) out += ' ';
        out += printed(element);
      }
      return out + "]";
    }
    case json::kind::object: {
      std::map<std::string_view, const json::value*> sorted;
      for (const auto& [name, member] : v.get_object()) sorted[name] = &member;
      std::string out = "map[";
      for (const auto& [name, member] : sorted) {
        if (out.size() > 4) out += ' ';
        out.append(name).append(":").append(printed(*member));
      }
      return out + "]";
    }
  }
  return {};
}

}  // namespace k8s
