#include "app/login_helpers.hpp"

#include "app/output.hpp"
#include "reactor/plain/secret.hpp"

#include <unistd.h>

#include <string>
#include <string_view>

namespace app {

registry::helper_runner login_helpers(reactor::loop& l) {
  return registry::run_helpers(l, [](std::string_view text) {
    write_bytes(STDERR_FILENO, reactor::redact(std::string(text)));
  });
}

}  // namespace app
