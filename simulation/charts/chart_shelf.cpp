#include "simulation/charts/chart_shelf.hpp"

#include "formats/gzip.hpp"
#include "formats/tar.hpp"
#include "simulation/small_server.hpp"

#include <utility>

namespace simulation {
namespace {

constexpr std::int64_t packed_at = 1'700'000'000;

constexpr std::string_view config = R"(apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  version: {{ .Chart.Version | quote }}
  level: {{ .Values.level | quote }}
)";
constexpr std::string_view outside = R"(apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-outside
  namespace: kube-system
)";
constexpr std::string_view random = R"(apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-random
data:
  password: {{ randAlphaNum 20 }}
  key: {{ (genCA .Release.Name 365).Key | quote }}
)";
constexpr std::string_view others = R"(apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {app: {{ .Release.Name }}}
  ports: [{port: 80}]
)";

std::string pod_of(std::string_view hook, bool fails) {
  return std::string(R"(apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}-pod
  annotations:
    helm.sh/hook: )") +
         std::string(hook) + "\n    demo.local/ends: " + (fails ? "Failed" : "Succeeded") + R"(
spec:
  restartPolicy: Never
  containers: [{name: test, image: test}]
)";
}

std::string archive_of(const std::string& name, const std::string& version, chart_kind kind) {
  formats::tar_writer out(packed_at);
  out.file(name + "/Chart.yaml", "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n");
  out.file(name + "/values.yaml", "level: info\n");
  out.file(name + "/templates/config.yaml", config);
  if (kind == chart_kind::failing)
    out.file(name + "/templates/broken.yaml", "{{ fail \"this version is broken\" }}\n");
  if (kind == chart_kind::tested || kind == chart_kind::failing_test)
    out.file(name + "/templates/test.yaml", pod_of("test", kind == chart_kind::failing_test));
  if (kind == chart_kind::failing_hook)
    out.file(name + "/templates/hook.yaml", pod_of("post-upgrade", true));
  if (kind == chart_kind::several) out.file(name + "/templates/others.yaml", others);
  if (kind == chart_kind::random) out.file(name + "/templates/random.yaml", random);
  if (kind == chart_kind::reaching_out) out.file(name + "/templates/outside.yaml", outside);
  return formats::gzip(std::move(out).finish());
}

}  // namespace

chart_shelf::chart_shelf(reactor::loop& l) {
  server_ =
      small_server(l, host, 80, [this](const reactor::http::request& r) { return answer(r); });
}

void chart_shelf::put(const std::string& name, const std::string& version, chart_kind kind) {
  archives_[name][version] = archive_of(name, version, kind);
}

void chart_shelf::take(const std::string& name, const std::string& version) {
  archives_[name].erase(version);
}

void chart_shelf::sign(const std::string& name, const std::string& version,
                       std::string provenance) {
  provenances_["/" + name + "-" + version + ".tgz.prov"] = std::move(provenance);
}

reactor::result<void> chart_shelf::start() {
  return server_->start();
}

reactor::awaitable<void> chart_shelf::stop() {
  co_await server_->stop();
}

std::string chart_shelf::url() const {
  return "http://" + server_->local().text();
}

reactor::http::response chart_shelf::answer(const reactor::http::request& r) {
  reactor::http::response out;
  const std::string path = reactor::http::split_target(r.target).path;
  if (path == "/index.yaml") {
    out.fields.set("Content-Type", "application/yaml");
    out.body = "apiVersion: v1\nentries:\n";
    for (const auto& [name, versions] : archives_) {
      out.body += "  " + name + ":\n";
      for (const auto& [version, archive] : versions)
        out.body += "  - {apiVersion: v2, name: " + name + ", version: " + version + ", urls: [" +
                    name + "-" + version + ".tgz]}\n";
    }
    return out;
  }
  for (const auto& [name, versions] : archives_)
    for (const auto& [version, archive] : versions)
      if (path == "/" + name + "-" + version + ".tgz") {
        ++given_;
        out.fields.set("Content-Type", "application/gzip");
        out.body = archive;
        return out;
      }
  const auto signature = provenances_.find(path);
  if (signature != provenances_.end() && !signature->second.empty())
    out.body = signature->second;
  else
    out.status = 404;
  return out;
}

}  // namespace simulation
