#pragma once

#include "formats/plain/problem.hpp"

#include <string>
#include <string_view>

namespace registry {

using formats::outcome;

/// A URL taken apart and nothing else: every part is as it was written, still percent-encoded, so
/// that what a repository has signed is asked for byte by byte. (formats/go/url decodes and writes
/// again, as Go's templates do.)
struct url {
  std::string scheme;  // lower case, "" for a relative one
  std::string user;    // "name:password", "" without
  std::string host;    // with port
  std::string path, query, fragment;
  bool has_query = false;

  bool is_absolute() const { return !scheme.empty(); }
  std::string text() const;
};

/// Errors   "parse \"…\": …", for what no URL can be.
outcome<url> parse_url(std::string_view text);

/// Where `reference` leads from a page below `base`: an absolute one as it is, else below the
/// base's path, with the base's query, as repositories behind signed URLs need it.
outcome<std::string> resolve_reference(std::string_view base, std::string_view reference);

/// Where a Location header on `page` leads. Requires a page that is an absolute URL.
outcome<std::string> follow_location(std::string_view page, std::string_view location);

/// `base` with `name` as one more piece of its path.
std::string join_url(std::string_view base, std::string_view name);

/// The same place but for a slash at the end or an empty path.
bool same_url(std::string_view a, std::string_view b);

/// Same scheme, host and port: what was entrusted to the one may be told to the other.
bool same_origin(std::string_view a, std::string_view b);

/// "http://host/x" without user information, for messages.
std::string without_user(std::string_view text);

}  // namespace registry
