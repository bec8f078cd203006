#pragma once

#include "reactor/awaitable.hpp"
#include "registry/fault.hpp"
#include "registry/manifest.hpp"
#include "registry/reference.hpp"
#include "registry/session.hpp"
#include "registry/web.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace registry {

/// A manifest as it came out of a registry; its bytes have the digest that its descriptor says.
struct stored_manifest {
  oci_manifest content;
  descriptor itself;
  std::string bytes;
};

/// What the login has to allow: a tag that is asked for before it is written needs the right to
/// write, since token servers give nothing for `pull` of a repository that is not there yet.
enum class needed_rights { pull, push };

/// The largest blob that is carried from one repository to another through this process.
inline constexpr std::size_t carried_bytes_limit = 256u << 20;

/// The OCI distribution API of one registry after the other; knows neither charts nor images of
/// nodes.
/// Bounds   tags: 100,000 names of 4 MiB; manifests 4 MiB, where only the digest is wanted 1 MiB,
///          50,000 values; blobs as the caller says; each request its own deadline.
/// Errors   registry::fault, by what the caller does next; its text is complete.
/// Lifetime loop and web outlive this.
class client {
public:
  client(reactor::loop& l, web& w, client_options options);

  /// Asks for the API's root: whether the login is accepted.
  awaitable<answer<void>> ping(std::string host);
  /// All tags, as the registry lists them.
  awaitable<answer<std::vector<std::string>>> tags(oci_reference of);

  /// What the registry says that a manifest's digest is, without its bytes: nothing of it is
  /// proved. "" = it does not say.
  awaitable<answer<std::string>> promised_digest(oci_reference of);
  /// The digest that a tag names now; `known` is what it named last time, or empty. While that is
  /// still so this is one request without a body; else, and where the registry serves no HEAD, the
  /// manifest's bytes are read and have the digest that is returned. Of an image for several
  /// architectures it is the index's.
  /// Errors   also errc::altered, as manifest().
  awaitable<answer<std::string>> current_digest(oci_reference of, std::string known,
                                                needed_rights rights = needed_rights::pull);
  /// A reference without tag and digest means the tag "latest".
  /// Errors   errc::altered when the bytes have another digest than the reference or the registry
  ///          itself says.
  awaitable<answer<stored_manifest>> manifest(oci_reference from);
  /// Errors   errc::malformed for a blob larger than the limit, errc::altered for other bytes than
  ///          described.
  awaitable<answer<std::string>> blob(oci_reference from, descriptor d, std::size_t limit_bytes,
                                      reactor::nanoseconds timeout = download_timeout);

  /// Uploads a blob unless it is there already.
  /// Errors   errc::refused when the registry wants it to go to another host.
  awaitable<answer<void>> put_blob(oci_reference to, descriptor d, std::string bytes);
  /// Makes a blob of another repository of that registry part of this one. Where the registry does
  /// not mount it, its bytes are read and uploaded.
  /// Errors   errc::malformed for a blob larger than carried_bytes_limit that is not mounted.
  awaitable<answer<void>> carry_blob(oci_reference to, std::string from_repository, descriptor d);
  /// Stores an image manifest under the reference's tag and returns its digest.
  awaitable<answer<std::string>> put_manifest(oci_reference to, std::string text);
  /// The same for any manifest, under the reference's digest where it has one.
  awaitable<answer<std::string>> put_manifest(oci_reference to, std::string text, std::string type);

private:
  /// The bytes go to the upload that the registry has opened.
  awaitable<answer<void>> upload(oci_reference to, web_answer opened, std::string digest,
                                 std::string bytes, reactor::nanoseconds timeout);

  reactor::loop& loop_;
  session session_;
  std::set<std::string> without_head_;  // registries that refuse HEAD of manifests they serve
};

}  // namespace registry
