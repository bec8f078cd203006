#include "k8s/sim/core.hpp"

#include <algorithm>
#include <charconv>

namespace k8s::sim {

namespace {

constexpr std::size_t kBodyLimit = 3 * 1024 * 1024;  // the real server's limit for one object

answer failed(const failure& f) {
  answer a;
  a.status = f.code;
  a.body = json::serialize(to_status(f));
  if (f.retry_after_seconds)
    a.fields.emplace_back("Retry-After", std::to_string(*f.retry_after_seconds));
  return a;
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

/// Whether metadata.managedFields is among the fields of a drop parameter: "a+b".
bool drops_managers(std::string_view fields) {
  while (!fields.empty()) {
    const std::string_view one = fields.substr(0, fields.find('+'));
    if (one == "metadata.managedFields") return true;
    fields.remove_prefix(std::min(one.size() + 1, fields.size()));
  }
  return false;
}

/// Reads what the client accepts: the first of its wishes that can be met. False when none can.
bool choose_form(std::string_view accept, representation& as) {
  if (accept.empty()) return true;
  while (!accept.empty()) {
    const std::size_t comma = accept.find(',');
    std::string_view wish = accept.substr(0, comma);
    accept = comma == std::string_view::npos ? std::string_view() : accept.substr(comma + 1);
    std::string_view type = trimmed(wish.substr(0, wish.find(';')));
    std::string_view form, group;
    bool drops = false;
    while (wish.find(';') != std::string_view::npos) {
      wish = wish.substr(wish.find(';') + 1);
      std::string_view parameter = trimmed(wish.substr(0, wish.find(';')));
      if (parameter.starts_with("as=")) form = parameter.substr(3);
      if (parameter.starts_with("g=")) group = parameter.substr(2);
      if (parameter.starts_with("drop=")) drops = drops_managers(parameter.substr(5));
    }
    if (type != "application/json" && type != "*/*" && type != "application/*") continue;
    as.drops_managers = drops;
    if (form.empty()) return true;
    if (group != "meta.k8s.io") continue;
    if (form == "Table") {
      as.as = representation::form::table;
      return true;
    }
    if (form == "PartialObjectMetadata" || form == "PartialObjectMetadataList") {
      as.as = representation::form::partial;
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> path_parts(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    if (path.front() == '/') {
      path.remove_prefix(1);
      continue;
    }
    const std::size_t slash = path.find('/');
    std::string_view part = path.substr(0, slash);
    std::string decoded;
    for (std::size_t i = 0; i < part.size(); ++i) {
      unsigned byte = 0;
      if (part[i] == '%' && i + 2 < part.size()) {
        auto [end, code] = std::from_chars(part.data() + i + 1, part.data() + i + 3, byte, 16);
        if (code == std::errc() && end == part.data() + i + 3) {
          decoded += static_cast<char>(byte);
          i += 2;
          continue;
        }
      }
      decoded += part[i];
    }
    parts.push_back(std::move(decoded));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash);
  }
  return parts;
}

std::string call::query(std::string_view name) const {
  for (const auto& [k, v] : in->query) {
    if (k == name) return v;
  }
  return {};
}

bool call::has_query(std::string_view name) const {
  return std::any_of(in->query.begin(), in->query.end(),
                     [&](const auto& kv) { return kv.first == name; });
}

bool call::query_flag(std::string_view name) const {
  if (!has_query(name)) return false;
  const std::string v = query(name);
  return v != "false" && v != "0" && v != "False" && v != "F" && v != "f";
}

answer core::handle(const request& r) {
  auto who = identify(r);
  if (!who) return failed(who.error());
  if (options.access.authorize && !options.access.authorize(who->user, r)) {
    return failed({403, "Forbidden",
                   "forbidden: User " + quoted(who->user) + " cannot " + r.method + " path " +
                       quoted(r.path)});
  }
  if (uses_rbac())
    if (const auto no = refuses(*who, attributes_of(r))) return failed(*no);
  objects.trim(now());
  answer a = route(r, *std::move(who));
  react();
  return a;
}

answer core::route(const request& r, identity who) {
  if (auto found = discover(r)) return *found;
  std::vector<std::string> parts = path_parts(r.path);
  std::string group, version;
  std::size_t at = 0;
  if (parts.size() >= 2 && parts[0] == "api") {
    version = parts[1];
    at = 2;
  } else if (parts.size() >= 3 && parts[0] == "apis") {
    group = parts[1];
    version = parts[2];
    at = 3;
  } else {
    answer a;
    a.status = 404;
    a.content_type = "text/plain; charset=utf-8";
    a.body = "404 page not found\n";
    return a;
  }
  if (!kinds.has_group_version(group, version)) {
    answer a;
    a.status = 404;
    a.content_type = "text/plain; charset=utf-8";
    a.body = "404 page not found\n";
    return a;
  }
  call c;
  c.in = &r;
  c.who = std::move(who);
  bool watch_prefix = false;
  if (at < parts.size() && parts[at] == "watch") {
    watch_prefix = true;
    ++at;
  }
  if (at + 2 < parts.size() && parts[at] == "namespaces") {
    kind_ptr inner = kinds.find(group, version, parts[at + 2]);
    const bool of_namespace =
        group.empty() && (parts[at + 2] == "status" || parts[at + 2] == "finalize");
    if (!of_namespace) {
      c.ns = parts[at + 1];
      at += 2;
      if (!inner || !inner->namespaced) return failed(page_not_found());
    }
  }
  if (at >= parts.size()) return failed(page_not_found());
  c.kind = kinds.find(group, version, parts[at]);
  if (!c.kind) return failed(page_not_found());
  if (at + 1 < parts.size()) c.name = parts[at + 1];
  if (at + 2 < parts.size()) c.subresource = parts[at + 2];
  if (at + 3 < parts.size()) return failed(page_not_found());
  if (c.kind->namespaced && c.ns.empty() && !c.name.empty()) return failed(page_not_found());
  if (c.kind->namespaced && c.ns.empty() && r.method != "GET" && r.method != "DELETE") {
    if (r.method == "POST") return failed(method_not_allowed());
  }
  if (!c.subresource.empty()) {
    const auto& others = c.kind->other_subresources;
    const bool known = (c.subresource == "status" && c.kind->status_subresource) ||
                       std::find(others.begin(), others.end(), c.subresource) != others.end();
    if (!known) return failed(page_not_found());
  }
  if (r.body.size() > kBodyLimit) {
    return failed({413, "RequestEntityTooLarge",
                   "Request entity too large: limit is " + std::to_string(kBodyLimit)});
  }
  c.as.kind = c.kind;
  c.as.now = wall();
  if (!choose_form(r.fields.get("accept"), c.as)) {
    return failed({406, "NotAcceptable",
                   "only the following media types are accepted: application/json, "
                   "application/json;stream=watch, "
                   "application/vnd.kubernetes.protobuf, application/yaml, "
                   "application/vnd.kubernetes.protobuf;stream=watch"});
  }
  c.as.drops_managers &= options.drops_managed_fields;
  const std::string include = c.query("includeObject");
  if (include == "None") c.as.include = representation::embedded::none;
  if (include == "Object") c.as.include = representation::embedded::object;
  const std::string dry = c.query("dryRun");
  if (!dry.empty()) {
    if (dry != "All") {
      return failed(
          invalid("meta.k8s.io", "CreateOptions", "",
                  {field_error::unsupported("dryRun", json::array{json::string(dry)}, {"All"})}));
    }
    c.dry_run = true;
  }
  c.manager = c.query("fieldManager");
  if (c.manager.empty()) {
    std::string_view agent = r.fields.get("user-agent");
    c.manager = std::string(agent.substr(0, std::min<std::size_t>(agent.find('/'), 128)));
    if (c.manager.empty()) c.manager = "unknown";
  }
  const std::string validation = c.query("fieldValidation");
  if (validation == "Ignore")
    c.validation = strictness::ignore;
  else if (validation == "Strict")
    c.validation = strictness::strict;
  else if (!validation.empty() && validation != "Warn") {
    return failed(invalid("meta.k8s.io", "CreateOptions", "",
                          {field_error::unsupported("fieldValidation", json::string(validation),
                                                    {"Ignore", "Strict", "Warn"})}));
  }
  if (watch_prefix && r.method == "GET") {
    auto w = watch(c);
    return w ? *w : failed(w.error());
  }
  auto served = serve(c);
  return served ? std::move(*served) : failed(served.error());
}

outcome<answer> core::serve(call& c) {
  const std::string& method = c.in->method;
  if (c.subresource == "eviction" || c.subresource == "binding") {
    if (method != "POST") return method_not_allowed();
    return c.subresource == "eviction" ? evict(c) : bind(c);
  }
  if (c.subresource == "token")
    return method == "POST" ? issue_token(c) : outcome<answer>(method_not_allowed());
  if (c.kind->answers_only)
    return method == "POST" && c.name.empty() ? review_access(c)
                                              : outcome<answer>(method_not_allowed());
  if (c.subresource == "log")
    return method == "GET" ? log(c) : outcome<answer>(method_not_allowed());
  if (c.subresource == "finalize") {
    if (method != "PUT") return method_not_allowed();
    return replace(c);
  }
  if (method == "GET") {
    const std::string w = c.query("watch");
    if (c.subresource.empty() && c.has_query("watch") && w != "false" && w != "0") return watch(c);
    return c.name.empty() ? list(c) : get(c);
  }
  if (method == "POST") return c.name.empty() ? create(c) : outcome<answer>(method_not_allowed());
  if (c.name.empty())
    return method == "DELETE" ? remove_collection(c) : outcome<answer>(method_not_allowed());
  if (method == "PUT") return replace(c);
  if (method == "PATCH") return patch(c);
  if (method == "DELETE" && c.subresource.empty()) return remove(c);
  return method_not_allowed();
}

bool presents_token(const request& r) {
  return r.fields.get("authorization").starts_with("Bearer ");
}

}  // namespace k8s::sim
