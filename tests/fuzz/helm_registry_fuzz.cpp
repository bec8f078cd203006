#include "helm/sources/chart_manifest.hpp"
#include "registry/auth.hpp"
#include "registry/reference.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

/// What registries send: manifests, challenges, tokens; and what people write: references, logins.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace sources = helm::sources;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto m = registry::read_manifest(text, sources::media_type::image_manifest)) {
    auto all = m->layers;
    if (m->config) all.push_back(*m->config);
    static_cast<void>(sources::find_parts(all, {true, true}));
    if (m->config)
      static_cast<void>(sources::write_manifest(*m->config, m->layers, m->annotations));
  }
  if (const auto r = registry::parse_oci_reference(text)) {
    const auto again = registry::parse_oci_reference(r->text());
    if (!again || again->text() != r->text()) std::abort();
  }
  for (const auto& challenge : registry::parse_challenges(text))
    static_cast<void>(registry::token_url(
        challenge, "https://host",
        registry::scopes_to_ask("repository:x:pull", challenge.parameter("scope"))));
  static_cast<void>(registry::read_token(text));
  if (const auto login = registry::find_login(text, "host", "fuzz"); login && *login) {
    const auto stored = registry::with_login(text, "host", **login);
    if (stored && !registry::find_login(*stored, "host", "fuzz")) std::abort();
  }
  return 0;
}
