// Which user a request comes from and what it may do: tokens of service accounts, and the question
// about one's own rights.
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

rbac core::judge() const {
  return rbac([this](std::string_view plural) {
    std::vector<rbac::object_ptr> all;
    for (const auto& [key, v] : objects.objects("rbac.authorization.k8s.io/" + std::string(plural)))
      all.push_back(v->look());
    return all;
  });
}

outcome<identity> core::identify(const request& r) {
  const failure unknown{401, "Unauthorized", "Unauthorized"};
  const access_rules& access = options.access;
  identity who{r.user, {}};
  if (const std::string_view header = r.fields.get("authorization"); presents_token(r)) {
    std::string_view token = header.substr(7);
    while (token.starts_with(' ')) token.remove_prefix(1);
    while (token.ends_with(' ')) token.remove_suffix(1);
    const auto known = access.tokens.find(std::string(token));
    if (auto issued = user_of_token(token)) {
      if (issued->empty()) return unknown;
      who.user = *std::move(issued);
    } else if (known != access.tokens.end()) {
      who.user = known->second;
    } else if (!access.tokens.empty() || !access.anonymous) {
      return unknown;
    }
  }
  if (who.user.empty()) {
    if (!access.anonymous) return unknown;
    who.user = "system:anonymous";
  }
  const auto with_groups = [&](identity of) {
    if (const auto more = access.groups.find(of.user); more != access.groups.end())
      of.groups = more->second;
    for (std::string& g : usual_groups(of.user)) of.groups.push_back(std::move(g));
    return of;
  };
  who = with_groups(std::move(who));
  const std::string_view other = r.fields.get("impersonate-user");
  if (!uses_rbac() || other.empty()) return who;
  attributes wanted;
  wanted.verb = "impersonate";
  identity as{std::string(other), {}};
  constexpr std::string_view account = "system:serviceaccount:";
  wanted.resource = "users";
  wanted.name = as.user;
  if (other.starts_with(account)) {
    const std::string_view rest = other.substr(account.size());
    wanted.resource = "serviceaccounts";
    wanted.ns = std::string(rest.substr(0, rest.find(':')));
    wanted.name = std::string(rest.substr(std::min(rest.find(':') + 1, rest.size())));
  }
  if (auto no = refuses(who, wanted)) return *no;
  if (const std::string_view group = r.fields.get("impersonate-group"); !group.empty()) {
    wanted.resource = "groups";
    wanted.ns.clear();
    wanted.name = std::string(group);
    if (auto no = refuses(who, wanted)) return *no;
    as.groups.emplace_back(group);
    as.groups.emplace_back("system:authenticated");
    return as;
  }
  return with_groups(std::move(as));
}

std::optional<failure> core::refuses(const identity& who, const attributes& what) const {
  const rbac::verdict v = judge().judge(who, what);
  if (v.allowed) return std::nullopt;
  std::string text = "User " + quoted(who.user) + " cannot " + what.verb;
  if (!what.path.empty()) {
    text += " path " + quoted(what.path);
  } else {
    text += " resource " + quoted(what.full_resource()) + " in API group " + quoted(what.group) +
            (what.ns.empty() ? std::string(" at the cluster scope")
                             : " in the namespace " + quoted(what.ns));
  }
  if (!v.reason.empty()) text += ": " + v.reason;
  std::string about = what.resource;
  if (!what.group.empty()) about += "." + what.group;
  if (!what.name.empty()) about += " " + quoted(what.name);
  failure f{403, "Forbidden", (about.empty() ? "" : about + " is ") + ("forbidden: " + text)};
  f.always_details = true;
  if (!what.name.empty()) f.details["name"] = what.name;
  if (!what.group.empty()) f.details["group"] = what.group;
  if (!what.resource.empty()) f.details["kind"] = what.resource;
  return f;
}

std::optional<failure> core::refuses_grant(const call& c, const json::object& o) const {
  if (!uses_rbac() || c.who.user.empty() || c.kind->group != "rbac.authorization.k8s.io")
    return std::nullopt;
  if (auto why = judge().refuses_grant(c.who, c.kind->plural, c.ns, o))
    return forbidden(*c.kind, text(o, {"metadata", "name"}), *why);
  return std::nullopt;
}

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
  attributes what;
  if (path) {
    asked.path = what.path = std::string(text(*path, {"path"}));
    what.verb = std::string(text(*path, {"verb"}));
  } else {
    asked = request_for(*wanted);
    what = {std::string(text(*wanted, {"verb"})),
            std::string(text(*wanted, {"group"})),
            std::string(text(*wanted, {"resource"})),
            std::string(text(*wanted, {"subresource"})),
            std::string(text(*wanted, {"namespace"})),
            std::string(text(*wanted, {"name"})),
            {}};
  }
  const access_rules& access = options.access;
  const bool allowed = (!access.authorize || access.authorize(c.who.user, asked)) &&
                       (!uses_rbac() || judge().judge(c.who, what).allowed);
  json::object o{{"kind", c.kind->kind}, {"apiVersion", c.kind->api_version()}};
  o["metadata"] = json::object{{"creationTimestamp", nullptr}};
  o["spec"] = body->at("spec");
  o["status"] = json::object{{"allowed", allowed}};
  return created(o);
}

}  // namespace k8s::sim
