#include "bootc/daemon/host.hpp"

namespace bootc {

awaitable<reactor::result<void>> host::show_registries(std::optional<reactor::secret>) {
  co_return reactor::result<void>();
}

awaitable<std::string> host::progress() {
  co_return std::string();
}

}  // namespace bootc
