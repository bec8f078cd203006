// What public registries do where the specification leaves it open, or in spite of it. A row says
// whose habit it is, and the comment above it where that was described, in words of our own. Each
// row is played against every operation: what fails is named in the row, all else has to work. The
// file is long because it is one table.
#include "registry/client.hpp"
#include "registry/retag.hpp"
#include "tests/registry/scripted_registry.hpp"

#include <algorithm>
#include <memory>

namespace registry {
namespace {

using namespace std::chrono_literals;
using formats::digest_of;
using reactor::http::headers;
using reactor::http::request;
using reactor::http::response;
using testing::HasSubstr;

constexpr const char* docker_manifest = "application/vnd.docker.distribution.manifest.v2+json";
constexpr const char* docker_list = "application/vnd.docker.distribution.manifest.list.v2+json";

struct quirk {
  std::string of, does;
  std::function<void(scripted_registry&, client_options&)> set;
  std::map<std::string, std::string> fails = {};  // the operation, and what its error says
};

using matcher = std::function<bool(const request&)>;

matcher any_of(std::string method, std::string part) {
  return [method = std::move(method), part = std::move(part)](const request& r) {
    return (method.empty() || r.method == method) && r.target.find(part) != std::string::npos;
  };
}

/// The first `n` requests of that kind are answered so, those of a pause of the registry.
void first(scripted_registry& r, int n, matcher matches, response answer) {
  r.before = [left = std::make_shared<int>(n), matches = std::move(matches),
              answer = std::move(answer)](const request& q) -> std::optional<response> {
    if (*left == 0 || !matches(q)) return std::nullopt;
    --*left;
    return answer;
  };
}
void always(scripted_registry& r, matcher matches, response answer) {
  first(r, -1, std::move(matches), std::move(answer));
}

response error(int status, const std::string& code, const std::string& message,
               headers fields = {}) {
  return respond(status,
                 R"({"errors":[{"code":")" + code + R"(","message":")" + message + R"("}]})",
                 std::move(fields));
}

void log_in(client_options& o) {
  o.login.username = "me";
  o.login.password = reactor::secret("pw");
}

/// Token authentication with a login, as most registries have it.
void by_token(scripted_registry& r, client_options& o) {
  r.wants = scripted_registry::proof::token;
  r.anonymous_pulls = true;
  log_in(o);
}
void by_basic(scripted_registry& r, client_options& o) {
  r.wants = scripted_registry::proof::basic;
  log_in(o);
}

const response dropped = respond(0);

std::vector<quirk> docker_hub() {
  return {
      // distribution/distribution #1203: the realm is auth.docker.io, the API registry-1.docker.io.
      {"Docker Hub", "has its API and its token server under other names",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.host = "registry-1.docker.io";
         r.realm = "http://auth.docker.io/token";
         o.given_for = "docker.io";
       }},
      // docker/hub-feedback #2040: 429 when too much is pulled.
      {"Docker Hub", "answers 429 with Retry-After when there are too many pulls",
       [](scripted_registry& r, client_options&) {
         first(r, 2, any_of("", "/v2/"),
               error(429, "TOOMANYREQUESTS", "You have reached your pull rate limit",
                     {{"Retry-After", "3"}}));
       }},
      // docker/hub-feedback #1907: the limit against abuse holds for requests of all kinds.
      {"Docker Hub", "answers 429 as plain text and without Retry-After",
       [](scripted_registry& r, client_options&) {
         first(r, 3, any_of("", ""), respond(429, "Too Many Requests (HAP429)"));
       }},
      // ScribeMD/docker-cache #829: the window is six hours.
      {"Docker Hub",
       "wants a pause of hours, which no command waits for",
       [](scripted_registry& r, client_options&) {
         always(r, any_of("", "/v2/"),
                error(429, "TOOMANYREQUESTS", "limit", {{"Retry-After", "21600"}}));
       },
       {{"pull", "it asks clients to wait"},
        {"push", "it asks clients to wait"},
        {"tags", "it asks clients to wait"},
        {"facts", "it asks clients to wait"},
        {"promote", "it asks clients to wait"}}},
      // distribution, "Token Authentication Specification": access_token is another name of token.
      {"Docker Hub", "calls the token access_token",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.token_member = "access_token";
       }},
      // Docker docs, hosts to allow: production.cloudflare.docker.com serves the blobs.
      {"Docker Hub", "keeps blobs at a CDN that is shown no login",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.blobs_at = "http://cdn";
       }},
      // distribution, "Token Authentication Specification": the scope parameter is repeated.
      {"Docker Hub", "reads each scope parameter as one scope",
       [](scripted_registry& r, client_options& o) { by_token(r, o); }},
      // The same: a server grants the part that it allows, of what is not there nothing.
      {"Docker Hub", "grants nothing for pull of a repository that is not there yet",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.pull_needs_repository = true;
       }},
      // distribution, "Image Manifest Version 2, Schema 2".
      {"Docker Hub", "has manifests and lists of Docker's types",
       [](scripted_registry& r, client_options&) {
         for (auto& [name, content] : r.repositories["p/app"].manifests)
           content.type = content.type == media_type::image_index ? docker_list : docker_manifest;
       }},
      // opencontainers/distribution-spec #206: a mount that is not possible opens an upload.
      {"Docker Hub", "answers a mount with 202",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.mount = 202;
       }},
  };
}

