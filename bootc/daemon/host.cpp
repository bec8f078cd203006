#include "bootc/daemon/host.hpp"

namespace bootc {

std::string_view name_of(host_action action) {
  switch (action) {
    case host_action::stage: return "stage";
    case host_action::lock: return "lock";
    case host_action::reboot: return "reboot";
    case host_action::roll_back: return "roll back and reboot";
    case host_action::stay: return "stay on the booted image";
  }
  return "";
}

awaitable<reactor::result<void>> host::show_registries(std::optional<reactor::secret>) {
  co_return reactor::result<void>();
}

awaitable<std::string> host::progress() {
  co_return std::string();
}

}  // namespace bootc
