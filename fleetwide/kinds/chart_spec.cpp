#include "fleetwide/kinds/chart_spec.hpp"

#include <boost/json.hpp>

#include <utility>

namespace fleetwide {
namespace {

namespace json = boost::json;

constexpr std::size_t most_release_name = 53;  // as Helm has it
constexpr std::string_view default_key = "values.yaml", default_keyring = "pubring.gpg";

values_source read_source(k8s::wire_value v, std::string& problem) {
  values_source out;
  const auto [kind, name, key, optional] = v.fields("kind", "name", "key", "optional");
  out.is_secret = kind.text() == "Secret";
  if (!out.is_secret && kind.text() != "ConfigMap" && problem.empty())
    problem = "spec.valuesFrom: kind " + kind.json() + " is neither ConfigMap nor Secret";
  out.name = name.text();
  if (out.name.empty() && problem.empty()) problem = "spec.valuesFrom: a name is missing";
  out.key = key.present() ? key.text() : default_key;
  out.is_optional = optional.boolean();
  return out;
}

chart_spec::on_drift read_drift(k8s::wire_value v, std::string& problem) {
  const std::string_view is = v.text();
  if (is == "Repair") return chart_spec::on_drift::repair;
  if (is == "Ignore") return chart_spec::on_drift::ignore;
  if (!is.empty() && is != "Report" && problem.empty())
    problem = "spec.drift: " + v.json() + " is none of Report, Repair, Ignore";
  return chart_spec::on_drift::report;
}

bool is_repository(std::string_view url) {
  return url.starts_with("https://") || url.starts_with("http://") || url.starts_with("oci://");
}

}  // namespace

std::optional<std::string> values_source::key_for(const k8s::string_map& labels) const {
  std::string out;
  std::string_view rest = key;
  for (;;) {
    const std::size_t open = rest.find('{');
    const std::size_t close = open == rest.npos ? rest.npos : rest.find('}', open);
    if (close == rest.npos) return out.append(rest);
    const k8s::interned* value = labels.find(rest.substr(open + 1, close - open - 1));
    if (!value) return std::nullopt;
    out.append(rest.substr(0, open)).append(value->view());
    rest.remove_prefix(close + 1);
  }
}

chart_spec chart_spec::parse(k8s::wire_value v, std::string_view object, std::string& problem) {
  chart_spec out;
  const auto wrong = [&](std::string why) {
    if (problem.empty()) problem = std::move(why);
  };
  const auto [chart, ns, release, values, from, by_policy] =
      v.fields("chart", "namespace", "release", "values", "valuesFrom", "valuesByPolicy");
  const auto [repository, name, version, digest, provenance] =
      chart.fields("repository", "name", "version", "digest", "provenance");
  out.repository = repository.text();
  while (out.repository.ends_with('/')) out.repository.pop_back();
  out.name = name.text();
  out.version = version.text();
  out.digest = digest.text();
  if (provenance.present()) {
    const auto [keyring, key] = provenance["keysFrom"].fields("name", "key");
    out.keys.name = keyring.text();
    out.keys.key = key.present() ? key.text() : default_keyring;
    if (out.keys.name.empty()) wrong("spec.chart.provenance.keysFrom.name is empty");
  }
  out.ns = ns.text();
  out.release = release.present() ? std::string(release.text()) : std::string(object);
  values.refuse_duplicates();
  if (values.kind() != k8s::wire_kind::absent && values.kind() != k8s::wire_kind::null)
    out.values_json = values.json();
  from.elements([&](k8s::wire_value one) { out.sources.push_back(read_source(one, problem)); });
  out.by_policy = by_policy.boolean();
  const auto [depends_on, drift, tests, timeout, atomic] =
      v.fields("dependsOn", "drift", "test", "timeout", "atomic");
  depends_on.elements([&](k8s::wire_value one) { out.depends_on.emplace_back(one.text()); });
  out.drift = read_drift(drift, problem);
  out.tests = tests.boolean();
  out.atomic = atomic.boolean();
  if (timeout.present()) {
    const auto read = reactor::parse_duration(std::string(timeout.text()));
    if (read && *read > reactor::nanoseconds::zero())
      out.timeout = *read;
    else
      wrong("spec.timeout: " + timeout.json() + " is no duration like \"5m\"");
  }
  if (!is_repository(out.repository))
    wrong("spec.chart.repository: \"" + out.repository +
          "\" does not begin with https://, http:// or oci://");
  if (out.name.empty()) wrong("spec.chart.name is empty");
  if (out.ns.empty()) wrong("spec.namespace is empty");
  if (out.release.size() > most_release_name)
    wrong("spec.release: \"" + out.release + "\" is longer than " +
          std::to_string(most_release_name) + " characters");
  if (!out.values_json.empty() && values.kind() != k8s::wire_kind::object)
    wrong("spec.values is no object");
  if (out.values_json.size() > most_bytes) {
    wrong("spec.values has " + std::to_string(out.values_json.size()) + " bytes, " +
          std::to_string(most_bytes) + " are allowed");
    out.values_json = std::string();  // nothing is done with it, so it is not kept
  }
  if (out.sources.size() > most_sources)
    wrong("spec.valuesFrom has more than " + std::to_string(most_sources) + " entries");
  if (out.depends_on.size() > most_dependencies)
    wrong("spec.dependsOn has more than " + std::to_string(most_dependencies) + " entries");
  return out;
}

std::string chart_spec::content_json() const {
  json::object chart{{"repository", repository}, {"name", name}};
  if (!version.empty()) chart["version"] = version;
  if (!digest.empty()) chart["digest"] = digest;
  if (!keys.name.empty())
    chart["provenance"] =
        json::object{{"keysFrom", json::object{{"name", keys.name}, {"key", keys.key}}}};
  json::object out;
  out["chart"] = std::move(chart);
  out["namespace"] = ns;
  out["release"] = release;
  boost::system::error_code wrong;
  json::value values = values_json.empty() ? json::value() : json::parse(values_json, wrong);
  if (!wrong && values.is_object()) out["values"] = std::move(values);
  json::array from;
  for (const values_source& s : sources) {
    json::object one{{"kind", s.is_secret ? "Secret" : "ConfigMap"}, {"name", s.name}};
    one["key"] = s.key;
    if (s.is_optional) one["optional"] = true;
    from.push_back(std::move(one));
  }
  if (!from.empty()) out["valuesFrom"] = std::move(from);
  if (by_policy) out["valuesByPolicy"] = true;
  return json::serialize(out);
}

std::string chart_spec::reference() const {
  return repository + "/" + name + (version.empty() ? "" : ":" + version);
}

std::size_t chart_spec::heap_bytes() const noexcept {
  return repository.capacity() + name.capacity() + values_json.capacity() +
         sources.size() * sizeof(values_source);
}

}  // namespace fleetwide
