#include "bench/hostile/siege/fleet_authors.hpp"

#include "formats/base64.hpp"
#include "formats/yaml/yaml.hpp"
#include "simulation/manifests.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace bench::hostile {
namespace {

namespace json = boost::json;

constexpr const char *of_fleet = "fleet.windlass.dev",
                     *version_of_fleet = "fleet.windlass.dev/v1alpha1";

json::object object_of(const char* api, const char* kind, const char* ns, const std::string& name) {
  json::object o{{"apiVersion", api}, {"kind", kind}};
  o["metadata"] = json::object{{"name", name}, {"namespace", ns}};
  return o;
}

json::object chart_at(const surroundings& s, const char* ns, const std::string& name,
                      const char* target) {
  json::object o = object_of(version_of_fleet, "FleetChart", ns, name);
  o["spec"] = json::object{
      {"clusters", json::object{{"names", json::array{"good"}}}},
      {"chart",
       json::object{{"repository", s.repository_url}, {"name", "one"}, {"version", "1.0.0"}}},
      {"namespace", target}};
  return o;
}

using change = std::function<void(json::object& spec)>;
void put_chart(surroundings& s, const std::string& name, const change& how = {}) {
  json::object o = chart_at(s, "team", name, "theirs");
  if (how) how(o["spec"].as_object());
  s.home.put(std::move(o));
}

/// Bytes that do not pack.
std::string noise(std::size_t bytes, std::uint32_t seed) {
  std::string out;
  while (out.size() < bytes) {
    seed = seed * 1'664'525 + 1'013'904'223;
    out += static_cast<char>('0' + (seed >> 24) % 64);
  }
  return out;
}

json::array sources(std::size_t n, const char* kind) {
  json::array out;
  for (std::size_t i = 0; i < n; ++i) {
    json::object one;
    one["kind"] = kind;
    one["name"] = "values-" + std::to_string(i);
    out.push_back(std::move(one));
  }
  return out;
}

std::string numbered(const char* name, std::size_t i) {
  return name + std::to_string(i);
}

}  // namespace

void furnish_fleet_objects(surroundings& all) {
  for (const std::string& crd : simulation::fleet_manifests()) {
    auto read = formats::parse_kubernetes_yaml(crd, "crd");
    if (!read) throw std::runtime_error(read.error().message());
    all.home.put(read->as_object());
  }
  json::object team{{"apiVersion", "v1"}, {"kind", "Namespace"}};
  team["metadata"] = json::object{{"name", "team"}};
  all.home.put(std::move(team));
  json::object grant = object_of(version_of_fleet, "FleetGrant", "fleet", "team");
  grant["spec"] = json::object{{"namespaces", json::array{"team"}},
                               {"kinds", json::array{"FleetChart", "FleetPool"}},
                               {"targetNamespaces", json::array{"theirs"}},
                               {"clusters", json::object{{"names", json::array{"good"}}}}};
  all.home.put(std::move(grant));
  all.home.put(chart_at(all, "fleet", "own", "own-apps"));
}

bool is_own_chart_ready(const k8s::sim::api_server& home) {
  const auto own = home.get(of_fleet, "fleetcharts", "fleet", "own");
  const json::value* status = own ? own->if_contains("status") : nullptr;
  const json::value* counted = status ? status->as_object().if_contains("clusters") : nullptr;
  const json::value* ready = counted ? counted->as_object().if_contains("ready") : nullptr;
  return ready && ready->is_int64() && ready->get_int64() == 1;
}

