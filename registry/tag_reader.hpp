#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/secret.hpp"
#include "registry/client.hpp"
#include "registry/image_ref.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace registry {

struct tag_reader_options {
  /// "HOST[:PORT]" of registries and mirrors that are asked by plain HTTP when they cannot be
  /// verified or speak no TLS. Logins go there unprotected, so each one is named.
  std::vector<std::string> insecure_registries;
  std::map<std::string, std::string> mirrors;  // "quay.io" → "mirror.example:5000", asked first
  std::vector<std::string> token_realms;       // hosts that may issue tokens for any registry
  std::string ca_file;                         // trusted instead of the system's; empty = these
};

/// A pull secret: the text of `.dockerconfigjson`, and a name for it that changes with it (its
/// hash).
struct pull_secret {
  std::string id;
  reactor::secret config;
  std::string problem = {};  // why there is no text; the registry is asked without a login
};

/// Labels of an image's configuration and annotations of its manifests, by name.
using image_labels = std::map<std::string, std::string>;

/// Where tags are looked up; the seam by which tests and simulations answer for registries.
class tag_source {
public:
  virtual ~tag_source() = default;
  /// The digest that the tag names now, or the reference's own once the registry has shown that it
  /// is there; `known` is what the tag named last time. `with` null = anonymous.
  virtual awaitable<answer<std::string>> digest_of(image_ref of, std::string known,
                                                   std::shared_ptr<const pull_secret> with) = 0;
  /// The labels of the image that the reference's digest names; of an image for several
  /// architectures those of the first. Empty where no registry can be asked.
  virtual awaitable<answer<image_labels>> labels_of(image_ref, std::shared_ptr<const pull_secret>) {
    co_return image_labels();
  }
  /// There are no more questions: connections are closed. It may be asked again.
  virtual awaitable<void> rest() { co_return; }
};

/// Looks tags up in registries.
/// Mirrors  are asked first; one that fails is no reason for the registry itself not to be asked.
/// Logins   of the secret's longest matching path; tokens only from the registry's own domain or
///          those allowed.
/// Errors   registry::fault; its text names the request, never a credential. A refusal also says
///          which login was shown, or why there was none.
/// Lifetime loop and web outlive it.
class tag_reader final : public tag_source {
public:
  tag_reader(reactor::loop& l, web& w, tag_reader_options options);
  awaitable<answer<std::string>> digest_of(image_ref of, std::string known,
                                           std::shared_ptr<const pull_secret> with) override;
  awaitable<answer<image_labels>> labels_of(image_ref of,
                                            std::shared_ptr<const pull_secret> with) override;
  awaitable<void> rest() override;

private:
  enum class transport { tls, plain };
  struct found {
    std::string digest;
    image_labels labels;
  };
  /// What a registry is asked.
  using question =
      std::function<awaitable<answer<found>>(std::shared_ptr<client> through, oci_reference of)>;
  awaitable<answer<found>> ask_mirror_first(image_ref of, question q,
                                            std::shared_ptr<const pull_secret> with);
  awaitable<answer<found>> ask(std::string host, image_ref of, question q,
                               std::shared_ptr<const pull_secret> with);
  awaitable<answer<found>> ask_by(transport how, oci_reference of, question q, registry_login login,
                                  std::string credential, std::string shown);
  static awaitable<answer<found>> digest_by(std::shared_ptr<client> through, oci_reference of,
                                            std::string known);
  awaitable<answer<found>> read_labels(std::shared_ptr<client> through, oci_reference of);
  std::shared_ptr<client> client_for(transport how, const std::string& host, registry_login login,
                                     const std::string& credential);

  reactor::loop& loop_;
  web& web_;
  tag_reader_options options_;
  std::map<std::string, std::shared_ptr<client>> clients_;  // they keep tokens
};

}  // namespace registry
