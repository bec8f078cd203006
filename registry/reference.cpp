#include "registry/reference.hpp"

#include "formats/digest.hpp"
#include "formats/plain/text.hpp"
#include "registry/grammar.hpp"
#include "registry/url.hpp"

#include <algorithm>
#include <utility>

namespace registry {

using formats::is_digest;
using formats::problem;
using formats::quote;
using formats::replace_all;
using formats::split;

namespace {

bool is_repository(std::string_view s) {
  const auto parts = split(s, "/");
  return std::all_of(parts.begin(), parts.end(), is_path_component);
}

bool is_registry(std::string_view s) {
  const auto u = parse_url("dummy://" + std::string(s));
  return u && !u->host.empty() && u->host == s;
}

problem invalid(const char* what, std::string_view text) {
  return {"invalid reference: invalid " + std::string(what) + " " + quote(text)};
}

}  // namespace

bool is_oci(std::string_view reference) {
  return reference.starts_with("oci://");
}

std::string oci_reference::text() const {
  const std::string path = registry + "/" + repository;
  if (!tag.empty()) return path + ":" + tag;
  return digest.empty() ? path : path + "@" + digest;
}

std::string tag_of(std::string_view version) {
  return replace_all(version, "+", "_");
}

outcome<oci_reference> parse_oci_reference(std::string_view text) {
  if (is_oci(text)) text.remove_prefix(6);
  oci_reference out;
  if (const auto at = text.rfind('@'); at != text.npos) {
    out.digest = text.substr(at + 1);
    text = text.substr(0, at);
    if (!is_digest(out.digest)) return invalid("digest", out.digest);
  }
  const auto slash = text.find('/');
  if (slash == text.npos) return problem{"invalid reference: missing registry or repository"};
  out.registry = text.substr(0, slash);
  text.remove_prefix(slash + 1);
  bool tagged = false;
  if (const auto colon = text.find(':'); colon != text.npos) {
    out.tag = tag_of(text.substr(colon + 1));
    text = text.substr(0, colon);
    tagged = !out.tag.empty();
  }
  out.repository = text;
  if (!is_registry(out.registry)) return invalid("registry", out.registry);
  if (!is_repository(out.repository)) return invalid("repository", out.repository);
  if (tagged && !is_tag(out.tag)) return invalid("tag", out.tag);
  return out;
}

}  // namespace registry
