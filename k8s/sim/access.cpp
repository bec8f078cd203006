// Who somebody is and what he may do: tokens of service accounts, and the question about one's own
// rights.
#include "k8s/sim/core.hpp"

#include <algorithm>

namespace k8s::sim {

namespace {

constexpr std::int64_t kUsualLife = 3600, kShortestLife = 600;  // seconds
constexpr std::int64_t kLongestLife = std::int64_t{1} << 32;

/// The request that a verb on a resource is, for the rules that see requests.
request request_for(const json::object& wanted) {
  const std::string verb(text(wanted, {"verb"})), group(text(wanted, {"group"})),
      ns(text(wanted, {"namespace"}));
  const std::string version(text(wanted, {"version"}).empty() ? "v1" : text(wanted, {"version"}));
  request r;
  r.method = verb == "create"                                 ? "POST"
             : verb == "update"                               ? "PUT"
             : verb == "patch"                                ? "PATCH"
             : verb == "delete" || verb == "deletecollection" ? "DELETE"
                                                              : "GET";
  if (verb == "watch") r.query.emplace_back("watch", "true");
  r.path = group.empty() ? "/api/" + version : "/apis/" + group + "/" + version;
  if (!ns.empty()) r.path += "/namespaces/" + ns;
  r.path += "/" + std::string(text(wanted, {"resource"}));
  const std::string_view name = text(wanted, {"name"}), below = text(wanted, {"subresource"});
  // Who may do it to any may do it to the one that is asked about here.
  if (!name.empty() || !below.empty()) r.path += "/" + std::string(name.empty() ? "*" : name);
  if (!below.empty()) r.path += "/" + std::string(below);
  return r;
}

answer created(const json::object& o) {
  answer a;
  a.status = 201;
  a.body = json::serialize(o);
  return a;
}

}  // namespace

std::optional<std::string> core::user_of_token(std::string_view token) {
  const auto at = issued_tokens.find(token);
  if (at == issued_tokens.end()) return std::nullopt;
  const issued_token& t = at->second;
  const version_ptr account = objects.get("/serviceaccounts", object_path(t.ns, t.name));
  const bool stands = account && text(account->parsed(), {"metadata", "uid"}) == t.uid;
  if (!stands || t.expires <= wall()) return std::string();
  return "system:serviceaccount:" + t.ns + ":" + t.name;
}

outcome<answer> core::issue_token(call& c) {
  auto body = body_object(c);
  if (!body) return body.error();
  const version_ptr v = find(*c.kind, c.key());
  if (!v) return not_found(*c.kind, c.name);
  const std::int64_t seconds = number(*body, {"spec", "expirationSeconds"}, kUsualLife);
  const auto wrong = [&](std::string_view why) {
    return invalid("authentication.k8s.io", "TokenRequest", "",
                   {field_error::invalid("spec.expirationSeconds", seconds, why)});
  };
  if (seconds < kShortestLife) return wrong("may not specify a duration less than 10 minutes");
  if (seconds > kLongestLife) return wrong("may not specify a duration larger than 2^32 seconds");
  const reactor::wall_time until = wall() + std::chrono::seconds(seconds);
  std::erase_if(issued_tokens, [&](const auto& t) { return t.second.expires <= wall(); });
  std::string token = "sim." + options.entropy->uuid() + "." + options.entropy->uuid();
  json::object spec = find_object(*body, {"spec"}) ? *find_object(*body, {"spec"}) : json::object();
  spec["expirationSeconds"] = seconds;
  set_default(spec, "audiences", json::array{"https://kubernetes.default.svc"});
  set_default(spec, "boundObjectRef", nullptr);
  json::object metadata{{"name", c.name}, {"namespace", c.ns}, {"creationTimestamp", timestamp()}};
  json::object status{{"token", token}, {"expirationTimestamp", reactor::format_rfc3339(until)}};
  if (!c.dry_run)
    issued_tokens[std::move(token)] = {c.ns, c.name,
                                       std::string(text(v->parsed(), {"metadata", "uid"})), until};
  json::object o{{"kind", "TokenRequest"}, {"apiVersion", "authentication.k8s.io/v1"}};
  o["metadata"] = std::move(metadata);
  o["spec"] = std::move(spec);
  o["status"] = std::move(status);
  return created(o);
}

outcome<answer> core::review_access(call& c) {
  auto body = body_object(c);
  if (!body) return body.error();
  const json::object* wanted = find_object(*body, {"spec", "resourceAttributes"});
  const json::object* path = find_object(*body, {"spec", "nonResourceAttributes"});
  if ((wanted != nullptr) == (path != nullptr))
    return invalid(c.kind->group, c.kind->kind, "",
                   {field_error::invalid("spec.resourceAttributes", nullptr,
                                         "exactly one of nonResourceAttributes or "
                                         "resourceAttributes must be specified")});
  request asked;
  if (path) {
    asked.path = std::string(text(*path, {"path"}));
  } else {
    asked = request_for(*wanted);
  }
  const access_rules& access = options.access;
  const bool allowed = !access.authorize || access.authorize(c.user, asked);
  json::object o{{"kind", c.kind->kind}, {"apiVersion", c.kind->api_version()}};
  o["metadata"] = json::object{{"creationTimestamp", nullptr}};
  o["spec"] = body->at("spec");
  o["status"] = json::object{{"allowed", allowed}};
  return created(o);
}

}  // namespace k8s::sim
