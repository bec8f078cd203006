#pragma once

#include "k8s/informer/intern.hpp"
#include "k8s/informer/meta.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s {

class wire_value;

/// Which labels an object must have. An empty selector selects everything; one that is `nothing`
/// selects nothing.
/// Source  Kubernetes "Labels and Selectors"; apimachinery's rules for names and values.
class label_selector {
public:
  enum class operation : unsigned char { in, not_in, exists, not_exists };
  struct requirement {
    interned key;
    operation op = operation::exists;
    std::vector<interned> values;  // sorted
    friend bool operator==(const requirement&, const requirement&) = default;
  };

  label_selector() = default;
  static label_selector nothing();

  bool matches(const string_map& labels) const;
  bool empty() const noexcept { return requirements_.empty() && !nothing_; }
  bool is_nothing() const noexcept { return nothing_; }
  const std::vector<requirement>& requirements() const noexcept { return requirements_; }
  /// As a query parameter has it: "app=web,tier in (a,b),!old".
  std::string text() const;
  friend bool operator==(const label_selector&, const label_selector&) = default;

  /// A metav1.LabelSelector (matchLabels, matchExpressions). Absent selects nothing, {} everything.
  /// Errors: a sentence that names the key and what is wrong with it.
  static reactor::result<label_selector, std::string> parse(wire_value selector);
  /// The string form of the API and of kubectl -l: "a=b", "a==b", "a!=b", "a in (b,c)", "a notin
  /// (b)", "a", "!a".
  static reactor::result<label_selector, std::string> parse(std::string_view text);

private:
  reactor::result<void, std::string> add(std::string_view key, operation op,
                                         std::vector<interned> values);
  void sort();

  std::vector<requirement> requirements_;  // sorted by key
  bool nothing_ = false;
};

/// Empty when `key` is a label key ("[prefix/]name"), else what is wrong with it.
std::string label_key_problem(std::string_view key);
/// Empty when `value` is a label value, else what is wrong with it.
std::string label_value_problem(std::string_view value);

}  // namespace k8s
