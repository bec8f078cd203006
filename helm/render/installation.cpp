#include "helm/render/installation.hpp"

#include "formats/plain/path.hpp"
#include "formats/semver.hpp"
#include "helm/go.hpp"
#include "helm/template/parser.hpp"
#include "helm/values/dependencies.hpp"

#include <chrono>

namespace helm {
namespace {

constexpr const char* release_name_rule =
    "invalid release name, must match regex "
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$ and the length must not be "
    "longer than 53";

void collect_crds(const chart& c, const std::string& path, std::vector<crd_file>& out) {
  for (const auto& f : c.files) {
    auto name = lower(f.name);
    bool manifest_file =
        name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
    if (f.name.starts_with("crds/") && manifest_file)
      out.push_back({path + "/" + f.name, f.name, &f.data});
  }
  for (const auto& d : c.dependencies) collect_crds(*d, chart_path(*d, path), out);
}

}  // namespace

bool valid_release_name(std::string_view name) {
  if (name.empty() || name.size() > 53) return false;
  auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  for (const auto& label : split(name, ".")) {
    if (label.empty() || !alphanumeric(label.front()) || !alphanumeric(label.back())) return false;
    for (char c : label)
      if (!alphanumeric(c) && c != '-') return false;
  }
  return true;
}

std::optional<std::string> release_name_problem(const std::string& name) {
  if (valid_release_name(name)) return std::nullopt;
  if (name.empty()) return "no name provided";
  return "release name " + quote(name) + ": " + release_name_rule;
}

outcome<std::string> choose_release_name(const name_choice& c, const render_runtime& runtime) {
  if (!c.name_template.empty()) {
    template_set set;
    try {
      for (auto& t : parse_template("name-template", c.name_template,
                                    [](std::string_view n) { return find_function(n); }))
        set.add(std::move(t));
      executor engine(set, runtime, {}, missing_keys::zero, false);
      std::string out;
      engine.run(out, "name-template", value());
      return out;
    } catch (const template_error& e) {
      return problem{e.what()};
    } catch (const render_stopped& e) {
      return problem{e.what()};
    }
  }
  if (c.generate) {
    auto base = base_name(c.chart);
    if (base == "." || base.empty()) base = "chart";
    if (auto dot = base.find('.'); dot != base.npos) base.resize(dot);
    if (!runtime.now) return problem{"a name cannot be generated: no clock was given"};
    auto now = runtime.now();
    return base + "-" +
           std::to_string(
               std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
  }
  return c.given;
}

outcome<bool> check_installable(const chart& c) {
  if (!c.meta.type.empty() && c.meta.type != "application")
    return problem{c.meta.type + " charts are not installable"};
  if (auto ok = check_dependencies(c); !ok)
    return problem{
        "An error occurred while checking for chart dependencies. You may need to run `helm "
        "dependency build` to fetch missing dependencies: " +
        ok.error().text};
  return true;
}

std::optional<std::string> kube_version_problem(const chart& c, const capabilities& caps) {
  if (c.meta.kube_version.empty()) return std::nullopt;
  auto constraint = version_constraint::parse(c.meta.kube_version);
  auto v = parse_lenient_version(caps.kube.version);
  if (constraint && v && constraint->check(*v)) return std::nullopt;
  return "chart requires kubeVersion: " + c.meta.kube_version +
         " which is incompatible with Kubernetes " + caps.kube.version;
}

std::vector<crd_file> crd_files(const chart& c) {
  std::vector<crd_file> out;
  collect_crds(c, c.name(), out);
  return out;
}

}  // namespace helm
