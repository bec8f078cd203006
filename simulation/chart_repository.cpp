#include "simulation/chart_repository.hpp"

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
  name: {{ .Chart.Name }}
data:
  version: {{ .Chart.Version | quote }}
  level: {{ .Values.level | quote }}
)";
constexpr std::string_view account = R"(apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .Release.Name }}
)";

std::string archive_of(const std::string& version) {
  const std::string folder = std::string(chart_repository::chart) + "/";
  formats::tar_writer out(packed_at);
  out.file(folder + "Chart.yaml", "apiVersion: v2\nname: " + std::string(chart_repository::chart) +
                                      "\nversion: " + version + "\n");
  out.file(folder + "values.yaml", "level: info\n");
  out.file(folder + "templates/config.yaml", config);
  out.file(folder + "templates/account.yaml", account);
  return formats::gzip(std::move(out).finish());
}

}  // namespace

chart_repository::chart_repository(reactor::loop& l, const std::vector<std::string>& versions)
    : index_("apiVersion: v1\nentries:\n  " + std::string(chart) + ":\n") {
  for (const std::string& version : versions) {
    const std::string file = std::string(chart) + "-" + version + ".tgz";
    archives_["/" + file] = archive_of(version);
    index_ += "  - {apiVersion: v2, name: " + std::string(chart) + ", version: " + version +
              ", urls: [" + file + "]}\n";
  }
  server_ =
      small_server(l, host, 80, [this](const reactor::http::request& r) { return answer(r); });
}

reactor::result<void> chart_repository::start() {
  return server_->start();
}

reactor::awaitable<void> chart_repository::stop() {
  co_await server_->stop();
}

std::string chart_repository::url() const {
  return "http://" + server_->local().text();
}

reactor::http::response chart_repository::answer(const reactor::http::request& r) const {
  reactor::http::response out;
  if (behaviour_ == behaviour::failing) {
    out.status = 503;
    return out;
  }
  const std::string path = reactor::http::split_target(r.target).path;
  if (path == "/index.yaml") {
    out.fields.set("Content-Type", "application/yaml");
    out.body = behaviour_ == behaviour::page ? "<!doctype html><title>Sign in</title>" : index_;
    return out;
  }
  const auto found = archives_.find(path);
  if (found == archives_.end()) {
    out.status = 404;
    return out;
  }
  out.fields.set("Content-Type", "application/gzip");
  out.body = behaviour_ == behaviour::cut ? found->second.substr(0, found->second.size() / 2)
                                          : found->second;
  return out;
}

}  // namespace simulation
