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
#include <set>
#include <string>
#include <vector>

namespace registry {

/// A registry of several repositories in memory that does what the specification says, and bends
/// where its members say so.
/// Strict   A manifest whose blobs are missing is refused, a manifest whose type is not accepted is
///          not there, an upload needs the session that was opened, a token grants the scopes that
///          were asked for one by one, and what keeps blobs elsewhere refuses an Authorization.
class scripted_registry {
public:
  struct stored {
    std::string bytes, type;
  };
  struct repository {
    std::map<std::string, stored> manifests;  // by tag and digest
    std::set<std::string> blobs;              // digests
  };
  std::map<std::string, repository> repositories;
  std::map<std::string, std::string> blobs;  // by digest
  std::set<std::string> sessions;            // uploads that are open

  std::string host = "reg:5000";
  enum class proof { none, basic, token, basic_or_token } wants = proof::none;
  bool anonymous_pulls = false;          // a token or a request without a login may pull
  bool denies_what_is_too_much = false;  // no token where one of the scopes is not granted
  bool pull_needs_repository =
      false;  // a token for `pull` alone of what is not there grants nothing
  std::vector<std::string> challenges;  // "{h}" the URL, "{scope}" what is needed; empty = usual
  std::string realm = "{h}/token";
  std::string token_member = "token";
  bool takes_identity_token = false;

  int head_of_manifest = 0, head_of_blob = 0;  // 0 = as the specification says
  int mount = 201, stored_blob = 201, stored_manifest = 201;
  std::string digest_field = "Docker-Content-Digest";
  std::string link = "<{target}>; rel=\"next\"";
  std::size_t page = 100;
  std::string location = "{path}";
  std::string blobs_at;          // "http://cdn": GET of a blob redirects there
  std::string type_of_manifest;  // instead of its own
  std::string missing = R"({"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]})";
  /// Asked before all else; an answer with status 0 ends the connection.
  std::function<std::optional<reactor::http::response>(const reactor::http::request&)> before;

  std::string put_blob(const std::string& repository, const std::string& bytes) {
    const std::string digest = formats::digest_of(bytes);
    blobs[digest] = bytes;
    repositories[repository].blobs.insert(digest);
    return digest;
  }
  std::string put_manifest(const std::string& repository, const std::string& tag,
                           const std::string& bytes, const std::string& type) {
    const std::string digest = formats::digest_of(bytes);
    auto& all = repositories[repository].manifests;
    all[tag] = all[digest] = {bytes, type};
    return digest;
  }

  reactor::http::response operator()(const reactor::http::request& r) {
    if (before)
      if (auto special = before(r)) return *special;
    const auto at = reactor::http::split_target(r.target);
    if (at.path == "/token") return give_token(r, at);
    if (at.path == "/v2/") return allowed(r, {}) ? respond(200, "{}") : refused({});
    for (const char* kind : {"/manifests/", "/blobs/", "/tags/"}) {
      const auto found = at.path.rfind(kind);
      if (!at.path.starts_with("/v2/") || found == at.path.npos || found < 4) continue;
      std::string name = at.path.substr(4, found - 4);
      std::string rest = at.path.substr(found + std::string_view(kind).size());
      return serve(kind, r, at, name, rest);
    }
    return respond(404);
  }
  /// What keeps the blobs elsewhere, as S3 does.
  reactor::http::response cdn(const reactor::http::request& r) {
    const auto at = reactor::http::split_target(r.target);
    if (r.fields.has("Authorization"))
      return respond(400, "<Error><Code>InvalidArgument</Code></Error>");
    if (r.method != "GET") return respond(403);  // the signature is for GET
    const auto found = blobs.find(at.path.substr(1));
    return found == blobs.end() ? respond(404) : respond(200, found->second);
  }
  static std::string filled(std::string text, const std::string& what, const std::string& with) {
    for (auto at = text.find(what); at != text.npos; at = text.find(what, at + with.size()))
      text.replace(at, what.size(), with);
    return text;
  }

