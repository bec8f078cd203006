#pragma once

#include "reactor/plain/result.hpp"

#include <cstddef>
#include <string>

namespace cli::simulate {

/// The folder as it is before the first edit: a copy of `policies`, or, without any, a pack that
/// lets nodes go by name.
reactor::result<void> begin_edits(const std::string& folder, const std::string& policies);
/// The `nth` edit. Foreign packs get another comment and decide as before; ours goes on
/// with another order, which every second time changes with each question.
reactor::result<void> edit_policies(const std::string& folder, const std::string& policies,
                                    std::size_t nth);

}  // namespace cli::simulate
