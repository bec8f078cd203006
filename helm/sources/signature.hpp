#pragma once

#include "helm/go.hpp"
#include "reactor/plain/secret.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace helm::sources {

/// Who signed, and what.
struct signed_message {
  std::vector<std::string> identities;  // "Name <mail>", sorted
  std::string fingerprint;              // of the primary key, upper-case hexadecimal
  std::string text;                     // what the signature covers; only this may be believed
};

/// The keys in a file. Blocks.
/// Errors   "failed to load keyring: open %s: …".
outcome<std::string> load_keyring(const std::string& path);

/// Checks a clear-signed block against public keys as GnuPG exports them, binary or armored.
/// Blocks: GnuPG runs beside us, in a folder of its own that is removed again, so that no one's key
/// ring is touched.
/// Shape    every key of the ring is trusted; expired, revoked and disabled ones sign nothing.
/// Errors   "openpgp: …"; which package has GnuPG where it is missing; that GnuPG took longer than
///          `longest`, for keys that strangers wrote.
outcome<signed_message> check_signature(
    std::string_view block, std::string_view keys,
    std::chrono::milliseconds longest = std::chrono::seconds(30));

/// Clear-signs with the secret key in a file whose identity is or contains `id`. Blocks as above.
/// Errors   "private key not found", "more than one key contain the id %q", GnuPG's for a wrong
///          passphrase.
outcome<std::string> sign(std::string_view text, const std::string& keyring, const std::string& id,
                          const reactor::secret& passphrase);

}  // namespace helm::sources
