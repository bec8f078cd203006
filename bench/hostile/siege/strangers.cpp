// What each stranger does is one table, so this file is long.
#include "bench/hostile/siege/strangers.hpp"

#include "bench/hostile/charts.hpp"
#include "bench/hostile/siege/fleet_authors.hpp"
#include "bench/tenants/offer.hpp"
#include "formats/base64.hpp"
#include "formats/gzip.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace bench::hostile {
namespace {

namespace json = boost::json;
using k8s::sim::answer;
using k8s::sim::request;

constexpr const char* group = "mesh.openkcm.io";

std::string times(std::size_t n, const std::string& piece) {
  std::string out;
  out.reserve(n * piece.size());
  for (std::size_t i = 0; i < n; ++i) out += piece;
  return out;
}

void put_namespace(k8s::sim::api_server& on, const std::string& name) {
  json::object o{{"apiVersion", "v1"}, {"kind", "Namespace"}};
  o["metadata"] = json::object{{"name", name}};
  on.put(std::move(o));
}

void put_tenant(k8s::sim::api_server& on, const std::string& name,
                const std::function<void(json::object&)>& change = {}) {
  json::object o{{"apiVersion", "mesh.openkcm.io/v1alpha1"}, {"kind", "Tenant"}};
  o["metadata"] = json::object{{"name", name}, {"namespace", "theirs"}};
  o["spec"] = json::object();
  if (change) change(o);
  on.put(std::move(o));
}

void put_config_map(k8s::sim::api_server& on, const std::string& ns, const std::string& name) {
  json::object o{{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
  o["metadata"] = json::object{{"name", name}, {"namespace", ns}};
  o["data"] = json::object{{"a", "b"}};
  on.put(std::move(o));
}

/// A record of the release of Tenant theirs/NAME, as Helm stores one.
void put_record(k8s::sim::api_server& on, const std::string& tenant, const std::string& content,
                int revision = 1, const std::string& state = "deployed") {
  put_namespace(on, tenant);
  const std::string release = "tenant-" + tenant + "-good";
  json::object o{{"apiVersion", "v1"}, {"kind", "Secret"}, {"type", "helm.sh/release.v1"}};
  o["metadata"] =
      json::object{{"name", "sh.helm.release.v1." + release + ".v" + std::to_string(revision)},
                   {"namespace", tenant},
                   {"labels", json::object{{"owner", "helm"},
                                           {"name", release},
                                           {"status", state},
                                           {"version", std::to_string(revision)}}}};
  o["data"] = json::object{
      {"release", formats::encode_base64(formats::encode_base64(formats::gzip(content)))}};
  on.put(std::move(o));
}

std::string record_of(const std::string& tenant, const std::string& manifest,
                      const std::string& state) {
  json::object r{{"name", "tenant-" + tenant + "-good"}, {"namespace", tenant}, {"version", 1}};
  r["info"] = json::object{{"status", state},
                           {"first_deployed", "2026-01-01T00:00:00Z"},
                           {"last_deployed", "2026-01-01T00:00:00Z"}};
  r["manifest"] = manifest;
  r["chart"] = json::object{
      {"metadata", json::object{{"name", "one"}, {"version", "0.9.0"}, {"apiVersion", "v2"}}}};
  return json::serialize(r);
}

answer of_text(std::string body, int status = 200, std::string type = "text/plain") {
  answer a;
  a.status = status;
  a.content_type = std::move(type);
  a.body = std::move(body);
  return a;
}
answer redirect(std::string to) {
  answer a = of_text("", 302);
  a.fields.emplace_back("Location", std::move(to));
  return a;
}

/// Changes a JSON answer of theirs to a question for that path.
std::function<void(const request&, answer&)> changed(const std::string& path,
                                                     std::function<void(json::object&)> change) {
  return [path, change = std::move(change)](const request& r, answer& a) {
    if (r.path != path || a.watch || a.status != 200) return;
    boost::system::error_code bad;
    json::value v = json::parse(a.body, bad);
    if (bad || !v.is_object()) return;
    change(v.get_object());
    a.body = json::serialize(v);
  };
}

constexpr const char* of_uid = "/api/v1/namespaces/kube-system";

void set_uid(json::object& of, std::string uid) {
  of["metadata"].as_object()["uid"] = std::move(uid);
}

void add_tenants(std::vector<stranger>& out) {
  const auto row = [&](std::string name, std::function<void(surroundings&)> begin) {
    out.push_back({std::move(name), stranger_kind::tenant, std::move(begin)});
  };
  row("Tenants that are called like namespaces of others", [](surroundings& s) {
    for (const char* name : {"kube-system", "kube-public", "default", "bootc-operator", "fleet"})
      put_tenant(s.good, name);
  });
  row("thirty Tenants whose records hold four megabytes each", [](surroundings& s) {
    std::string manifest;
    for (int i = 0; i < 40; ++i)
      manifest += "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: large-" +
                  std::to_string(i) + "\ndata:\n  a: " + std::string(100'000, 'x') + "\n";
    for (int i = 0; i < 30; ++i) {
      const std::string name = "large-" + std::to_string(i);
      put_tenant(s.good, name);
      put_record(s.good, name, record_of(name, manifest, "deployed"));
    }
  });
  row("a workspace that is a namespace of the system", [](surroundings& s) {
    put_tenant(s.good, "acme", [](json::object& o) {
      o["spec"].as_object()["workspace"] = "kube-system";
      o["metadata"].as_object()["annotations"] =
          json::object{{"mesh.openkcm.io/workspace", "kube-system"}};
    });
  });
  row("three hundred Tenants at once", [](surroundings& s) {
    for (int i = 0; i < 300; ++i) put_tenant(s.good, "many-" + std::to_string(i));
  });
  row("annotations of 250 KB on fifty Tenants", [](surroundings& s) {
    for (int i = 0; i < 50; ++i)
      put_tenant(s.good, "wide-" + std::to_string(i), [](json::object& o) {
        o["metadata"].as_object()["annotations"] = json::object{{"a", std::string(250'000, 'x')}};
      });
  });
  row("ten thousand fields that no Tenant has", [](surroundings& s) {
    put_tenant(s.good, "fields", [](json::object& o) {
      for (int i = 0; i < 10'000; ++i)
        o["spec"].as_object()["f" + std::to_string(i)] = json::array{i, "x"};
    });
  });
  row("status that is taken away again and again", [](surroundings& s) {
    for (int i = 0; i < 20; ++i) put_tenant(s.good, "undone-" + std::to_string(i));
    s.beat = [&good = s.good] {
      for (int i = 0; i < 20; ++i)
        good.edit(group, "tenants", "theirs", "undone-" + std::to_string(i),
                  [](json::object& o) { o.erase("status"); });
    };
  });
  row("Tenants that come and go", [](surroundings& s) {
    s.beat = [&good = s.good, n = 0]() mutable {
      const std::string last = "brief-" + std::to_string(n++ % 20);
      good.erase(group, "tenants", "theirs", last);
      put_tenant(good, last);
    };
  });
  row("a record of four hundred megabytes of zeros", [](surroundings& s) {
    // In members of gzip, each as large as it may be to be made here.
    const std::string piece = formats::gzip(std::string(16u << 20, '0'));
    put_record(s.good, "zeros", "{}");
    s.good.edit("", "secrets", "zeros", "sh.helm.release.v1.tenant-zeros-good.v1",
                [&](json::object& o) {
                  o["data"].as_object()["release"] =
                      formats::encode_base64(formats::encode_base64(times(25, piece)));
                });
    put_tenant(s.good, "zeros");
  });
  row("a record that nests without end", [](surroundings& s) {
    put_record(s.good, "nested", "{\"config\":" + times(200'000, "[") + times(200'000, "]") + "}");
    put_tenant(s.good, "nested");
  });
  row("a record whose manifest is a million documents", [](surroundings& s) {
    put_record(s.good, "documents",
               record_of("documents", times(1'000'000, "---\na: 1\n"), "deployed"));
    put_tenant(s.good, "documents");
  });
  row("records whose anchors stand for a gigabyte", [](surroundings& s) {
    const std::string text =
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\nx: &a \"" +
        std::string(100'000, 'a') + "\"\ny:\n" + times(10'000, "- *a\n");
    for (const char* state : {"deployed", "failed", "uninstalling"}) {
      const std::string tenant = std::string("anchors-") + state;
      put_record(s.good, tenant, record_of(tenant, text, state), 1, state);
      put_tenant(s.good, tenant);
    }
  });
  row("records of a hundred thousand objects", [](surroundings& s) {
    std::string text;
    for (int i = 0; i < 100'000; ++i)
      text +=
          "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a" + std::to_string(i) + "}\n";
    for (const char* state : {"deployed", "uninstalling"}) {
      const std::string tenant = std::string("objects-") + state;
      put_record(s.good, tenant, record_of(tenant, text, state), 1, state);
      put_tenant(s.good, tenant);
    }
  });
  row("many revisions as large as they can be, of some releases", [](surroundings& s) {
    std::string noise;  // what does not pack
    std::uint32_t state = 1;
    while (noise.size() < 700'000) {
      state = state * 1'664'525 + 1'013'904'223;
      noise += static_cast<char>('0' + (state >> 24) % 64);
    }
    for (int t = 0; t < 4; ++t) {
      const std::string tenant = "large-" + std::to_string(t);
      for (int i = 1; i <= 24; ++i)
        put_record(s.good, tenant, record_of(tenant, "---\n# " + noise + "\n", "superseded"), i,
                   "superseded");
      put_tenant(s.good, tenant);
    }
  });
  row("five hundred revisions of a release", [](surroundings& s) {
    const std::string one = record_of("revisions", std::string(100'000, '#'), "superseded");
    for (int i = 1; i <= 500; ++i) put_record(s.good, "revisions", one, i, "superseded");
    put_tenant(s.good, "revisions");
  });
  row("forged records that claim objects of others", [](surroundings& s) {
    for (const char* state : {"deployed", "failed", "pending-upgrade", "uninstalling"}) {
      const std::string tenant = std::string("forged-") + state;
      put_record(s.good, tenant,
                 record_of(tenant,
                           "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: victim, "
                           "namespace: kube-system}\n---\napiVersion: v1\nkind: Namespace\n"
                           "metadata: {name: other-team}\n",
                           state),
                 1, state);
      put_tenant(s.good, tenant);
    }
  });
  row("a forged record of a Tenant that is deleted", [](surroundings& s) {
    put_record(s.good, "leaving",
               record_of("leaving",
                         "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: victim, "
                         "namespace: kube-system}\n",
                         "deployed"));
    put_tenant(s.good, "leaving", [](json::object& o) {
      o["metadata"].as_object()["finalizers"] = json::array{"mesh.openkcm.io/tenant"};
    });
    s.beat = [&good = s.good] {
      (void)good.handle(k8s::sim::make_request(
          "DELETE", "/apis/mesh.openkcm.io/v1alpha1/namespaces/theirs/tenants/leaving"));
    };
  });
}

void add_members(std::vector<stranger>& out) {
  const auto row = [&](std::string name, std::function<void(surroundings&)> begin) {
    out.push_back({std::move(name), stranger_kind::member, std::move(begin)});
  };
  const auto uid_of = [](k8s::sim::api_server& of) {
    const auto ns = of.get("", "namespaces", "", "kube-system");
    return std::string(ns->at("metadata").at("uid").as_string());
  };
  row("the UID of another member", [uid_of](surroundings& s) {
    const std::string uid = uid_of(s.good);
    s.theirs.after = changed(of_uid, [uid](json::object& o) { set_uid(o, uid); });
  });
  row("the UID of home", [uid_of](surroundings& s) {
    const std::string uid = uid_of(s.home);
    s.theirs.after = changed(of_uid, [uid](json::object& o) { set_uid(o, uid); });
  });
  row("another UID at each question", [](surroundings& s) {
    s.theirs.after = changed(
        of_uid, [n = 0](json::object& o) mutable { set_uid(o, "uid-" + std::to_string(n++)); });
  });
  row("no UID", [](surroundings& s) {
    s.theirs.after =
        changed(of_uid, [](json::object& o) { o["metadata"].as_object().erase("uid"); });
  });
  row("a UID of a megabyte", [](surroundings& s) {
    s.theirs.after =
        changed(of_uid, [](json::object& o) { set_uid(o, std::string(1u << 20, 'u')); });
  });
  row("a member that sends each question to another host", [](surroundings& s) {
    s.theirs.before = [to = s.elsewhere_url](const request& r) -> std::optional<answer> {
      return redirect(to + r.path);
    };
  });
  for (const int status : {401, 403, 404, 429, 500})
    row("a member that says " + std::to_string(status) + " to everything",
        [status](surroundings& s) {
          s.theirs.before = [status](const request&) -> std::optional<answer> {
            answer a = of_text("{}", status, "application/json");
            if (status == 429) a.fields.emplace_back("Retry-After", "86400");
            return a;
          };
        });
  row("five thousand groups of kinds", [](surroundings& s) {
    s.theirs.before = [](const request& r) -> std::optional<answer> {
      if (r.path != "/apis") return std::nullopt;
      json::array groups;
      for (int i = 0; i < 5'000; ++i) {
        const std::string name = "g" + std::to_string(i) + ".example.com";
        json::object v{{"groupVersion", name + "/v1"}, {"version", "v1"}};
        groups.push_back(
            json::object{{"name", name}, {"versions", json::array{v}}, {"preferredVersion", v}});
      }
      return of_text(
          json::serialize(json::object{
              {"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}}),
          200, "application/json");
    };
  });
  row("two thousand Tenants of a member's own making", [](surroundings& s) {
    for (int i = 0; i < 2'000; ++i) put_tenant(s.theirs, "own-" + std::to_string(i));
  });
  row("a member that takes back what is made on it", [](surroundings& s) {
    for (int i = 0; i < 20; ++i) put_tenant(s.theirs, "lost-" + std::to_string(i));
    s.beat = [&theirs = s.theirs] {
      for (const char* kind : {"configmaps", "secrets"})
        for (const json::object& o : theirs.list("", kind)) {
          const json::object& meta = o.at("metadata").as_object();
          theirs.erase("", kind, std::string(meta.at("namespace").as_string()),
                       std::string(meta.at("name").as_string()));
        }
    };
  });
  row("a member that refuses each write", [](surroundings& s) {
    for (int i = 0; i < 20; ++i) put_tenant(s.theirs, "refused-" + std::to_string(i));
    s.theirs.before = [](const request& r) -> std::optional<answer> {
      if (r.method == "GET") return std::nullopt;
      return of_text("{\"kind\":\"Status\",\"code\":409,\"reason\":\"Conflict\"}", 409,
                     "application/json");
    };
  });
  row("a member whose writes are answered with another cluster's objects", [](surroundings& s) {
    for (int i = 0; i < 20; ++i) put_tenant(s.theirs, "swapped-" + std::to_string(i));
    s.theirs.after = [&good = s.good](const request& r, answer& a) {
      if (r.method == "GET" || a.status >= 300) return;
      if (const auto o = good.get(group, "tenants", "default", "t-0")) a.body = json::serialize(*o);
    };
  });
}

std::string index_with(const std::string& url, const std::string& more = {}) {
  return "apiVersion: v1\nentries:\n" + more +
         "  one:\n  - {apiVersion: v2, name: one, version: 1.0.0, urls: [\"" + url + "\"]}\n";
}

/// The repository answers the questions for the index and for the archive so.
std::function<void(surroundings&)> serving(
    std::function<answer(const surroundings&)> index,
    std::function<answer(const surroundings&)> archive = {}) {
  return [index = std::move(index), archive = std::move(archive)](surroundings& s) {
    const auto all = std::make_shared<const surroundings>(s);
    s.repository.before = [=](const request& r) -> std::optional<answer> {
      if (r.path.ends_with("index.yaml")) return index(*all);
      if (archive) return archive(*all);
      return of_text("", 404);
    };
  };
}
answer good_index(const surroundings&) {
  return of_text(index_with("one.tgz"));
}

void add_registries(std::vector<stranger>& out) {
  const auto row = [&](std::string name, std::function<void(surroundings&)> begin) {
    out.push_back({std::move(name), stranger_kind::registry, std::move(begin)});
  };
  row("an index that is on another host",
      serving([](const surroundings& s) { return redirect(s.elsewhere_url + "/index.yaml"); }));
  row("an archive on another host", serving([](const surroundings& s) {
        return of_text(index_with(s.elsewhere_url + "/one.tgz"));
      }));
  row("an index that is always somewhere else",
      serving([](const surroundings& s) { return redirect(s.repository_url + "/index.yaml"); }));
  for (const char* to : {"http://169.254.169.254/latest/meta-data/one.tgz", "file:///etc/passwd",
                         "http://[::ffff:a9fe:a9fe]/one.tgz", "http://127.0.0.1:1/one.tgz"})
    row(std::string("an archive at ") + to,
        serving([to](const surroundings&) { return of_text(index_with(to)); }));
  row("an index that is never sent", serving([](const surroundings&) {
        answer a = of_text("");
        a.delay = std::chrono::hours(1);
        return a;
      }));
  row("a repository that hangs up", serving([](const surroundings&) {
        answer a;
        a.drop = true;
        return a;
      }));
  for (const int status : {401, 429, 503})
    row("a repository that says " + std::to_string(status) + " to everything",
        serving([status](const surroundings& s) {
          answer a = of_text("", status);
          if (status == 401)
            a.fields.emplace_back("WWW-Authenticate",
                                  "Bearer realm=\"" + s.elsewhere_url + "/token\",service=\"x\"");
          else
            a.fields.emplace_back("Retry-After", "31536000");
          return a;
        }));
  row("an index of sixty megabytes", serving([](const surroundings&) {
        return of_text(index_with("one.tgz", "  other:\n  - {name: other, description: " +
                                                 std::string(60u << 20, 'x') + "}\n"));
      }));
  row("an index of half a million versions", serving([](const surroundings&) {
        return of_text("apiVersion: v1\nentries:\n  one:\n" +
                       times(500'000, "  - {name: one, version: 1.0.0, urls: [u]}\n"));
      }));
  row("an index that nests without end",
      serving([](const surroundings&) { return of_text("entries: " + times(2'000'000, "[")); }));
  row("a page for a browser instead of an index", serving([](const surroundings&) {
        return of_text(times(100'000, "<p>please log in</p>"), 200, "text/html");
      }));
  row("an archive of another chart", serving(good_index, [](const surroundings&) {
        const chart_offer offer;
        return of_text(offer.archive("ten"));
      }));
  row("half an archive", serving(good_index, [](const surroundings&) {
        const chart_offer offer;
        const std::string& whole = offer.archive("one");
        return of_text(whole.substr(0, whole.size() / 2));
      }));
  row("an archive of sixty megabytes", serving(good_index, [](const surroundings&) {
        return of_text(std::string(60u << 20, 'x'));
      }));
}

constexpr const char *manifest_type = "application/vnd.oci.image.manifest.v1+json",
                     *of_tags = "/v2/charts/one/tags/list", *of_manifest = "/manifests/1.0.0";

std::string tags(const std::string& all) {
  return "{\"name\":\"charts/one\",\"tags\":[" + all + "]}";
}
/// A manifest whose only layer is a chart of that digest.
std::string manifest_with(const std::string& layers) {
  return "{\"schemaVersion\":2,\"mediaType\":\"" + std::string(manifest_type) +
         "\",\"config\":{\"mediaType\":\"application/vnd.cncf.helm.config.v1+json\",\"digest\":"
         "\"sha256:" +
         std::string(64, 'a') + "\",\"size\":2},\"layers\":[" + layers + "]}";
}
std::string layer(std::size_t size = 100) {
  return "{\"mediaType\":\"application/vnd.cncf.helm.chart.content.v1.tar+gzip\",\"digest\":"
         "\"sha256:" +
         std::string(64, 'b') + "\",\"size\":" + std::to_string(size) + "}";
}

/// Answers by the end of the path; the first that fits.
using by_path =
    std::vector<std::pair<std::string, std::function<answer(const request&, const surroundings&)>>>;

void add_oci_registries(std::vector<stranger>& out) {
  const auto row = [&](std::string name, by_path answers) {
    const auto begin = [answers = std::move(answers)](surroundings& s) {
      const auto all = std::make_shared<const surroundings>(s);
      s.registry.before = [=](const request& r) -> std::optional<answer> {
        for (const auto& [end, made] : answers)
          if (r.path.ends_with(end)) return made(r, *all);
        return of_text("{}", r.path == "/v2/" ? 200 : 404, "application/json");
      };
    };
    out.push_back({std::move(name), stranger_kind::registry, begin, true});
  };
  const auto says = [](std::string body, const char* type = "application/json") {
    return [body = std::move(body), type](const request&, const surroundings&) {
      return of_text(body, 200, type);
    };
  };
  const auto one_tag = says(tags("\"1.0.0\""));
  row("tags on pages without end",
      {{of_tags, [n = 0](const request&, const surroundings&) mutable {
          answer a = of_text(tags("\"0.0." + std::to_string(n++) + "\""), 200, "application/json");
          a.fields.emplace_back("Link", std::string("<") + of_tags + "?last=" + std::to_string(n) +
                                            ">; rel=\"next\"");
          return a;
        }}});
  row("a page of tags that is the next one of itself",
      {{of_tags, [](const request&, const surroundings&) {
          answer a = of_text(tags("\"1.0.0\""), 200, "application/json");
          a.fields.emplace_back("Link", std::string("<") + of_tags + ">; rel=\"next\"");
          return a;
        }}});
  row("the next page of tags on another host",
      {{of_tags, [](const request&, const surroundings& s) {
          answer a = of_text(tags("\"1.0.0\""), 200, "application/json");
          a.fields.emplace_back("Link", "<" + s.elsewhere_url + of_tags + ">; rel=\"next\"");
          return a;
        }}});
  row("two million tags", {{of_tags, says(tags(times(2'000'000, "\"1.0.0\",") + "\"1.0.0\""))}});
  row("pages of one tag of four megabytes each",
      {{of_tags, [n = 0](const request&, const surroundings&) mutable {
          const std::string page = std::to_string(n++);
          answer a = of_text(tags("\"" + page + std::string((4u << 20) - 4096, 'x') + "\""), 200,
                             "application/json");
          a.fields.emplace_back("Link",
                                std::string("<") + of_tags + "?last=" + page + ">; rel=\"next\"");
          return a;
        }}});
  const std::string lists = times(1'390'000, "[],") + "[]";  // four megabytes
  row("a list of a million lists for tags", {{of_tags, says(tags(lists))}});
  row("a manifest of a million lists",
      {{of_tags, one_tag},
       {of_manifest,
        says("{\"x\":[" + lists + "]," + manifest_with(layer()).substr(1), manifest_type)}});
  row("a refusal of four megabytes", {{"", [](const request&, const surroundings&) {
                                         return of_text(
                                             "{\"errors\":[{\"code\":\"DENIED\",\"message\":\"" +
                                                 std::string((4u << 20) - 4096, 'm') + "\"}]}",
                                             403, "application/json");
                                       }}});
  row("tags of a megabyte each",
      {{of_tags, says(tags(times(20, "\"" + std::string(1u << 20, '1') + "\",") + "\"1.0.0\""))}});
  row("a manifest of sixty megabytes",
      {{of_tags, one_tag},
       {of_manifest, says(manifest_with(layer()) + std::string(60u << 20, ' '), manifest_type)}});
  row("a manifest of a hundred thousand layers",
      {{of_tags, one_tag},
       {of_manifest, says(manifest_with(times(100'000, layer() + ",") + layer()), manifest_type)}});
  row("a layer that is said to be exabytes",
      {{of_tags, one_tag}, {of_manifest, says(manifest_with(layer(1ull << 62)), manifest_type)}});
  row("a layer of sixty megabytes",
      {{of_tags, one_tag},
       {of_manifest, says(manifest_with(layer()), manifest_type)},
       {std::string(64, 'b'), says(std::string(60u << 20, 'x'), "application/octet-stream")}});
  row("a manifest and its layer on another host",
      {{of_tags, one_tag}, {of_manifest, [](const request& r, const surroundings& s) {
                              return redirect(s.elsewhere_url + r.path);
                            }}});
  row("a registry whose token is another host's",
      {{"", [](const request&, const surroundings& s) {
          answer a = of_text("{}", 401, "application/json");
          a.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"" + s.elsewhere_url +
                                                        "/token\",service=\"s\",scope=\"x\"");
          return a;
        }}});
  row("a registry whose token endpoint leads to itself",
      {{"", [](const request& r, const surroundings&) {
          answer a = of_text("{}", 401, "application/json");
          a.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"http://" +
                                                        std::string(r.fields.get("host")) +
                                                        "/token\",service=\"s\"");
          return a;
        }}});
}

/// Each chart and index of the table, from a repository.
void add_charts(std::vector<stranger>& out) {
  const auto index = [](const surroundings&) {
    return of_text("entries:\n  demo:\n  - {name: demo, version: 1.0.0, urls: [demo.tgz]}\n");
  };
  for (const chart& c : charts()) {
    const auto bytes = [make = c.bytes](const surroundings&) { return of_text(make()); };
    out.push_back({"in a repository: " + c.name, stranger_kind::chart,
                   c.at == read_by::index_reader ? serving(bytes) : serving(index, bytes)});
  }
}

}  // namespace

const std::vector<stranger>& strangers() {
  static const std::vector<stranger> all = [] {
    std::vector<stranger> out;
    add_tenants(out);
    add_members(out);
    add_registries(out);
    add_oci_registries(out);
    add_charts(out);
    add_fleet_authors(out);
    return out;
  }();
  return all;
}

std::size_t count_of(stranger_kind k) {
  return static_cast<std::size_t>(std::ranges::count(strangers(), k, &stranger::holds));
}

void furnish(surroundings& all) {
  furnish_fleet_objects(all);
  for (k8s::sim::api_server* of : {&all.good, &all.theirs}) {
    put_namespace(*of, "theirs");
    put_namespace(*of, "other-team");
    put_config_map(*of, "kube-system", "victim");
    put_config_map(*of, "other-team", "victim");
  }
}

std::string damage_to(const surroundings& all, const std::vector<std::string>& seen_elsewhere) {
  std::string out;
  const auto say = [&](const std::string& what) { out += (out.empty() ? "" : "; ") + what; };
  if (!all.good.get("", "namespaces", "", "other-team")) say("a namespace of others is gone");
  for (const char* ns : {"kube-system", "other-team"})
    if (!all.good.get("", "configmaps", ns, "victim")) say(std::string("no more victim in ") + ns);
  for (const json::object& o : all.good.list("", "configmaps")) {
    const std::string ns(o.at("metadata").at("namespace").as_string());
    const std::string name(o.at("metadata").at("name").as_string());
    if ((ns == "kube-system" || ns == "default") && name != "victim")
      say(ns + "/" + name + " was made");
  }
  for (const char* ns : {"other-team", "fleet"})
    for (const json::object& o : all.good.list("", "secrets"))
      if (o.at("metadata").at("namespace") == json::string(ns))
        say(std::string("a release was made in ") + ns);
  for (const std::string& credential : seen_elsewhere) say("another host was shown " + credential);
  return out;
}

}  // namespace bench::hostile
