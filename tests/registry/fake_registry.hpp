#pragma once

#include "formats/digest.hpp"
#include "reactor/http/authorization.hpp"
#include "reactor/http/message.hpp"
#include "registry/manifest.hpp"
#include "tests/registry/fixture.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace registry {

/// A registry in memory. What it does wrong is switched on by its members.
class fake_registry {
public:
  std::map<std::string, std::string> blobs;      // by digest
  std::map<std::string, std::string> manifests;  // by tag and digest
  std::vector<std::string> tags;
  std::size_t tags_per_page = 100;
  std::string manifest_type = media_type::image_manifest;
  std::string token;            // "" = open to all
  std::string password = "pw";  // of the user "me"
  std::string link_at;          // what stands before the path in its Links
  std::string upload_location = "/v2/up/session?state=1";
  std::function<std::optional<reactor::http::response>(const reactor::http::request&)> before;

  reactor::http::response operator()(const reactor::http::request& r) {
    if (before)
      if (auto special = before(r)) return *special;
    const auto at = reactor::http::split_target(r.target);
    if (at.path == "/token") {
      if (r.fields.get("Authorization") !=
          reactor::http::basic_authorization("me", password).reveal())
        return respond(401, R"({"errors":[{"code":"UNAUTHORIZED","message":"who?"}]})");
      return respond(200, R"({"token":")" + token + R"("})");
    }
    if (!token.empty() && r.fields.get("Authorization") != "Bearer " + token)
      return respond(
          401, "",
          {{"WWW-Authenticate", "Bearer realm=\"http://reg:5000/token\",service=\"reg\""}});
    if (at.path == "/v2/") return respond(200, "{}");
    if (at.path == "/v2/p/app/tags/list") return page(at);
    const std::string blob = "/v2/p/app/blobs/", manifest = "/v2/p/app/manifests/";
    if (r.method == "POST" && at.path == blob + "uploads/")
      return respond(202, "", {{"Location", upload_location}});
    if (r.method == "PUT" && at.path == "/v2/up/session") {
      if (formats::digest_of(r.body) != *at.get("digest"))
        return respond(400, R"({"errors":[{"code":"DIGEST_INVALID","message":"another digest"}]})");
      blobs[*at.get("digest")] = r.body;
      return respond(201);
    }
    if (at.path.starts_with(blob))
      return stored(blobs, at.path.substr(blob.size()), "application/octet-stream");
    if (at.path.starts_with(manifest)) {
      const std::string name = at.path.substr(manifest.size());
      if (r.method != "PUT") return stored(manifests, name, manifest_type);
      manifests[name] = manifests[formats::digest_of(r.body)] = r.body;
      return respond(201, "", {{"Docker-Content-Digest", formats::digest_of(r.body)}});
    }
    return respond(404,
                   R"({"errors":[{"code":"NAME_UNKNOWN","message":"repository name not known"}]})");
  }

private:
  static reactor::http::response stored(const std::map<std::string, std::string>& in,
                                        const std::string& name, const std::string& type) {
    const auto found = in.find(name);
    return found == in.end() ? respond(404) : respond(200, found->second, {{"Content-Type", type}});
  }
  reactor::http::response page(const reactor::http::target_parts& at) const {
    std::size_t from = 0;
    if (auto last = at.get("last"))
      from =
          static_cast<std::size_t>(std::find(tags.begin(), tags.end(), *last) - tags.begin()) + 1;
    const std::size_t to = std::min(tags.size(), from + tags_per_page);
    std::string list;
    for (std::size_t i = from; i < to; ++i) list += (list.empty() ? "\"" : ",\"") + tags[i] + "\"";
    reactor::http::response out = respond(200, R"({"name":"p/app","tags":[)" + list + "]}");
    if (to < tags.size())
      out.fields.add(
          "Link", "<" + link_at + "/v2/p/app/tags/list?last=" + tags[to - 1] + ">; rel=\"next\"");
    return out;
  }
};

}  // namespace registry
