#include "k8s/sim/api_server.hpp"

#include "k8s/sim/core.hpp"
#include "k8s/sim/objects/schema.hpp"

namespace k8s::sim {

core::core(api_server& face, api_options o)
    : outside(face),
      options(std::move(o)),
      objects({options.history_changes, options.history_age}) {
  kinds.be(options.version);
  kind_ptr namespaces = kinds.find("", "v1", "namespaces");
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    json::object ns{{"kind", "Namespace"}, {"apiVersion", "v1"}};
    ns["metadata"] = json::object{{"name", name},
                                  {"uid", options.entropy->uuid()},
                                  {"creationTimestamp", timestamp()},
                                  {"labels", json::object{{"kubernetes.io/metadata.name", name}}}};
    ns["spec"] = json::object{{"finalizers", json::array{"kubernetes"}}};
    ns["status"] = json::object{{"phase", "Active"}};
    commit_put(*namespaces, name, std::move(ns));
  }
  if (uses_rbac()) {
    request none;
    for (const json::object& o : bootstrap_roles()) {
      call made;
      made.in = &none;
      made.kind = kinds.find_kind(text(o, {"apiVersion"}), text(o, {"kind"}));
      made.manager = "kube-apiserver";
      if (auto done = create_object(made, o); !done)
        throw_exception_from_error(done.error(), BOOST_CURRENT_LOCATION);
    }
  }
  reactions.clear();
  objects.compact();
}

request make_request(std::string method, std::string_view target, std::string body,
                     std::string content_type) {
  request r;
  r.method = std::move(method);
  reactor::http::target_parts parts = reactor::http::split_target(target);
  r.path = std::move(parts.path);
  r.query = std::move(parts.query);
  if (!body.empty()) r.fields.set("Content-Type", content_type);
  r.body = std::move(body);
  return r;
}

api_server::api_server(api_options options)
    : core_(std::make_unique<core>(*this, std::move(options))) {}
api_server::~api_server() {
  core_->end_watches();
}

answer api_server::handle(const request& r) {
  if (before) {
    if (auto instead = before(r)) return *instead;
  }
  answer a = core_->handle(r);
  if (after) after(r, a);
  return a;
}

json::object api_server::put(json::object o) {
  core& c = *core_;
  kind_ptr k = c.kinds.find_kind(text(o, {"apiVersion"}), text(o, {"kind"}));
  if (!k) return {};
  o = to_storage(*k, std::move(o));
  json::object& meta = ensure_object(o, "metadata");
  if (k->namespaced) set_default(meta, "namespace", "default");
  const std::string key = key_of(o);
  core::stored now;
  if (version_ptr old = c.find(*k, key)) {
    const core::stored before_it = old->look();
    for (const char* f : {"uid", "creationTimestamp", "generation"}) {
      put_or_erase(meta, f, find(*before_it, {"metadata", f}));
    }
    now = c.commit_put(*k, key, std::move(o));
  } else {
    const json::value status = o.contains("status") ? o["status"] : json::value(nullptr);
    call made;
    request empty;
    made.in = &empty;
    made.kind = k;
    made.ns = std::string(text(meta, {"namespace"}));
    made.manager = "kubectl-create";  // what a person does, who has no server to ask
    auto created =
        c.create_object(made, std::move(o), status.is_object() ? &status.get_object() : nullptr);
    if (!created) throw_exception_from_error(created.error(), BOOST_CURRENT_LOCATION);
    now = *created;
  }
  c.react();
  return *now;
}

std::optional<json::object> api_server::get(std::string_view group, std::string_view plural,
                                            std::string_view ns, std::string_view name) const {
  kind_ptr k = core_->kinds.find_collection(group, plural);
  version_ptr v = k ? core_->find(*k, object_path(ns, name)) : nullptr;
  if (!v) return std::nullopt;
  return v->parsed();
}

