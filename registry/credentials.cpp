#include "registry/credentials.hpp"

#include "registry/url.hpp"

#include <utility>

namespace registry {

credentials::credentials(std::string_view given_for, reactor::secret authorization, tls_choice tls)
    : given_for_(given_for), all_{std::move(authorization), std::move(tls)} {}

credentials::shown credentials::for_url(std::string_view url) const {
  if (same_origin(given_for_, url)) return all_;
  shown out;
  out.tls.ca_file = all_.tls.ca_file;
  return out;
}

}  // namespace registry
