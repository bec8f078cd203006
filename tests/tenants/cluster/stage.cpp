#include "tests/tenants/cluster/stage.hpp"

#include "formats/base64.hpp"
#include "formats/yaml/yaml.hpp"
#include "helm/release/record.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace helm::tenants::testing {
namespace {

using reactor::http::request;
using reactor::http::response;

const json::object& at(const json::object& o, std::string_view key) {
  static const json::object none;
  const json::value* v = o.if_contains(key);
  return v && v->is_object() ? v->get_object() : none;
}

std::string text(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

json::object named(const char* api_version, const char* kind, const std::string& ns,
                   const std::string& name) {
  json::object metadata, o;
  metadata["name"] = name;
  if (!ns.empty()) metadata["namespace"] = ns;
  o["apiVersion"] = api_version;
  o["kind"] = kind;
  o["metadata"] = std::move(metadata);
  return o;
}

}  // namespace

std::string archive_of(const std::string& version, std::vector<chart_file> templates) {
  templates.push_back({"Chart.yaml", "apiVersion: v2\nname: web\nversion: " + version + "\n"});
  templates.push_back({"values.yaml", "v: standard\n"});
  templates.push_back(
      {"templates/map.yaml",
       "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  v: {{ .Values.v | quote "
       "}}\n  version: {{ .Chart.Version | quote }}\n"});
  std::vector<std::string> notes;
  auto loaded = load_files(std::move(templates), notes);
  if (!loaded) throw std::runtime_error(loaded.error().text);
  auto packed = sources::pack_chart(**loaded, 1'700'000'000);
  if (!packed) throw std::runtime_error(packed.error().text);
  return *packed;
}

repository::repository(reactor::loop& l)
    : server_(l, "charts", 80, [this](const request& r) { return answer(r); }) {}

void repository::offer(const std::string& version, std::string archive) {
  archives_[version] = std::move(archive);
}

std::size_t repository::asked(const std::string& path) const {
  return static_cast<std::size_t>(
      std::ranges::count(server_.seen, path, [](const request& r) { return r.target; }));
}

response repository::answer(const request& r) {
  if (down) return ::registry::respond(503);
  if (r.target == "/index.yaml") {
    if (!instead_of_index.empty()) return ::registry::respond(200, instead_of_index);
    std::string text = "apiVersion: v1\nentries:\n  web:\n", etag = "\"";
    for (const auto& [version, archive] : archives_) {
      text += "  - {apiVersion: v2, name: web, version: " + version + ", urls: [web-" + version +
              ".tgz]}\n";
      etag += version + " ";
    }
    etag += "\"";
    if (r.fields.get("If-None-Match") == etag) {
      ++unchanged;
      return ::registry::respond(304);
    }
    reactor::http::headers fields;
    fields.add("ETag", etag);
    return ::registry::respond(200, text, std::move(fields));
  }
  for (const auto& [version, archive] : archives_)
    if (r.target == "/web-" + version + ".tgz") return ::registry::respond(200, archive);
  return ::registry::respond(404);
}

member::member(reactor::loop& l, std::string n)
    : name(std::move(n)),
      api(k8s::sim::options_on(l)),
      front_(l, k8s::sim::server::settings{{name, 6443}, nullptr}) {
  front_.add(api);
  // Events are called by the time at which they are written.
  reactor::memory_network::of(l).faults(name).latency = 1ms;
  if (auto started = front_.start(); !started) throw std::runtime_error(started.error().message());
  put_namespace("kube-system");
  put_namespace("default");
  for (const std::string& crd : crd_manifests()) {
    auto read = formats::parse_kubernetes_yaml(crd, "crd");
    if (!read) throw std::runtime_error(read.error().message());
    api.put(read->as_object());
  }
  api.on_write = [this](const k8s::sim::written& w) {
    ++all_writes;
    const bool event = w.plural == "events";
    writes += !event;
    if (event && w.type == k8s::sim::write_type::added) events.push_back(text(*w.after, "reason"));
    dead = dead || (last_write > 0 && all_writes >= last_write);
  };
  api.before = [this](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (dead) {
      k8s::sim::answer silence;
      silence.drop = true;
      return silence;
    }
    if (answers)
      if (auto said = answers(r)) return said;
    if (!forbids || !forbids(r)) return std::nullopt;
    k8s::sim::answer no;
    no.status = 403;
    no.body =
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"not allowed","code":403})";
    return no;
  };
}

