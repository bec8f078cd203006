#pragma once

#include "policies/host/hook.hpp"
#include "reactor/plain/result.hpp"

#include <map>
#include <string>

namespace cli {

/// The files of a pack that answers one hook: policy.lua, policy_test.lua, README.md, and the
/// editor's annotations.
/// Errors   errc::malformed: the name is none. errc::not_found: no such hook, or nothing to begin
///          with; the text names the hooks there are.
reactor::result<std::map<std::string, std::string>> new_pack(const std::string& name,
                                                             const std::string& hook_name,
                                                             const policies::hook_list& hooks);

}  // namespace cli
