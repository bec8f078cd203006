#include "simulation/tag_registry.hpp"

#include "formats/base64.hpp"
#include "formats/digest.hpp"
#include "reactor/http/authorization.hpp"
#include "reactor/loop.hpp"
#include "simulation/pool_cluster.hpp"
#include "simulation/small_server.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <array>
#include <utility>

namespace simulation {
namespace {

constexpr std::string_view manifests = "/v2/os/node/manifests/", tag = "stable", user = "puller";

reactor::http::response failed(int status, std::string_view code) {
  reactor::http::response out;
  out.status = status;
  out.fields.set("Content-Type", "application/json");
  out.body = R"({"errors":[{"code":")";
  out.body += code;
  out.body += R"("}]})";
  return out;
}

std::string proof_of(const std::string& password) {
  return formats::encode_base64(std::string(user) + ":" + password);
}

}  // namespace

tag_registry::tag_registry(reactor::loop& l) : named_(old_image) {
  server_ =
      small_server(l, host, 5000, [this](const reactor::http::request& r) { return answer(r); });
}

reactor::result<void> tag_registry::start() {
  return server_->start();
}

reactor::awaitable<void> tag_registry::stop() {
  co_await server_->stop();
}

void tag_registry::move_on() {
  move(new_image);
}

std::string tag_registry::ref() const {
  return server_->local().text() + "/os/node:" + std::string(tag);
}

std::string tag_registry::docker_config(const std::string& password) const {
  boost::json::object login;
  login["auth"] = proof_of(password);
  boost::json::object of;
  of[server_->local().text()] = std::move(login);
  boost::json::object out;
  out["auths"] = std::move(of);
  return boost::json::serialize(out);
}

reactor::http::response tag_registry::answer(const reactor::http::request& r) {
  ++requests_;
  if (behaviour_ == behaviour::failing) return failed(503, "UNAVAILABLE");
  if (behaviour_ == behaviour::throttling) {
    reactor::http::response out = failed(429, "TOOMANYREQUESTS");
    out.fields.set("retry-after", "20");
    return out;
  }
  if (!password_.empty() && r.fields.get("authorization") !=
                                reactor::http::basic_authorization(user, password_).reveal()) {
    reactor::http::response out = failed(401, "UNAUTHORIZED");
    out.fields.set("WWW-Authenticate", R"(Basic realm="simulation")");
    return out;
  }
  const std::string path = reactor::http::split_target(r.target).path;
  if (r.method != "GET" && r.method != "HEAD") return failed(405, "UNSUPPORTED");
  if (path == "/v2/") return {};
  if (!path.starts_with(manifests)) return failed(404, "NAME_UNKNOWN");
  const std::string_view wanted = std::string_view(path).substr(manifests.size());
  const std::array<std::pair<std::string_view, std::string_view>, 3> images{
      {{old_image, old_manifest}, {middle_image, middle_manifest}, {new_image, new_manifest}}};
  for (const auto& [image, manifest] : images) {
    const std::string digest = formats::digest_of(manifest);
    if (wanted != digest && !(wanted == tag && image == named_)) continue;
    reactor::http::response out;
    out.fields.set("Content-Type", "application/vnd.oci.image.index.v1+json");
    out.fields.set("Docker-Content-Digest", digest);
    out.body = manifest;
    if (behaviour_ == behaviour::lying) out.body += "\n";
    return out;
  }
  return failed(404, "MANIFEST_UNKNOWN");
}

}  // namespace simulation