void add_fleet_authors(std::vector<stranger>& out) {
  const auto row = [&](std::string name, std::function<void(surroundings&)> begin) {
    out.push_back({std::move(name), stranger_kind::fleet_author, std::move(begin)});
  };
  row("FleetCharts for namespaces and clusters that no grant gives", [](surroundings& s) {
    for (const char* target : {"kube-system", "other-team", "fleet", "default", "own-apps"})
      put_chart(s, std::string("to-") + target, [target](json::object& spec) {
        spec["namespace"] = target;
        spec["clusters"] = json::object{{"selector", json::object()}};
      });
  });
  row("a FleetChart that claims the release of another namespace's", [](surroundings& s) {
    put_chart(s, "own", [](json::object& spec) {
      spec["namespace"] = "own-apps";
      spec["release"] = "own";
    });
  });
  row("three hundred FleetCharts at once", [](surroundings& s) {
    for (std::size_t i = 0; i < 300; ++i) put_chart(s, numbered("many-", i));
  });
  row("FleetCharts that come and go", [](surroundings& s) {
    s.beat = [&s, n = std::size_t{0}]() mutable {
      const std::string last = numbered("brief-", n++ % 20);
      s.home.erase(of_fleet, "fleetcharts", "team", last);
      put_chart(s, last);
    };
  });
  row("status of FleetCharts that is taken away again and again", [](surroundings& s) {
    for (std::size_t i = 0; i < 20; ++i) put_chart(s, numbered("undone-", i));
    s.beat = [&home = s.home] {
      for (std::size_t i = 0; i < 20; ++i)
        home.edit(of_fleet, "fleetcharts", "team", numbered("undone-", i),
                  [](json::object& o) { o.erase("status"); });
    };
  });
  row("two hundred FleetCharts that need each other", [](surroundings& s) {
    for (std::size_t i = 0; i < 200; ++i)
      put_chart(s, numbered("knot-", i), [i](json::object& spec) {
        json::array needs;
        for (std::size_t n = 1; n <= 32; ++n) needs.emplace_back(numbered("knot-", (i + n) % 200));
        spec["dependsOn"] = std::move(needs);
      });
  });
  row("values of 250 KB that are always others, of fifty FleetCharts", [](surroundings& s) {
    for (std::size_t i = 0; i < 50; ++i) put_chart(s, numbered("large-", i));
    s.beat = [&home = s.home, n = std::uint32_t{0}]() mutable {
      const std::uint32_t now = n++;
      home.edit(of_fleet, "fleetcharts", "team", numbered("large-", now % 50),
                [now](json::object& o) {
                  o["spec"].as_object()["values"] = json::object{{"a", noise(250'000, now)}};
                });
    };
  });
  row("values that nest without end", [](surroundings& s) {
    json::value nested = json::object();
    for (int i = 0; i < 25; ++i) nested = json::object{{"a", std::move(nested)}};
    for (std::size_t i = 0; i < 20; ++i)
      put_chart(s, numbered("nested-", i),
                [&nested](json::object& spec) { spec["values"] = nested; });
  });
  row("ConfigMaps whose anchors stand for a gigabyte", [](surroundings& s) {
    std::string text = "a: &a \"" + std::string(100'000, 'a') + "\"\nb:\n";
    for (int i = 0; i < 10'000; ++i) text += "- *a\n";
    for (std::size_t i = 0; i < 32; ++i) {
      json::object o = object_of("v1", "ConfigMap", "team", numbered("values-", i));
      o["data"] = json::object{{"values.yaml", text}};
      s.home.put(std::move(o));
    }
    for (std::size_t i = 0; i < 20; ++i)
      put_chart(s, numbered("anchors-", i),
                [](json::object& spec) { spec["valuesFrom"] = sources(32, "ConfigMap"); });
  });
  row("Secrets of 250 KB each, thirty-two for each of fifty FleetCharts", [](surroundings& s) {
    for (std::size_t i = 0; i < 32; ++i) {
      json::object o = object_of("v1", "Secret", "team", numbered("values-", i));
      const std::string text = "a: " + noise(250'000, static_cast<std::uint32_t>(i)) + "\n";
      o["data"] = json::object{{"values.yaml", formats::encode_base64(text)}};
      s.home.put(std::move(o));
    }
    for (std::size_t i = 0; i < 50; ++i)
      put_chart(s, numbered("secrets-", i),
                [](json::object& spec) { spec["valuesFrom"] = sources(32, "Secret"); });
  });
  row("forty ControllerRevisions of a megabyte that no FleetChart made", [](surroundings& s) {
    put_chart(s, "forged");
    const auto made = s.home.get(of_fleet, "fleetcharts", "team", "forged");
    for (std::size_t i = 0; i < 40; ++i) {
      json::object o = object_of("apps/v1", "ControllerRevision", "team", numbered("forged-", i));
      o["metadata"].as_object()["labels"] = json::object{
          {"fleet.windlass.dev/revision-of", made->at("metadata").at("uid").as_string()}};
      o["revision"] = static_cast<std::int64_t>(i);
      o["data"] = json::object{
          {"template", json::object{{"a", noise(1'000'000, static_cast<std::uint32_t>(i))}}},
          {"ref", "x"}};
      s.home.put(std::move(o));
    }
  });
  row("a repository of FleetCharts that never answers", [](surroundings& s) {
    const auto others = s.repository.before;
    s.repository.before = [others](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.path.find("/never/") == r.path.npos) return others ? others(r) : std::nullopt;
      k8s::sim::answer a;
      a.delay = std::chrono::hours(1);
      return a;
    };
    for (std::size_t i = 0; i < 50; ++i)
      put_chart(s, numbered("never-", i), [&s, i](json::object& spec) {
        spec["chart"].as_object()["repository"] = s.repository_url + "/never/" + std::to_string(i);
      });
  });
}

}  // namespace bench::hostile