std::vector<quirk> ghcr() {
  return {
      // cloudflare/serverless-registry #148: the challenge names the repository user/image.
      {"GHCR", "asks for a scope of a repository that is none",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.challenges = {
             R"(Bearer realm="{h}/token",service="reg",scope="repository:user/image:pull")"};
       }},
      // The same thread: 403 DENIED for pull and push together where only pull is granted.
      {"GHCR",
       "gives no token where one right is too much",
       [](scripted_registry& r, client_options&) {
         r.wants = scripted_registry::proof::token;
         r.anonymous_pulls = r.denies_what_is_too_much = true;
       },
       {{"push", "too much"}, {"promote", "too much"}}},
      // Mic92/niks3 #229: an index is not found without an Accept of indexes.
      {"GHCR", "finds a manifest only where its type is accepted",
       [](scripted_registry&, client_options&) {}},
      // redhat-actions/push-to-registry #52: 403 to HEAD of a blob.
      {"GHCR", "denies HEAD of a blob",
       [](scripted_registry& r, client_options&) { r.head_of_blob = 403; }},
      // openstreetmap/chef #597, gardenlinux/gardenlinux #2727: 502 for a moment.
      {"GHCR", "fails with 502 for a moment",
       [](scripted_registry& r, client_options&) {
         first(r, 2, any_of("", "/v2/"), respond(502, "<html>Bad Gateway</html>"));
       }},
      // rtCamp/action-slack-notify #146: 503 to HEAD of a manifest.
      {"GHCR", "answers 503 to HEAD of a manifest",
       [](scripted_registry& r, client_options&) { r.head_of_manifest = 503; }},
      // EnricoMi/publish-unit-test-result-action #401: 500 for a while.
      {"GHCR", "fails with 500 for a moment",
       [](scripted_registry& r, client_options&) {
         first(r, 2, any_of("GET", "/v2/"), error(500, "UNKNOWN", "internal server error"));
       }},
      // danger/danger-js #1414: a package without rights.
      {"GHCR",
       "denies what the token has no rights for",
       [](scripted_registry& r, client_options&) {
         always(
             r, [](const request& q) { return q.method == "POST" || q.method == "PUT"; },
             error(403, "DENIED", "permission_denied: write_package"));
       },
       {{"push", "write_package"}, {"promote", "write_package"}}},
  };
}

std::vector<quirk> ecr() {
  return {
      // AWS docs, "Private registry authentication in Amazon ECR": Basic with the user AWS.
      {"ECR", "wants Basic",
       [](scripted_registry& r, client_options& o) {
         by_basic(r, o);
         r.challenges = {
             R"(Basic realm="https://1.dkr.ecr.eu-west-1.amazonaws.com/",service="ecr.amazonaws.com")"};
       }},
      // open-policy-agent/opa #6580: 307 to S3, which allows one way of proof.
      {"ECR", "keeps blobs in S3, which refuses a second proof",
       [](scripted_registry& r, client_options& o) {
         by_basic(r, o);
         r.blobs_at = "http://cdn";
       }},
      // deitch/docker_registry2 #34: Link is a whole URL.
      {"ECR", "links to the next page with a whole URL",
       [](scripted_registry& r, client_options& o) {
         by_basic(r, o);
         r.page = 1;
         r.link = "<http://reg:5000{target}>; rel=\"next\"";
       }},
      // The same thread: the list of tags is text/plain.
      {"ECR", "sends the list of tags as text",
       [](scripted_registry& r, client_options&) {
         always(r, any_of("GET", "/tags/list"),
                respond(200, R"({"name":"p/app","tags":["v1","v2","v3"]})",
                        {{"Content-Type", "text/plain; charset=utf-8"}}));
       }},
      // mitogen-hq/mitogen #790, zebrunner/mcloud-agent #235: "Rate exceeded".
      {"ECR", "is throttled for a moment",
       [](scripted_registry& r, client_options& o) {
         by_basic(r, o);
         first(r, 2, any_of("GET", "/v2/"), error(429, "TOOMANYREQUESTS", "Rate exceeded"));
       }},
      // moby/buildkit #3776, osscontainertools/kaniko #204: TAG_INVALID.
      {"ECR",
       "refuses a tag that is immutable",
       [](scripted_registry& r, client_options&) {
         always(r, any_of("PUT", "/manifests/v"),
                error(400, "TAG_INVALID", "the image tag already exists and is immutable"));
       },
       {{"push", "tag invalid"}, {"promote", "is immutable"}}},
      // AWS docs, "Troubleshooting errors with Docker commands": a push makes no repository.
      {"ECR",
       "has no repository before it is created",
       [](scripted_registry& r, client_options&) {
         always(r, any_of("POST", "/v2/q/"),
                error(404, "NAME_UNKNOWN", "The repository does not exist in the registry"));
       },
       {{"push", "does not exist in the registry"}, {"promote", "does not exist in the registry"}}},
  };
}

std::vector<quirk> gar() {
  return {
      // containerd/containerd #1465, davedoesdev/dxf #28: the challenge has no scope.
      {"GAR", "asks for no scope",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.challenges = {R"(Bearer realm="{h}/token",service="reg")"};
       }},
      // go-containerregistry, package google: the list of tags has members of Google's own.
      {"GAR", "lists manifests and children beside the tags",
       [](scripted_registry& r, client_options&) {
         always(r, any_of("GET", "/tags/list"),
                respond(200, R"({"child":["x"],"manifest":{"sha256:a":{"tag":["v1"]}},)"
                             R"("name":"p/app","tags":["v1","v2","v3"]})"));
       }},
      // Google docs, Artifact Registry quotas: 429 for bursts.
      {"GAR", "is out of quota for uploads for a moment",
       [](scripted_registry& r, client_options&) {
         first(r, 3, any_of("POST", "/uploads/"),
               error(429, "TOOMANYREQUESTS", "Quota exceeded", {{"Retry-After", "1"}}));
       }},
      // ahmetb/serverless-registry-proxy #8: blobs are at another path of the same host, by 302.
      {"GAR", "redirects blobs to a path by 302",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.before = [&r](const request& q) -> std::optional<response> {
           if (q.target.starts_with("/artifacts-downloads/"))
             return respond(200, r.blobs.at(q.target.substr(q.target.rfind('/') + 1)));
           const auto at = q.target.find("/blobs/sha256:");
           if (q.method != "GET" || at == std::string::npos || !q.fields.has("Authorization"))
             return std::nullopt;
           return respond(302, "",
                          {{"Location", "/artifacts-downloads/x/" + q.target.substr(at + 7)}});
         };
       }},
      // google/go-containerregistry #1321: blobs are mounted.
      {"GAR", "mounts blobs", [](scripted_registry& r, client_options& o) { by_token(r, o); }},
  };
}

