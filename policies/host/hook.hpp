#pragma once

#include "policies/host/sandbox.hpp"
#include "policies/host/shape.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace policies {

class pack;

/// A question to policies, said once. From it come the names that a pack may have, the strict
/// arguments and checked answers of its tests, `policy check`, the reference in docs/ and the
/// annotations of editors.
/// Shape    a domain describes its hooks beside their structs: `hook rollout_hook()`. Arguments are
///          shape_of<struct>().
struct hook {
  std::string name;                     // "rollout.plan"
  std::string question;                 // "who may start now, and why do the others wait?"
  std::string asked;                    // when: a sentence
  std::string failure;                  // what a pack that fails does: a sentence
  std::string budget;                   // "200,000 instructions and 2,000 a unit"
  std::vector<shape_member> arguments;  // of the function, in order
  shape answer;                         // any: it is not described yet
  /// What a pack that has the hook says of itself beside it, under that name; without a name:
  /// nothing.
  shape_member declares = {};
  /// Questions to a pack as they come up, for calls that only try the hook, each within
  /// `instructions`. May be empty.
  std::function<std::vector<std::vector<argument>>(const pack&)> typical;
  std::int64_t instructions = 200'000;
  /// What an answer is to: the arguments, as views or, in a test, as tables; and what the pack says
  /// in `composes`.
  struct asking {
    const std::vector<argument>& question;
    const value& composes;
  };
  /// Refuses what the caller of the hook refuses, with the same function: for tests of packs and
  /// for checks. Never empty for a hook that is asked.
  std::function<reactor::result<void>(const value& answer, const asking& of)> takes = {};
  /// The APIs whose objects it is asked about, as `applies.apis` names them; empty: not known.
  std::vector<std::string> apis = {};

  std::string family() const { return name.substr(0, name.find('.')); }
  std::string function() const { return name.substr(name.find('.') + 1); }
  bool is_described() const { return !question.empty(); }
};

/// Whether it is a fault.
template <class T>
reactor::result<void> outcome_of(const reactor::result<T>& r) {
  if (!r) return r.error();
  return {};
}

/// An argument as plain data; null where there is none.
value plain_argument(const std::vector<argument>& question, std::size_t at);

/// What a host, a check or a test knows of; nothing: every name is taken, nothing is checked.
using hook_list = std::vector<hook>;
using shared_hooks = std::shared_ptr<const hook_list>;

const hook* find_hook(const hook_list& all, std::string_view name);

/// For the sandbox's own use, a pack's: {rollout = {"plan"}}.
value names_of(const hook_list& all);
/// The same, its tests': {["rollout.plan"] = {arguments}}; without arguments where they are not
/// described.
value arguments_of(const hook_list& all);

/// docs/hooks.md
std::string reference_page(const hook_list& all);
/// policies/types/hooks.lua: annotations for the Lua language server.
std::string editor_types(const hook_list& all);

}  // namespace policies
