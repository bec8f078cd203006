#pragma once

#include <string>
#include <string_view>

namespace formats {

/// The parts of a URL as Go's net/url tells them apart.
struct url {
  std::string scheme, opaque, userinfo, host, path, raw_path, query, fragment;
  bool has_user = false, force_query = false;
};

/// url.Parse. Errors   function_error: parse "x": first path segment in URL cannot contain colon
url parse_url(const std::string& text);
/// Where `reference` leads from a page at `base`: URL.ResolveReference, and what is opaque in the
/// base stays so.
url resolve_url(const url& base, url reference);
/// url.PathUnescape. Errors   function_error: invalid URL escape "%z"
std::string unescape_path(const std::string& text);
/// url.PathEscape
std::string escape_path_segment(const std::string& text);
/// url.QueryEscape
std::string escape_query(std::string_view text);
/// URL.String
std::string url_text(const url& u);
/// The host without port and brackets.
std::string host_name(const std::string& host);

}  // namespace formats