std::vector<quirk> acr() {
  return {
      // Azure/acr, docs/AAD-OAuth.md: a refresh token is posted to the token server.
      {"ACR", "exchanges an identity token by POST",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.takes_identity_token = true;
         r.token_member = "access_token";
         o.login = {};
         o.login.identity_token = reactor::secret("identity");
       }},
      // google/go-containerregistry #421: its helper gives an identity token, which is no password.
      {"ACR", "cannot be met by Basic with an identity token",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.takes_identity_token = true;
         r.challenges = {
             R"(Basic realm="{h}", Bearer realm="{h}/token",service="reg",scope="{scope}")"};
         o.login = {};
         o.login.identity_token = reactor::secret("identity");
       }},
      // oras-project/oras #1382: the challenge asks for pull and push.
      {"ACR", "asks for pull and push at once",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.challenges = {
             R"(Bearer realm="{h}/token",service="reg",scope="repository:p/app:pull,push")"};
       }},
      // Azure docs, "Dedicated data endpoints": blobs are in a storage account.
      {"ACR", "keeps blobs in a storage account that is shown no login",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.blobs_at = "http://cdn";
       }},
      // Azure/azure-cli #24886: 429 of the token server.
      {"ACR", "throttles its token server",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         first(r, 2, any_of("", "/token"),
               error(429, "TOOMANYREQUESTS", "slow down", {{"Retry-After", "2"}}));
       }},
      // oras-project/oras #1382: the fields that are exposed have Link among them.
      {"ACR", "has pages that are linked by a path",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.page = 2;
       }},
      // Azure/azure-sdk-for-net #22827: 405 for what is locked.
      {"ACR",
       "refuses what is locked",
       [](scripted_registry& r, client_options&) {
         always(r, any_of("PUT", "/manifests/"),
                error(405, "REGISTRY_DISALLOWED_OPERATION", "The operation is disallowed"));
       },
       {{"push", "The operation is disallowed"}, {"promote", "The operation is disallowed"}}},
  };
}

std::vector<quirk> quay() {
  return {
      // deitch/docker_registry2 #56: the next page has a token of its own, to be kept as it is.
      {"Quay", "names the next page by a token with escapes",
       [](scripted_registry& r, client_options&) {
         r.before = [](const request& q) -> std::optional<response> {
           if (q.target == "/v2/p/app/tags/list")
             return respond(
                 200, R"({"tags":["v1","v2"]})",
                 {{"Link", "</v2/p/app/tags/list?next_page=gA%3D%3D&n=2>; rel=\"next\""}});
           if (q.target == "/v2/p/app/tags/list?next_page=gA%3D%3D&n=2")
             return respond(200, R"({"tags":["v3"]})");
           return std::nullopt;
         };
       }},
      // google/go-containerregistry #794, regclient/regclient #272: fifty tags a page.
      {"Quay", "has small pages", [](scripted_registry& r, client_options&) { r.page = 1; }},
      // terraform-docs/gh-actions #157: 502 for a while.
      {"Quay", "is behind a gateway that fails for a moment",
       [](scripted_registry& r, client_options&) {
         first(r, 3, any_of("", "/v2/"), respond(502));
       }},
      // The same thread: EOF instead of an answer.
      {"Quay", "ends connections without an answer",
       [](scripted_registry& r, client_options&) { first(r, 3, any_of("", "/v2/"), dropped); }},
      // containers/image #381: 202 to a manifest.
      {"Quay", "answers 202 to a manifest",
       [](scripted_registry& r, client_options&) { r.stored_manifest = 202; }},
      // eclipse-che/che-plugin-registry #2082: schema 1 where OCI's types are not accepted.
      {"Quay", "sends schema 1 where OCI's types are not accepted",
       [](scripted_registry& r, client_options&) {
         r.before = [](const request& q) -> std::optional<response> {
           const bool oci = q.fields.get("Accept").find("vnd.oci") != std::string_view::npos;
           if (q.method != "GET" || q.target.find("/manifests/") == std::string::npos || oci)
             return std::nullopt;
           return respond(200, R"({"schemaVersion":1})");
         };
       }},
  };
}