void member::put_namespace(const std::string& ns) {
  api.put(named("v1", "Namespace", "", ns));
}

k8s::connection member::to() const {
  k8s::connection c;
  c.server = "http://" + name + ":6443";
  return c;
}

void member::put_tenant(const std::string& tenant, const std::string& ns,
                        const std::string& cluster) {
  json::object o = named("mesh.openkcm.io/v1alpha1", "Tenant", ns, tenant);
  json::object spec;
  if (!cluster.empty()) {
    json::object ref;
    ref["secretName"] = cluster;
    spec["clusterRef"] = std::move(ref);
  }
  o["spec"] = std::move(spec);
  api.put(std::move(o));
}

json::object member::tenant(const std::string& tenant, const std::string& ns) const {
  auto o = api.get(names::group, "tenants", ns, tenant);
  return o ? *o : json::object();
}

std::string member::phase(const std::string& of, const std::string& ns) const {
  return text(at(tenant(of, ns), "status"), "phase");
}

std::string member::applied_chart(const std::string& of, const std::string& ns) const {
  return text(at(tenant(of, ns), "status"), "lastAppliedChart");
}

std::string member::conditions(const std::string& of, const std::string& cluster,
                               const std::string& ns) const {
  std::string out;
  const json::object o = tenant(of, ns);
  const json::value* all = at(o, "status").if_contains("conditions");
  for (const std::string type : {"Ready", "Error", "Progress"})
    for (std::size_t i = 0; all && i < all->as_array().size(); ++i) {
      const json::object& c = all->as_array()[i].as_object();
      if (text(c, "type") != "Cluster" + type + "/" + cluster) continue;
      out += (out.empty() ? "" : " ") + type + "=" + text(c, "status") + "/" + text(c, "reason");
    }
  return out;
}

std::string member::fingerprint(const std::string& of, const std::string& cluster) const {
  const json::object o = tenant(of);
  return text(at(at(o, "metadata"), "annotations"), names::fingerprint_annotation(cluster));
}

std::string member::records(const std::string& ns, const std::string& release) const {
  std::map<int, std::string> all;
  for (const json::object& secret : api.list("", "secrets")) {
    const json::object& labels = at(at(secret, "metadata"), "labels");
    if (text(at(secret, "metadata"), "namespace") == ns && text(labels, "name") == release)
      all[std::stoi(text(labels, "version"))] = text(labels, "status");
  }
  std::string out;
  for (const auto& [revision, status] : all)
    out += (out.empty() ? "" : " ") + std::to_string(revision) + ":" + status;
  return out;
}

std::string member::value(const std::string& ns) const {
  const auto o = api.get("", "configmaps", ns, "web");
  return o ? text(at(*o, "data"), "v") + " " + text(at(*o, "data"), "version") : "-";
}

std::size_t member::told(const std::string& reason) const {
  return static_cast<std::size_t>(std::ranges::count(events, reason));
}

settings of_version(const std::string& version) {
  settings s = default_settings();
  s.chart = {"http://charts", "web", version};
  s.ns = "default";
  s.chart_is_said = true;
  return s;
}

process::process(reactor::loop& l, settings s,
                 std::vector<std::pair<std::string, member*>> clusters, std::string values,
                 units::mode does, kind_on_cluster kind)
    : log_([&l] { return l.wall(); }, lines), packs_(l, {.run_tests = false}), loading_(l) {
  loading_.start("packs", [this]() -> awaitable<void> {
    const auto loaded = co_await packs_.load();
    EXPECT_TRUE(loaded) << loaded.error().message();
  });
  api_settings a;
  std::vector<values_file> files;
  if (!values.empty()) files.push_back({"values.yaml", std::move(values)});
  auto wanted = wanted_from(std::move(s), std::move(files));
  if (!wanted) throw std::runtime_error(wanted.error().text);
  a.wanted = *wanted;
  a.on_clusters = kind;
  api_ = api(std::move(a));
  k8s::fleet_options f;
  f.metrics = &metrics;
  f.on_recovered = [](k8s::cluster& c) {
    for (const auto& e : c.engagements())
      if (units::cluster_controller* p = units::part_of(*e)) p->recover();
  };
  fleet_ = std::make_unique<k8s::fleet>(l, std::move(f), log_);
  works_ = api_.make(units::api_environment{l, log_, metrics, packs_, *fleet_, does, {}});
  fleet_->engage(units::engaging(api_, api_.kinds,
                                 [this](k8s::engagement& on) { return works_->on_cluster(on); }));
  for (auto& [name, m] : clusters) fleet_->add(name, m->to());
}

