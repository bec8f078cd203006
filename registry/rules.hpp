#pragma once

#include "reactor/http/message.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace registry {

// What a client does next after a registry's answer. Registries differ in what they serve; the
// rules are plain functions, and registry/session and registry/client carry them out.

/// What came of sending one request.
struct attempt {
  std::string method = "GET";
  int status = 0;                // 0 = no answer
  bool connection_lost = false;  // no answer: the connection ended before the answer was whole
  std::optional<reactor::nanoseconds> retry_after = {};
};

/// How often one request is sent, and for how long the client waits at most between two times.
struct retry_limits {
  int attempts = 6;
  reactor::nanoseconds longest_wait = std::chrono::seconds(60);
};

/// How long to wait before the same request is sent again. Nothing: its outcome stands.
/// Waits   as Retry-After says, else 0.5, 1, 2, 4 and 8 seconds.
/// HEAD    is sent again only where the registry asks for a pause or the connection was lost: after
///         any other failure the client asks by GET.
std::optional<reactor::nanoseconds> wait_before_retry(const attempt& what, int sent,
                                                      const retry_limits& limits);

/// What follows a HEAD of a manifest. Registries refuse HEAD with 400, 403, 404, 405, 500 or 501
/// and serve the same manifest by GET, so only GET says that a manifest is not there.
enum class after_manifest_head { unchanged, read_manifest, give_up };
after_manifest_head after_head(int status, std::string_view promised, std::string_view known);
/// Whether this answer to HEAD, where GET finds the manifest, means that HEAD is not served at all.
bool is_head_unserved(int head_status, int get_status);

/// What follows a HEAD of a blob. Anything but 200 means that the blob has to be uploaded, unless
/// the registry wants a pause or a login.
enum class after_blob_head { present, upload, give_up };
after_blob_head after_head_of_blob(int status);

/// What follows the request to mount a blob of another repository. 202 opens an upload, as the
/// specification says of registries that do not mount; others answer 400, 401, 404 or 405.
enum class after_mount { mounted, upload_there, upload_again, give_up };
after_mount after_mount_answer(int status);

/// Whether a registry has taken what was uploaded: any 2xx, since not each one says 201.
constexpr bool is_stored(int status) {
  return status >= 200 && status < 300;
}

/// The target of the link with the relation "next" in all Link fields (RFC 8288); empty without
/// one.
std::string next_link(const reactor::http::headers& fields);

}  // namespace registry