std::vector<quirk> harbor() {
  return {
      // goharbor/harbor #22609: a proxy project does not find blobs by HEAD before it has them.
      {"Harbor", "does not find blobs by HEAD that its proxy has not fetched",
       [](scripted_registry& r, client_options&) { r.head_of_blob = 404; }},
      // goharbor/harbor #13301: nor manifests, in older ones.
      {"Harbor", "does not find manifests by HEAD that its proxy has not fetched",
       [](scripted_registry& r, client_options&) { r.head_of_manifest = 404; }},
      // crossplane/crossplane #3223: HEAD of manifests fails and GET does not.
      {"Harbor", "fails HEAD of every manifest",
       [](scripted_registry& r, client_options&) { r.head_of_manifest = 500; }},
      // google/go-containerregistry #1393, goharbor/harbor #17097: 401 to a mount.
      {"Harbor", "answers 401 to a mount from a project that it does not show",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.mount = 401;
       }},
      // oras-project/oras #1924: a mount across projects is denied.
      {"Harbor", "denies a mount across projects",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.mount = 403;
       }},
      // goharbor/harbor-helm #1098: behind another proxy.
      {"Harbor", "names another port in Location and Link behind a proxy",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.page = 1;
         r.location = "http://reg:80{path}";
         r.link = "<http://reg:80{target}>; rel=\"next\"";
       }},
      // goharbor/harbor #17390: the quota is looked at when the bytes have come.
      {"Harbor",
       "refuses what is over the quota",
       [](scripted_registry& r, client_options&) {
         always(r, any_of("PUT", "/uploads/"),
                error(403, "DENIED", "adding 29.0 MiB will exceed the configured upper limit"));
         r.mount = 202;
       },
       {{"push", "exceed the configured upper limit"},
        {"promote", "exceed the configured upper limit"}}},
      // goharbor/harbor #9427: 412 for an immutable tag.
      {"Harbor",
       "refuses an immutable tag with 412",
       [](scripted_registry& r, client_options&) {
         always(r, any_of("PUT", "/manifests/v"), error(412, "PRECONDITION", "it is immutable"));
       },
       {{"push", "it is immutable"}, {"promote", "it is immutable"}}},
      // goharbor/harbor #20764: what is missing has the code NOT_FOUND.
      {"Harbor", "calls what is missing NOT_FOUND",
       [](scripted_registry& r, client_options&) {
         r.missing = R"({"errors":[{"code":"NOT_FOUND","message":"resource not found"}]})";
       }},
  };
}

std::vector<quirk> nexus() {
  return {
      // merll/docker-registry-util #3, crazy-max/diun #1614, nicholas-fedor/watchtower #669.
      {"Nexus", "answers 404 to HEAD of a manifest",
       [](scripted_registry& r, client_options&) { r.head_of_manifest = 404; }},
      // andrey-pohilko/registry-cli #14: the 404 is HTML.
      {"Nexus", "says in HTML that something is not there",
       [](scripted_registry& r, client_options&) { r.missing = "<html>404</html>"; }},
      // andrey-pohilko/registry-cli #43: 503 now and then.
      {"Nexus", "is busy now and then",
       [](scripted_registry& r, client_options&) {
         first(r, 2, any_of("GET", "/manifests/"), respond(503, "busy"));
       }},
      // sigstore/cosign #2189: a group takes no push.
      {"Nexus",
       "takes no push into a group",
       [](scripted_registry& r, client_options&) {
         always(r, any_of("POST", "/uploads/"),
                error(403, "DENIED", "Deploying to groups is a PRO-licensed feature"));
       },
       {{"push", "PRO-licensed"}, {"promote", "PRO-licensed"}}},
      // Sonatype docs, "Docker Authentication": Basic, whose name it writes in capitals.
      {"Nexus", "writes BASIC",
       [](scripted_registry& r, client_options& o) {
         by_basic(r, o);
         r.challenges = {R"(BASIC realm="Sonatype Nexus Repository Manager")"};
       }},
  };
}