awaitable<void> process::stop() {
  co_await fleet_->stop();
  co_await loading_.join();
  co_await packs_.stop();
}

tenant_cluster* process::on(const std::string& cluster) {
  const k8s::cluster* c = fleet_->find(cluster);
  return c ? tenants_part(*c) : nullptr;
}

void TenantStage::play(std::function<awaitable<void>()> body) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    charts = std::make_unique<repository>(l);
    charts->offer("1.2.0", archive_of("1.2.0"));
    charts->offer("1.3.0", archive_of("1.3.0"));
    co_await body();
    for (auto& [name, m] : members) co_await m->stop();
    co_await charts->stop();
  });
  charts.reset();
  members.clear();
}

member& TenantStage::cluster(const std::string& name) {
  auto& m = members[name];
  if (!m) m = std::make_unique<member>(l, name);
  return *m;
}

std::unique_ptr<process> TenantStage::start(settings s, std::string values, units::mode does,
                                            kind_on_cluster kind) {
  std::vector<std::pair<std::string, member*>> all;
  for (auto& [name, m] : members) all.emplace_back(name, m.get());
  return std::make_unique<process>(l, std::move(s), std::move(all), std::move(values), does, kind);
}

awaitable<bool> TenantStage::until(std::function<bool()> is, reactor::nanoseconds within) {
  const reactor::steady_time end = l.now() + within;
  while (!is() && l.now() < end) co_await l.sleep_for(100ms);
  co_return is();
}

awaitable<bool> TenantStage::ready(std::string of, std::string name, reactor::nanoseconds within) {
  member& m = cluster(of);
  std::function<bool()> is = [&m, name] { return m.phase(name) == "Ready"; };
  co_return co_await until(std::move(is), within);
}

void DiscoveredStage::put_way(const std::string& name, const std::string& server,
                              const std::string& token, const std::string& wave) {
  const std::string config =
      "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: "
      "'http://" +
      server + ":6443'}}]\nusers: [{name: u, user: {token: " + token +
      "}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n";
  json::object o = named("v1", "Secret", "default", name), data, labels;
  data["kubeconfig"] = formats::encode_base64(config);
  labels["sigs.k8s.io/multicluster-runtime-kubeconfig"] = "true";
  if (!wave.empty()) labels[names::wave] = wave;
  o["metadata"].as_object()["labels"] = std::move(labels);
  o["data"] = std::move(data);
  home().api.put(std::move(o));
}

void DiscoveredStage::take_away(const std::string& name) {
  (void)home().api.handle(
      k8s::sim::make_request("DELETE", "/api/v1/namespaces/default/secrets/" + name));
}

std::unique_ptr<process> DiscoveredStage::discover(settings s, units::mode does,
                                                   kind_on_cluster kind) {
  at_home_.push_back(std::make_unique<k8s::client>(l, home().to()));
  tells_.push_back(
      std::make_unique<k8s::event_recorder>(l, *at_home_.back(), k8s::event_options()));
  auto out = std::make_unique<process>(
      l, std::move(s), std::vector<std::pair<std::string, member*>>(), std::string(), does, kind);
  const bool acts = does == units::mode::act;
  out->fleet().discover(*at_home_.back(), acts ? tells_.back().get() : nullptr);
  return out;
}

awaitable<void> DiscoveredStage::end(process& p) {
  co_await p.stop();
  for (const auto& t : tells_) co_await t->stop();
  tells_.clear();
  for (const auto& c : at_home_) co_await c->stop();
  at_home_.clear();
}

}  // namespace helm::tenants::testing