std::vector<json::object> api_server::list(std::string_view group, std::string_view plural) const {
  std::vector<json::object> all;
  if (kind_ptr k = core_->kinds.find_collection(group, plural)) {
    for (const auto& [key, v] : core_->objects.objects(k->collection())) all.push_back(v->parsed());
  }
  return all;
}

bool api_server::edit(std::string_view group, std::string_view plural, std::string_view ns,
                      std::string_view name, const std::function<void(json::object&)>& change) {
  kind_ptr k = core_->kinds.find_collection(group, plural);
  const std::string key = object_path(ns, name);
  version_ptr v = k ? core_->find(*k, key) : nullptr;
  if (!v) return false;
  json::object o = v->parsed();
  const json::object before_it = o;
  change(o);
  if (!same(o, before_it)) core_->commit_put(*k, key, std::move(o));
  core_->react();
  return true;
}

bool api_server::erase(std::string_view group, std::string_view plural, std::string_view ns,
                       std::string_view name) {
  kind_ptr k = core_->kinds.find_collection(group, plural);
  const std::string key = object_path(ns, name);
  version_ptr v = k ? core_->find(*k, key) : nullptr;
  if (!v) return false;
  json::object o = v->parsed();
  core_->commit_remove(*k, key, std::move(o));
  core_->react();
  return true;
}

bool api_server::finish_termination(std::string_view ns, std::string_view pod) {
  const std::string key = object_path(ns, pod);
  if (!core_->objects.get("/pods", key)) return false;
  core_->terminate_pod(key, {});
  core_->react();
  return core_->objects.get("/pods", key) == nullptr;
}

void api_server::advance() {
  core& c = *core_;
  while (!c.terminations.empty() && c.terminations.begin()->first <= c.now()) {
    auto [key, uid] = c.terminations.begin()->second;
    c.terminations.erase(c.terminations.begin());
    c.terminate_pod(key, uid);
    c.react();
  }
}

reactor::steady_time api_server::next_due() const {
  return core_->terminations.empty() ? reactor::never : core_->terminations.begin()->first;
}

void api_server::compact() {
  core_->objects.compact();
}

void api_server::freeze(bool frozen) {
  core_->frozen = frozen;
  const auto all = core_->watches;
  for (const auto& w : all) {
    if (auto s = w.by.lock()) s->hold(frozen);
  }
  if (on_due_changed) on_due_changed();
}

bool api_server::frozen() const noexcept {
  return core_->frozen;
}

void api_server::serve_stale(std::uint64_t versions_behind, bool all) {
  core_->stale_by = versions_behind;
  core_->stale_all = all;
}

struct api_server::backup {
  store objects;
  catalogue kinds;
};

std::shared_ptr<const api_server::backup> api_server::save() const {
  return std::make_shared<backup>(backup{core_->objects, core_->kinds});
}

void api_server::restore(const backup& saved) {
  core_->objects = saved.objects;
  core_->kinds = saved.kinds;
  core_->kinds.be(core_->options.version);
  core_->terminations.clear();
  restart(memory::lost);
}

void api_server::restart(memory history) {
  core_->end_watches();
  if (history == memory::lost) core_->objects.compact();
}

access_rules& api_server::access() noexcept {
  return core_->options.access;
}
void api_server::be(std::string version) {
  core_->options.version = std::move(version);
  core_->kinds.be(core_->options.version);
}

const std::string& api_server::version() const noexcept {
  return core_->options.version;
}

const std::string& api_server::name() const noexcept {
  return core_->options.name;
}
std::uint64_t api_server::revision() const noexcept {
  return core_->objects.revision();
}
std::size_t api_server::object_count() const {
  return core_->objects.object_count();
}
reactor::steady_time api_server::now() const {
  return core_->now();
}

std::size_t api_server::watch_count() const {
  std::size_t n = 0;
  for (const auto& w : core_->watches) {
    auto s = w.by.lock();
    if (s && !s->ended()) ++n;
  }
  return n;
}

}  // namespace k8s::sim