std::vector<quirk> artifactory() {
  return {
      // renovatebot/renovate #15080, #15030: Link misses the repository in the path.
      {"Artifactory", "links to a path without its repository",
       [](scripted_registry& r, client_options&) {
         r.page = 1;
         r.link = "</v2/app/tags/list?{query}>; rel=\"next\"";
       }},
      // jfrog/charts #455: the path behind the proxy is another one.
      {"Artifactory", "links to the path behind its proxy",
       [](scripted_registry& r, client_options&) {
         r.page = 1;
         r.link =
             "<http://inner:8081/artifactory/api/docker/x/v2/p/app/tags/list?{query}>; rel=next";
       }},
      // ivanilves/lstags #214: the token is opaque.
      {"Artifactory", "gives a token that is no JWT",
       [](scripted_registry& r, client_options& o) { by_token(r, o); }},
      // The same thread: Basic works as well.
      {"Artifactory", "takes Basic where it also offers tokens",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.wants = scripted_registry::proof::basic_or_token;
         r.challenges = {R"(Basic realm="Artifactory Realm")",
                         R"(Bearer realm="{h}/token",service="reg",scope="{scope}")"};
       }},
      // jfrog/artifactory-docker-examples #168: errors have a status and no code.
      {"Artifactory",
       "has errors without a code",
       [](scripted_registry& r, client_options&) {
         always(r, any_of("POST", "/uploads/"),
                respond(400, R"({"errors":[{"status":400,"message":"Unsupported request"}]})"));
       },
       {{"push", "400: Unsupported request"}, {"promote", "400: Unsupported request"}}},
      // renovatebot/renovate #3078: 406 where a list of tags is asked for with types of manifests.
      {"Artifactory", "answers 406 to a list of tags with types of manifests",
       [](scripted_registry& r, client_options&) {
         r.before = [](const request& q) -> std::optional<response> {
           const bool typed = q.fields.get("Accept").find("manifest") != std::string_view::npos;
           if (q.target.find("/tags/") == std::string::npos || !typed) return std::nullopt;
           return respond(406);
         };
       }},
  };
}

std::vector<quirk> zot() {
  return {
      // project-zot/zot #3538, #2392: anybody reads, writes want Basic.
      {"zot", "lets anybody read and wants Basic for writes",
       [](scripted_registry& r, client_options& o) {
         by_basic(r, o);
         r.anonymous_pulls = true;
       }},
      // project-zot/zot #3662: a proof that was not asked for is refused.
      {"zot", "refuses a login where none is wanted",
       [](scripted_registry& r, client_options& o) {
         log_in(o);
         r.before = [](const request& q) -> std::optional<response> {
           if (!q.fields.has("Authorization")) return std::nullopt;
           return respond(401);
         };
       }},
      // project-zot/zot #4190: Basic and Bearer at once.
      {"zot", "offers Basic before Bearer in one field",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.challenges = {
             R"(Basic realm="zot", Bearer realm="{h}/token",service="reg",scope="{scope}")"};
       }},
      // project-zot/zot #1727: 401 to a login that has no rights.
      {"zot",
       "answers 401 to a login without rights",
       [](scripted_registry& r, client_options& o) {
         by_basic(r, o);
         always(
             r, [](const request& q) { return q.method == "POST" || q.method == "PUT"; },
             error(401, "UNAUTHORIZED", "authentication required",
                   {{"WWW-Authenticate", "Basic realm=\"zot\""}}));
       },
       {{"push", "authentication required"}, {"promote", "authentication required"}}},
      // oras-project/oras-go #500: it mounts.
      {"zot", "mounts", [](scripted_registry& r, client_options& o) { by_basic(r, o); }},
      // zot docs, configuration, "ratelimit": by method.
      {"zot", "limits the rate of writes",
       [](scripted_registry& r, client_options&) {
         first(r, 4, any_of("PUT", "/v2/"), respond(429));
       }},
  };
}

