#include "helm/placed/plan/message.hpp"

#include "k8s/client/events.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/secret.hpp"

#include <cstddef>

namespace helm::placed {
namespace {

constexpr std::size_t message_limit_bytes = 1'024;

}  // namespace

std::string safe_message(std::string_view text) {
  return k8s::cut_utf8(reactor::printable_lines(reactor::redact(text)), message_limit_bytes);
}

}  // namespace helm::placed
