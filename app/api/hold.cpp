#include "app/api/hold.hpp"

namespace units {

std::string_view text(hold_nature n) noexcept {
  switch (n) {
    case hold_nature::turn: return "waits its turn";
    case hold_nature::progress: return "in progress";
    case hold_nature::trouble: return "trouble";
  }
  return "";
}

}  // namespace units