std::vector<quirk> docker_registry() {
  return {
      // distribution, recipe for nginx: without the Host field it names its inner host.
      {"docker-registry", "names its inner host in Link",
       [](scripted_registry& r, client_options&) {
         r.page = 1;
         r.link = "<http://registry:5000{target}>; rel=\"next\"";
       }},
      // openshift/origin #11337: a router strips the port.
      {"docker-registry", "opens uploads at a Location without its port",
       [](scripted_registry& r, client_options&) { r.location = "http://reg{path}"; }},
      // distribution, handlers of blob uploads: the Location has a state.
      {"docker-registry", "opens uploads at a Location with a state",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.location = "{path}?_state=a%2Bb%3D%3D";
       }},
      // distribution, configuration http.relativeurls.
      {"docker-registry", "opens uploads at a path",
       [](scripted_registry& r, client_options& o) { by_basic(r, o); }},
      // RFC 8288, 3: several links in one field, parameters in any order.
      {"docker-registry", "has links beside the next one",
       [](scripted_registry& r, client_options&) {
         r.page = 1;
         r.link = "</v2/p/app/tags/list>; rel=\"first\", <{target}>; title=\"a, b\"; rel=\"next\"";
       }},
      // opencontainers/distribution-spec #470, RFC 3986, 5.2: a query alone.
      {"docker-registry", "links to the next page with a query alone",
       [](scripted_registry& r, client_options&) {
         r.page = 1;
         r.link = "<?{query}>; rel=\"next\"";
       }},
      // opencontainers/distribution-spec #208: the digest's field is optional.
      {"docker-registry", "says no digest",
       [](scripted_registry& r, client_options&) { r.digest_field = ""; }},
      // distribution, handlers of manifests: 304 to a digest that is known.
      {"docker-registry", "answers 304 to a digest that is known",
       [](scripted_registry& r, client_options&) {
         r.head_of_manifest = 405;
         r.before = [](const request& q) -> std::optional<response> {
           if (!q.fields.has("If-None-Match")) return std::nullopt;
           return respond(304);
         };
       }},
      // opencontainers/distribution-spec, "Pulling manifests": the Content-Type only should match.
      {"docker-registry", "says another Content-Type, with a charset",
       [](scripted_registry& r, client_options&) {
         r.type_of_manifest = "application/json; charset=utf-8";
       }},
      // distribution, "Registry as a pull through cache": no writes.
      {"docker-registry",
       "takes no writes as a cache",
       [](scripted_registry& r, client_options&) {
         always(
             r, [](const request& q) { return q.method == "POST" || q.method == "PUT"; },
             error(405, "UNSUPPORTED", "The operation is unsupported."));
       },
       {{"push", "The operation is unsupported"}, {"promote", "The operation is unsupported"}}},
      // distribution, access controller "token": the challenge says what was wrong.
      {"docker-registry", "adds an error to its challenge",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.challenges = {
             R"(Bearer realm="{h}/token",service="reg",scope="{scope}",error="invalid_token")"};
       }},
      // RFC 9110, 11.6.1: several fields.
      {"docker-registry",
       "offers Basic to the anonymous, and Bearer in another field",
       [](scripted_registry& r, client_options&) {
         r.wants = scripted_registry::proof::token;
         r.anonymous_pulls = true;
         r.challenges = {R"(Basic realm="reg")",
                         R"(Bearer realm="{h}/token",service="reg",scope="{scope}")"};
       },
       {{"push", "401"}, {"promote", "401"}}},
      // RFC 9110, 11.6.1: the client chooses; the login goes to no foreign token server.
      {"docker-registry", "names a foreign token server beside Basic",
       [](scripted_registry& r, client_options& o) {
         by_basic(r, o);
         r.challenges = {R"(Bearer realm="http://elsewhere:81/token",service="reg")",
                         R"(Basic realm="reg")"};
       }},
      // RFC 4559: Negotiate of a proxy in front.
      {"docker-registry", "offers Negotiate first",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.challenges = {"Negotiate", R"(Bearer realm="{h}/token",service="reg",scope="{scope}")"};
       }},
      // RFC 9110, 11.2: what follows a scheme may be one word.
      {"docker-registry", "offers NTLM and Basic in one field",
       [](scripted_registry& r, client_options& o) {
         by_basic(r, o);
         r.challenges = {R"(NTLM TlRMTVNTUAAB=, Basic realm="reg")"};
       }},
      // distribution-spec, "Mounting a blob": 202 only should be the answer.
      {"docker-registry", "answers 405 to a mount",
       [](scripted_registry& r, client_options&) { r.mount = 405; }},
      {"docker-registry", "answers 400 to a mount",
       [](scripted_registry& r, client_options&) { r.mount = 400; }},
      {"docker-registry", "answers 404 to a mount",
       [](scripted_registry& r, client_options&) { r.mount = 404; }},
      // RFC 9110, 15.5.6 and 15.6.2: a proxy that serves no HEAD.
      {"docker-registry", "has a proxy in front that answers 405 to HEAD",
       [](scripted_registry& r, client_options&) { r.head_of_manifest = r.head_of_blob = 405; }},
      {"docker-registry", "has a proxy in front that answers 501 to HEAD",
       [](scripted_registry& r, client_options&) { r.head_of_manifest = r.head_of_blob = 501; }},
      // getarcaneapp/arcane #2080: clients try GET after 403 as well.
      {"docker-registry", "has a firewall in front that answers 403 to HEAD",
       [](scripted_registry& r, client_options&) { r.head_of_manifest = r.head_of_blob = 403; }},
      {"docker-registry", "has a firewall in front that answers 400 to HEAD",
       [](scripted_registry& r, client_options&) { r.head_of_manifest = r.head_of_blob = 400; }},
      // moby/moby #50065: a registry of GitLab redirects HEAD to a URL that was signed for GET.
      {"docker-registry", "redirects HEAD to a URL that was signed for GET",
       [](scripted_registry& r, client_options&) {
         r.before = [](const request& q) -> std::optional<response> {
           if (q.method != "HEAD") return std::nullopt;
           return respond(307, "", {{"Location", "http://cdn/sha256:x?X-Amz-Signature=a"}});
         };
       }},
      // RFC 9110, 10.2.3: Retry-After with seconds or a date.
      {"docker-registry", "is unavailable and says for how long",
       [](scripted_registry& r, client_options&) {
         first(r, 3, any_of("", "/v2/"), respond(503, "", {{"Retry-After", "5"}}));
       }},
      {"docker-registry", "says by a date how long to wait",
       [](scripted_registry& r, client_options&) {
         first(r, 1, any_of("", "/v2/"),
               respond(429, "", {{"Retry-After", "Thu, 01 Jan 2026 00:00:45 GMT"}}));
       }},
      // RFC 9110, 15.6.5: a gateway in front.
      {"docker-registry", "has a gateway in front that times out",
       [](scripted_registry& r, client_options&) {
         first(r, 2, any_of("GET", "/v2/"), respond(504));
       }},
      // sei-protocol/sei-chain #3622: the token server fails for a moment.
      {"docker-registry", "has a token server that is not there for a moment",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         first(r, 2, any_of("", "/token"), respond(503, "", {{"Retry-After", "1"}}));
       }},
      {"docker-registry", "has a token server that ends the connection",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         first(r, 2, any_of("", "/token"), dropped);
       }},
      // distribution/distribution #142, containers/image #382: any 2xx means that it is stored.
      {"docker-registry", "answers 204 to an upload",
       [](scripted_registry& r, client_options&) { r.stored_blob = 204; }},
      // distribution, "Token Authentication Specification": 401 of the token server.
      {"docker-registry",
       "refuses a wrong login",
       [](scripted_registry& r, client_options& o) {
         by_token(r, o);
         r.anonymous_pulls = false;
         o.login.password = reactor::secret("wrong");
       },
       {{"pull", "wrong login"},
        {"push", "wrong login"},
        {"tags", "wrong login"},
        {"facts", "wrong login"},
        {"promote", "wrong login"}}},
  };
}

