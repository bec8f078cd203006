#include "bootc/pool/hold.hpp"

#include <algorithm>

namespace bootc::hold_code {

const hold_kind* find(std::string_view code) noexcept {
  const std::string_view kind = units::kind_in(code);
  for (const std::span<const hold_kind> table :
       {std::span<const hold_kind>(of_every_api), std::span<const hold_kind>(of_nodes)}) {
    const auto found = std::ranges::find(table, kind, &hold_kind::code);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

}  // namespace bootc::hold_code
