#pragma once

#include "formats/digest.hpp"
#include "reactor/http/message.hpp"
#include "registry/manifest.hpp"
#include "tests/registry/fixture.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace registry {

/// Several repositories in memory, with the blobs that each has.
class repositories {
public:
  std::map<std::string, std::map<std::string, std::string>> manifests;  // by tag and digest
  std::map<std::string, std::set<std::string>> blobs;                   // digests
  bool mounts = true;
  std::size_t written = 0;

  reactor::http::response operator()(const reactor::http::request& r) {
    const auto at = reactor::http::split_target(r.target);
    const auto split = [&](std::string_view word) {
      const std::size_t found = at.path.find(word);
      return found == at.path.npos
                 ? std::pair<std::string, std::string>()
                 : std::pair(at.path.substr(4, found - 4), at.path.substr(found + word.size()));
    };
    if (const auto [repository, rest] = split("/blobs/uploads/"); !repository.empty()) {
      const std::string digest = *at.get("mount");
      if (!mounts || !blobs[*at.get("from")].contains(digest))
        return respond(202, "", {{"Location", "/v2/up"}});
      blobs[repository].insert(digest);
      return respond(201);
    }
    if (const auto [listed, rest] = split("/tags/list"); !listed.empty()) {
      std::string tags;
      for (const auto& [name, text] : manifests[listed])
        if (!name.starts_with("sha256:")) tags += (tags.empty() ? "\"" : ",\"") + name + "\"";
      return respond(200, R"({"name":")" + listed + R"(","tags":[)" + tags + "]}");
    }
    const auto [repository, name] = split("/manifests/");
    auto& here = manifests[repository];
    if (r.method == "PUT") {
      // A registry takes no manifest of which it lacks a part.
      auto read = read_manifest(r.body, r.fields.get("Content-Type"));
      for (const descriptor& d : read->layers)
        if (!blobs[repository].contains(d.digest)) return respond(400);
      for (const descriptor& d : read->manifests)
        if (!here.contains(d.digest)) return respond(400);
      ++written;
      here[name] = here[formats::digest_of(r.body)] = r.body;
      return respond(201, "", {{"Docker-Content-Digest", formats::digest_of(r.body)}});
    }
    const auto found = here.find(name);
    if (found == here.end()) return respond(404);
    return respond(200, found->second,
                   {{"Docker-Content-Digest", formats::digest_of(found->second)}});
  }
};

inline std::string described(std::string_view type, const std::string& bytes) {
  return R"({"mediaType":")" + std::string(type) + R"(","digest":")" + formats::digest_of(bytes) +
         R"(","size":)" + std::to_string(bytes.size()) + "}";
}

/// The text of an image of one layer.
inline std::string image_of_layer(const std::string& layer) {
  return R"({"schemaVersion":2,"mediaType":")" + std::string(media_type::image_manifest) +
         R"(","layers":[)" + described("application/x", layer) + "]}";
}

}  // namespace registry