const std::vector<quirk>& quirks() {
  static const std::vector<quirk> all = [] {
    std::vector<quirk> out;
    for (auto* of : {docker_hub, ghcr, ecr, gar, acr, quay, harbor, nexus, artifactory, zot,
                     docker_registry}) {
      auto more = of();
      std::ranges::move(more, std::back_inserter(out));
    }
    return out;
  }();
  return all;
}

std::string described(const char* type, const std::string& bytes) {
  return R"({"mediaType":")" + std::string(type) + R"(","digest":")" + digest_of(bytes) +
         R"(","size":)" + std::to_string(bytes.size()) + "}";
}
std::string manifest_of(const std::string& layer) {
  return R"({"schemaVersion":2,"config":)" + described("application/x.config", "config") +
         R"(,"layers":[)" + described("application/x.layer", layer) + "]}";
}
const std::string image = manifest_of("layer one"), other = manifest_of("layer two");
const std::string index_text = R"({"schemaVersion":2,"manifests":[)" +
                               described(media_type::image_manifest, image) + "," +
                               described(media_type::image_manifest, other) + "]}";

/// Plays an operation against each registry of the table.
class RegistryQuirks : public WebFixture {
protected:
  static scripted_registry filled() {
    scripted_registry r;
    for (const char* blob : {"config", "layer one", "layer two"}) r.put_blob("p/app", blob);
    r.put_manifest("p/app", "v1", image, media_type::image_manifest);
    r.put_manifest("p/app", "v2", other, media_type::image_manifest);
    r.put_manifest("p/app", "v3", index_text, media_type::image_index);
    return r;
  }

  /// What the operation came to: nothing, or its error.
  using operation = std::function<awaitable<std::string>(client&, std::string)>;
  void play(const std::string& name, operation what,
            std::function<void(const scripted_registry&)> afterwards = {}) {
    std::size_t played = 0;
    for (const quirk& q : quirks()) {
      SCOPED_TRACE(q.of + " " + q.does);
      scripted_registry reg = filled();
      client_options options;
      options.plain_http = true;
      options.given_for = "reg:5000";
      q.set(reg, options);
      std::string came;
      run([&]() -> awaitable<void> {
        const bool hub = reg.host != "reg:5000";
        told_server own(l, hub ? reg.host : "reg", hub ? 80 : 5000,
                        [&](const request& r) { return reg(r); });
        told_server tokens(l, "auth.docker.io", 80, [&](const request& r) { return reg(r); });
        told_server cdn(l, "cdn", 80, [&](const request& r) { return reg.cdn(r); });
        told_server elsewhere(l, "elsewhere", 81, [](const request&) { return respond(200); });
        web w(l, env());
        {
          client c(l, w, options);
          came = co_await what(c, options.given_for);
        }
        EXPECT_TRUE(elsewhere.seen.empty());
        EXPECT_FALSE(cdn.asked_with_authorization());
        co_await w.stop();
        co_await own.stop();
        co_await tokens.stop();
        co_await cdn.stop();
        co_await elsewhere.stop();
      });
      const auto wrong = q.fails.find(name);
      if (wrong == q.fails.end()) {
        EXPECT_EQ(came, "");
        if (afterwards) afterwards(reg);
      } else {
        EXPECT_THAT(came, HasSubstr(wrong->second));
      }
      ++played;
    }
    EXPECT_EQ(played, quirks().size());
  }
  static oci_reference at(const std::string& host, const std::string& rest) {
    return *parse_oci_reference(host + "/" + rest);
  }