private:
  using rights = std::map<std::string, std::set<std::string>>;  // by repository

  std::string own_url() const { return "http://" + host; }
  static bool is_person(const reactor::http::request& r) {
    return r.fields.get("Authorization") == reactor::http::basic_authorization("me", "pw").reveal();
  }
  bool allowed(const reactor::http::request& r, const rights& needed) const {
    if (wants == proof::none) return true;
    const std::string shown(r.fields.get("Authorization"));
    const bool only_pulls = std::ranges::all_of(
        needed, [](const auto& one) { return one.second == std::set<std::string>{"pull"}; });
    if (wants != proof::token && is_person(r)) return true;
    if (wants == proof::basic) return anonymous_pulls && only_pulls && shown.empty();
    const auto token = tokens_.find(shown);
    if (token == tokens_.end()) return false;
    return std::ranges::all_of(needed, [&](const auto& one) {
      const auto granted = token->second.find(one.first);
      return granted != token->second.end() && std::ranges::includes(granted->second, one.second);
    });
  }
  static std::string scope_of(const rights& needed) {
    std::string out;
    for (const auto& [name, actions] : needed) {
      out += (out.empty() ? "" : " ") + std::string("repository:") + name + ":";
      for (const std::string& action : actions) out += (out.ends_with(':') ? "" : ",") + action;
    }
    return out;
  }
  reactor::http::response refused(const rights& needed) const {
    auto all = challenges;
    if (all.empty())
      all = {wants == proof::basic ? std::string("Basic realm=\"reg\"")
                                   : "Bearer realm=\"" + realm + "\",service=\"reg\"" +
                                         (needed.empty() ? "" : ",scope=\"{scope}\"")};
    auto out = respond(401, R"({"errors":[{"code":"UNAUTHORIZED","message":"log in"}]})");
    for (const std::string& one : all)
      out.fields.add("WWW-Authenticate",
                     filled(filled(one, "{h}", own_url()), "{scope}", scope_of(needed)));
    return out;
  }
  reactor::http::response give_token(const reactor::http::request& r,
                                     const reactor::http::target_parts& at) {
    auto asked = at.query;
    bool person = is_person(r);
    if (r.method == "POST") {
      if (!takes_identity_token) return respond(405);
      asked = reactor::http::split_target("/?" + r.body).query;
      for (const auto& [name, value] : asked)
        person = person || (name == "refresh_token" && value == "identity");
      // OAuth has one parameter with spaces between the scopes.
      std::vector<std::pair<std::string, std::string>> split;
      for (const auto& [name, value] : asked) {
        std::size_t from = 0;
        while (name == "scope" && from < value.size()) {
          const auto to = std::min(value.find(' ', from), value.size());
          split.emplace_back("scope", value.substr(from, to - from));
          from = to + 1;
        }
      }
      asked = std::move(split);
    } else if (takes_identity_token) {
      return respond(401);
    }
    if (r.fields.has("Authorization") && !person)
      return respond(401, R"({"errors":[{"code":"UNAUTHORIZED","message":"wrong login"}]})");
    rights granted;
    for (const auto& [name, scope] : asked) {
      if (name != "scope") continue;
      const auto first = scope.find(':'), last = scope.rfind(':');
      if (first == last) continue;
      const std::string repository = scope.substr(first + 1, last - first - 1);
      std::set<std::string> actions;
      std::string word;
      for (const char c : scope.substr(last + 1) + ",") {
        if (c != ',') {
          word += c;
          continue;
        }
        if (person || (anonymous_pulls && word == "pull"))
          actions.insert(word);
        else if (denies_what_is_too_much)
          return respond(403, R"({"errors":[{"code":"DENIED","message":"too much"}]})");
        word.clear();
      }
      if (pull_needs_repository && !actions.contains("push") && !repositories.contains(repository))
        actions.clear();
      granted[repository].insert(actions.begin(), actions.end());
    }
    const std::string token = "token-" + std::to_string(tokens_.size());
    tokens_["Bearer " + token] = std::move(granted);
    return respond(200, "{\"" + token_member + "\":\"" + token + "\"}");
  }

  reactor::http::response serve(std::string_view kind, const reactor::http::request& r,
                                const reactor::http::target_parts& at, const std::string& name,
                                const std::string& rest) {
    const bool reads = r.method == "GET" || r.method == "HEAD";
    rights needed{
        {name, reads ? std::set<std::string>{"pull"} : std::set<std::string>{"pull", "push"}}};
    const auto from = at.get("from");
    if (from && mount == 201) needed[*from].insert("pull");
    if (!allowed(r, needed)) return refused(needed);
    if (kind == "/tags/") return tags(at, name);
    if (kind == "/manifests/") return manifest(r, name, rest);
    return blob(r, at, name, rest);
  }
  reactor::http::response tags(const reactor::http::target_parts& at, const std::string& name) {
    std::vector<std::string> all;
    for (const auto& [tag, content] : repositories[name].manifests)
      if (tag.find(':') == tag.npos) all.push_back(tag);
    if (all.empty())
      return respond(404, R"({"errors":[{"code":"NAME_UNKNOWN","message":"not known"}]})");
    const auto last = at.get("last");
    std::size_t i =
        last ? static_cast<std::size_t>(std::ranges::find(all, *last) - all.begin()) + 1 : 0;
    const std::size_t to = std::min(all.size(), i + page);
    std::string list;
    for (; i < to; ++i) list += (list.empty() ? "\"" : ",\"") + all[i] + "\"";
    auto out = respond(200, R"({"name":")" + name + R"(","tags":[)" + list + "]}");
    if (to < all.size() && !link.empty())
      out.fields.add("Link",
                     filled(filled(link, "{target}",
                                   "/v2/" + name + "/tags/list?last=" + all[to - 1] + "&n=2"),
                            "{query}", "last=" + all[to - 1] + "&n=2"));
    return out;
  }
  reactor::http::response manifest(const reactor::http::request& r, const std::string& name,
                                   const std::string& reference) {
    auto& here = repositories[name];
    if (r.method == "PUT") {
      const auto read = read_manifest(r.body, r.fields.get("Content-Type"));
      if (!read) return respond(400);
      std::vector<descriptor> parts = read->layers;
      if (read->config) parts.push_back(*read->config);
      for (const descriptor& d : parts)
        if (!here.blobs.contains(d.digest))
          return respond(400, R"({"errors":[{"code":"MANIFEST_BLOB_UNKNOWN","message":"?"}]})");
      for (const descriptor& d : read->manifests)
        if (!here.manifests.contains(d.digest)) return respond(404);
      put_manifest(name, reference, r.body, std::string(r.fields.get("Content-Type")));
      return respond(stored_manifest);
    }
    const auto found = here.manifests.find(reference);
    if (r.method == "HEAD" && head_of_manifest != 0) return respond(head_of_manifest);
    if (found == here.manifests.end() ||
        std::string(r.fields.get("Accept")).find(found->second.type) == std::string::npos)
      return respond(404, missing);
    auto out = respond(200, found->second.bytes);
    out.fields.set("Content-Type",
                   type_of_manifest.empty() ? found->second.type : type_of_manifest);
    if (!digest_field.empty()) out.fields.set(digest_field, formats::digest_of(out.body));
    return out;
  }
  reactor::http::response blob(const reactor::http::request& r,
                               const reactor::http::target_parts& at, const std::string& name,
                               const std::string& rest) {
    auto& here = repositories[name].blobs;
    if (r.method == "POST") {
      if (const auto digest = at.get("mount")) {
        const auto from = at.get("from");
        if (mount == 201 && from && repositories[*from].blobs.contains(*digest)) {
          here.insert(*digest);
          return respond(201);
        }
        if (mount != 201 && mount != 202) return respond(mount, missing);
      }
      const std::string session = "s" + std::to_string(++opened_);
      sessions.insert(session);
      return respond(
          202, "",
          {{"Location", filled(location, "{path}", "/v2/" + name + "/blobs/uploads/" + session)}});
    }
    if (r.method == "PUT") {
      const std::string session = rest.substr(rest.rfind('/') + 1);
      const auto digest = at.get("digest");
      if (sessions.erase(session) == 0)
        return respond(404, R"({"errors":[{"code":"BLOB_UPLOAD_UNKNOWN","message":"?"}]})");
      if (!digest || formats::digest_of(r.body) != *digest) return respond(400);
      put_blob(name, r.body);
      return respond(stored_blob);
    }
    if (r.method == "HEAD" && head_of_blob != 0) return respond(head_of_blob);
    if (!here.contains(rest))
      return respond(404, R"({"errors":[{"code":"BLOB_UNKNOWN","message":"?"}]})");
    if (!blobs_at.empty())
      return respond(307, "", {{"Location", blobs_at + "/" + rest + "?X-Amz-Signature=a%2Bb"}});
    return respond(200, blobs[rest]);
  }

  std::map<std::string, rights> tokens_;  // by the Authorization that shows them
  std::size_t opened_ = 0;
};

}  // namespace registry
