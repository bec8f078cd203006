#pragma once

#include "k8s/sim/objects/json.hpp"
#include "reactor/plain/result.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace k8s::sim {

/// A rule of x-kubernetes-validations, in the part of CEL that CRDs commonly use: literals, lists,
/// fields and indices, `? :`, `||`, `&&`, `!`, comparisons, `in`, arithmetic on integers, has(),
/// size(), type(), int(), string(), matches(), startsWith(), endsWith(), contains(), and the macros
/// all() and exists().
/// Source  cel-spec, langdef.md; KEP-2876.
class rule {
public:
  /// Errors: a sentence: what is no CEL, or not of the part above.
  static reactor::result<rule, std::string> compile(std::string_view text);

  /// Looks at the state before an update, and is not asked where there is none.
  bool is_transition() const noexcept { return transition_; }
  /// Whether it holds. Errors: a sentence: it cannot be evaluated, which a server refuses as well.
  reactor::result<bool, std::string> holds(const json::value& self,
                                           const json::value* before) const;

  struct node;

private:
  std::shared_ptr<const node> top_;
  bool transition_ = false;
};

}  // namespace k8s::sim