  static awaitable<std::string> pull(client& c, std::string host) {  // borrowed
    const oci_reference from = at(host, "p/app:v1");
    auto top = co_await c.manifest(from);
    if (!top) co_return top.error().text;
    EXPECT_EQ(top->bytes, image);
    std::vector<descriptor> parts = top->content.layers;
    parts.push_back(*top->content.config);
    for (const descriptor& part : parts) {
      auto bytes = co_await c.blob(from, part, 1'000);
      if (!bytes) co_return bytes.error().text;
      EXPECT_EQ(digest_of(*bytes), part.digest);
    }
    auto promised = co_await c.promised_digest(from);
    if (!promised) co_return promised.error().text;
    EXPECT_TRUE(promised->empty() || *promised == digest_of(image)) << *promised;
    co_return std::string();
  }
  static awaitable<std::string> push(client& c, std::string host) {  // borrowed
    const oci_reference to = at(host, "q/new:v9");
    const std::vector<std::string> parts{"config", "layer one"};
    for (const std::string& bytes : parts) {
      const descriptor d{"application/x", digest_of(bytes), bytes.size()};
      auto done = co_await c.put_blob(to, d, bytes);
      if (!done) co_return done.error().text;
    }
    auto stored = co_await c.put_manifest(to, image);
    if (!stored) co_return stored.error().text;
    EXPECT_EQ(*stored, digest_of(image));
    co_return std::string();
  }
  static awaitable<std::string> tags(client& c, std::string host) {  // borrowed
    const oci_reference of = at(host, "p/app");
    auto all = co_await c.tags(of);
    if (!all) co_return all.error().text;
    EXPECT_EQ(*all, (std::vector<std::string>{"v1", "v2", "v3"}));
    co_return std::string();
  }
  /// As `train facts`: each tag that is listed, without and with what was known of it.
  static awaitable<std::string> facts(client& c, std::string host) {  // borrowed
    oci_reference of = at(host, "p/app");
    auto all = co_await c.tags(of);
    if (!all) co_return all.error().text;
    for (const std::string& tag : *all) {
      of.tag = tag;
      auto fresh = co_await c.current_digest(of, std::string());
      if (!fresh) co_return fresh.error().text;
      EXPECT_EQ(*fresh, digest_of(tag == "v1" ? image : tag == "v2" ? other : index_text));
      auto again = co_await c.current_digest(of, *fresh);
      if (!again) co_return again.error().text;
      EXPECT_EQ(*again, *fresh);
    }
    of.tag = "gone";
    auto gone = co_await c.current_digest(of, std::string());
    EXPECT_EQ(to_string(gone ? errc::malformed : gone.error().code), std::string("not_found"));
    co_return std::string();
  }
  static awaitable<std::string> promote(client& c, std::string host) {  // borrowed
    const std::map<std::string, std::string> all{{"v1", digest_of(image)},
                                                 {"v3", digest_of(index_text)}};
    for (const auto& [tag, digest] : all) {
      oci_reference from = at(host, "p/app:" + tag);
      from.digest = digest;
      const oci_reference to = at(host, "q/app:" + tag + ".0");
      auto done = co_await retag(c, from, to);
      if (!done) co_return done.error().text;
      EXPECT_EQ(*done, retagged::made);
      auto again = co_await retag(c, from, to);
      if (!again) co_return again.error().text;
      EXPECT_EQ(*again, retagged::there_already);
    }
    co_return std::string();
  }
};

TEST_F(RegistryQuirks, Pull) {
  play("pull", pull);
}

TEST_F(RegistryQuirks, Push) {
  play("push", push, [](const scripted_registry& r) {
    EXPECT_EQ(r.repositories.at("q/new").manifests.at("v9").bytes, image);
  });
}

TEST_F(RegistryQuirks, Tags) {
  play("tags", tags);
}

TEST_F(RegistryQuirks, Facts) {
  play("facts", facts);
}

TEST_F(RegistryQuirks, Promote) {
  play("promote", promote, [](const scripted_registry& r) {
    EXPECT_EQ(r.repositories.at("q/app").manifests.at("v1.0").bytes, image);
    EXPECT_EQ(r.repositories.at("q/app").manifests.at("v3.0").bytes, index_text);
    EXPECT_TRUE(r.sessions.empty()) << "an upload that was opened is left behind";
  });
}

TEST(RegistryQuirkTable, HasSixtyHabitsOfElevenRegistries) {
  std::set<std::string> whose, all;
  for (const quirk& q : quirks()) {
    whose.insert(q.of);
    EXPECT_TRUE(all.insert(q.of + " " + q.does).second) << q.does;
  }
  EXPECT_EQ(whose.size(), 11u);
  EXPECT_GE(all.size(), 60u);
  std::printf("## {\"registry_quirks\":%zu,\"operations\":5}\n", all.size());
}

}  // namespace
}  // namespace registry
