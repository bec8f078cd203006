#pragma once

#include "helm/sources/index.hpp"
#include "helm/sources/repositories_file.hpp"
#include "helm/sources/settings.hpp"
#include "registry/web.hpp"

#include <functional>
#include <string>
#include <vector>

namespace helm::sources {

using reactor::awaitable;

using ::registry::download_timeout;
using ::registry::web;

/// Fetches one URL on behalf of a repository. Its login, client certificate and permission to skip
/// verification count on the repository's own origin, or with pass_credentials_all on the URL's.
/// Errors   "failed to fetch %s : 404 Not Found", the network's.
awaitable<outcome<std::string>> fetch(web& w, repository_entry from, std::string url,
                                      std::size_t limit_bytes,
                                      reactor::nanoseconds timeout = download_timeout);

/// What a server has at a URL, and how it calls this very content.
struct fetched {
  std::string body;  // empty when unchanged
  std::string etag;  // empty where the server does not say
  bool unchanged = false;
};
/// Takes what comes, piece by piece; see web_request::on_piece.
using body_taker = std::function<awaitable<reactor::result<void>>(std::string piece)>;
/// The same as fetch(), for who may have it already: `etag` is what it was called then, or empty.
/// With `on_piece` the body goes there.
awaitable<outcome<fetched>> fetch_changed(web& w, repository_entry from, std::string url,
                                          std::string etag, std::size_t limit_bytes,
                                          reactor::nanoseconds timeout = download_timeout,
                                          body_taker on_piece = {});

/// An index as it came and as it reads.
struct downloaded_index {
  std::string text;
  read_index_result content;
};
awaitable<outcome<downloaded_index>> download_index(
    reactor::loop& l, web& w, repository_entry from,
    reactor::nanoseconds timeout = download_timeout);

/// Downloads the index and keeps it in the cache, where `helm search` and its relatives look.
/// Returns sentences on entries that were skipped.
awaitable<outcome<std::vector<std::string>>> update_cache(
    reactor::loop& l, web& w, settings where, repository_entry from,
    reactor::nanoseconds timeout = download_timeout);

/// The cached index of a repository, read on the worker.
/// Errors   "open %s: no such file or directory", "error loading %s: …".
awaitable<outcome<read_index_result>> cached_index(reactor::loop& l, settings where,
                                                   std::string name);

/// repositories.yaml; an absent file has no entries.
awaitable<outcome<repositories_file>> load_repositories(reactor::loop& l, std::string path);
awaitable<outcome<bool>> store_repositories(reactor::loop& l, std::string path,
                                            repositories_file file);

/// An index's `digest` against the archive's bytes; an absent one fits.
/// Errors   "sha256 sum does not match for %s: …"
outcome<bool> check_digest(const std::string& expected, const std::string& name,
                           std::string_view bytes);

}  // namespace helm::sources
