#pragma once

#include "k8s/merge/strategic_merge.hpp"

#include <cstddef>
#include <optional>

namespace k8s {

/// What lists need while strategic patches are made and applied. `key` names the member that tells
/// objects apart; it is empty for scalars.

enum class list_of { objects, scalars };
/// What the elements of these lists are, all of one JSON type. Refuses lists of lists, mixtures and
/// no elements.
merge_result<list_of> elements_of(const boost::json::array& a, const boost::json::array& b);
bool same_json_type(const boost::json::value& a, const boost::json::value& b);
/// "expected a string, but received a int64"
merge_refusal wrong_type(const boost::json::value& wanted, const boost::json::value& is);

/// `{…, "$patch": "delete"}`
bool is_deletion(const boost::json::value& element);
/// An element's merge key. Refuses an element without one.
merge_result<const boost::json::value*> key_of_element(const boost::json::value& element,
                                                       const std::string& key);
/// The position of the element with this key; none when there is no such element.
merge_result<std::optional<std::size_t>> find_element(const boost::json::array& list,
                                                      const std::string& key,
                                                      const boost::json::value& wanted);
bool contains(const boost::json::array& list, const boost::json::value& v);
/// Keeps one of each scalar. As in Go the last element takes the place of a repeated one.
void remove_repetitions(boost::json::array& list);

/// Puts elements in the order in which `order` has them; deletions come last.
merge_result<boost::json::array> in_order(boost::json::array list, const boost::json::array& order,
                                          const std::string& key, list_of what);
/// A merged list in its final order: elements that `order` names as it has them, the others where
/// the server had them.
merge_result<boost::json::array> arrange(boost::json::array merged, const boost::json::array& order,
                                         const boost::json::array& server_order,
                                         const std::string& key, list_of what);
/// Refuses a patch whose elements stand in another order than the order list names them.
merge_result<bool> check_order(const boost::json::array& patch, const boost::json::array& order,
                               const std::string& key);

/// A value as Go prints it with %v: "80", "map[a:1]".
std::string printed(const boost::json::value& v);

}  // namespace k8s
