// Targets, origins, proxies and NO_PROXY: any text, and what was read can be written again.
#include "reactor/http/client.hpp"
#include "reactor/http/message.hpp"
#include "reactor/http/proxy.hpp"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reactor::http;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const target_parts parts = split_target(text);
  std::string again = parts.path;
  for (std::size_t n = 0; n < parts.query.size(); ++n)
    again += (n == 0 ? "?" : "&") + encode_component(parts.query[n].first) + "=" +
             encode_component(parts.query[n].second);
  if (split_target(again).query != parts.query) std::abort();
  if (decode_component(encode_component(text)) != text) std::abort();
  std::string path;
  if (const auto o = parse_origin(text, &path)) {
    const auto twice = parse_origin(o->text() + path);
    if (!twice || *twice != *o) std::abort();
  }
  (void)parse_proxy({reactor::secret(std::string(text))});
  const origin to{true, "10.0.0.1", 443};
  (void)proxy_from_environment(to, [&](std::string_view name) {
    return name == "HTTPS_PROXY" ? std::string("http://proxy:3128") : std::string(text);
  });
  return 0;
}
