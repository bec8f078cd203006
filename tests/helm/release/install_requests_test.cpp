#include "tests/helm/release/stage.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <utility>

namespace helm::release::testing {
namespace {

namespace json = boost::json;

/// Seven ConfigMaps, a ServiceAccount, a Role and a RoleBinding: no two charts have other kinds.
std::shared_ptr<prepared_chart> chart_of_ten(const std::string& prefix) {
  std::vector<chart_file> all;
  for (int i = 0; i < 7; ++i) all.push_back(config_map(prefix + std::to_string(i), "1"));
  all.push_back(file("templates/access.yaml",
                     "apiVersion: v1\nkind: ServiceAccount\n"
                     "metadata: {name: " +
                         prefix +
                         "}\n---\n"
                         "apiVersion: rbac.authorization.k8s.io/v1\n"
                         "kind: Role\nmetadata: {name: " +
                         prefix +
                         "}\nrules: []\n---\n"
                         "apiVersion: rbac.authorization.k8s.io/v1\n"
                         "kind: RoleBinding\nmetadata: {name: " +
                         prefix +
                         "}\nroleRef: {apiGroup: "
                         "rbac.authorization.k8s.io, kind: Role, name: " +
                         prefix + "}\n"));
  return load(std::move(all));
}

std::string text_of(const outcome<record>& r) {
  return r ? std::string() : r.error().text;
}

awaitable<outcome<record>> install(stage& s, std::string name,  // borrowed
                                   std::shared_ptr<prepared_chart> c) {
  install_request r;
  r.name = std::move(name);
  r.chart = std::move(c);
  r.work.timeout = std::chrono::seconds(20);
  auto made = co_await s.actions().install(std::move(r));
  co_return made;
}

/// "GET configmaps": what the server is asked from now on, without discovery of kinds.
class asked {
public:
  explicit asked(stage& s) : s_(s) {
    s.api().before = [this](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.path.find("/namespaces/") == r.path.npos && r.path != "/version") return std::nullopt;
      ++by_kind_[kind_of(r)];
      return refuse ? refuse(r) : std::nullopt;
    };
  }
  ~asked() { s_.api().before = {}; }
  /// "7 POST configmaps, …", sorted by kind.
  std::string take() {
    std::string out;
    for (const auto& [kind, count] : std::exchange(by_kind_, {}))
      out += (out.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
    return out;
  }
  std::size_t count() const {
    std::size_t all = 0;
    for (const auto& [kind, n] : by_kind_) all += n;
    return all;
  }
  std::function<std::optional<k8s::sim::answer>(const k8s::sim::request&)> refuse;

private:
  static std::string kind_of(const k8s::sim::request& r) {
    std::string rest = r.path.substr(r.path.rfind("/namespaces/") == r.path.npos
                                         ? 1
                                         : r.path.find('/', r.path.find("/namespaces/") + 12) + 1);
    const bool is_list = r.method == "GET" && rest.find('/') == rest.npos && rest != "version";
    return (is_list ? "LIST" : r.method) + " " + rest.substr(0, rest.find('/'));
  }
  stage& s_;
  std::map<std::string, std::size_t> by_kind_;
};

/// An object of another owner.
void put_foreign(stage& s, const std::string& text) {
  s.api().put(json::parse(text).as_object());
}
const char* const foreign_map =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x3","namespace":"shops"},"data":{"v":"old"}})";
const char* const imported =
    "Unable to continue with install: ConfigMap \"x3\" in namespace \"shops\" exists and cannot be "
    "imported into the current release: invalid ownership metadata; label validation error: "
    "missing key \"app.kubernetes.io/managed-by\": must be set to \"Helm\"; annotation validation "
    "error: missing key \"meta.helm.sh/release-name\": must be set to \"web\"; annotation "
    "validation error: missing key \"meta.helm.sh/release-namespace\": must be set to \"shops\"";

TEST(InstallRequests, OfTenObjectsAreAtMostEighteen) {
  play([](stage& s) -> awaitable<void> {
    asked all(s);
    auto first = co_await install(s, "web", chart_of_ten("x"));
    EXPECT_TRUE(first);
    EXPECT_EQ(all.take(),
              "1 GET rolebindings, 1 GET roles, 1 GET serviceaccounts, 1 GET version, "
              "1 LIST configmaps, 1 LIST secrets, 7 POST configmaps, 1 POST rolebindings, "
              "1 POST roles, 1 POST secrets, 1 POST serviceaccounts, 1 PUT secrets");
    auto second = co_await install(s, "shop", chart_of_ten("v"));
    EXPECT_TRUE(second);
    EXPECT_EQ(all.count(), 17u) << "the version is known for a minute";
    (void)all.take();
    co_await s.loop().sleep_for(std::chrono::minutes(1));
    auto third = co_await install(s, "mail", chart_of_ten("z"));
    EXPECT_TRUE(third);
    EXPECT_EQ(all.count(), 18u);
  });
}

TEST(InstallRequests, AListThatIsRefusedOrTooLongIsFollowedByOneForEachObject) {
  play([](stage& s) -> awaitable<void> {
    put_foreign(s, foreign_map);
    asked all(s);
    all.refuse = [](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.method != "GET" || !r.path.ends_with("/configmaps")) return std::nullopt;
      k8s::sim::answer a;
      a.status = 403;
      a.body =
          R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden","code":403})";
      return a;
    };
    auto refused = co_await install(s, "web", chart_of_ten("x"));
    EXPECT_EQ(text_of(refused), imported);
    EXPECT_EQ(
        all.take(),
        "4 GET configmaps, 1 GET serviceaccounts, 1 GET version, 1 LIST configmaps, 1 LIST secrets")
        << "up to the one that is not ours";
    all.refuse = {};
    for (int i = 0; i < 200; ++i)
      put_foreign(s, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a)" +
                         std::to_string(i) + R"(","namespace":"shops"}})");
    auto again = co_await install(s, "web", chart_of_ten("x"));
    EXPECT_EQ(text_of(again), imported);
    EXPECT_EQ(all.take(),
              "4 GET configmaps, 1 GET serviceaccounts, 1 LIST configmaps, 1 LIST secrets")
        << "one page, whatever is in the namespace";
  });
}

TEST(InstallRequests, AListTellsWhatIsNotOursAndWhatIsAdopted) {
  play([](stage& s) -> awaitable<void> {
    put_foreign(s, foreign_map);
    asked all(s);
    auto refused = co_await install(s, "web", chart_of_ten("x"));
    EXPECT_EQ(text_of(refused), imported);
    EXPECT_EQ(all.take(),
              "1 GET serviceaccounts, 1 GET version, 1 LIST configmaps, 1 LIST secrets");
    EXPECT_EQ(s.created, std::vector<std::string>{"configmaps/x3"});
    auto told = co_await s.told("web");
    EXPECT_EQ(told, "release: not found");
    put_foreign(
        s,
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x3","namespace":"shops","labels":{"app.kubernetes.io/managed-by":"Helm"},"annotations":{"meta.helm.sh/release-name":"web","meta.helm.sh/release-namespace":"shops"}},"data":{"more":"kept"}})");
    auto adopted = co_await install(s, "web", chart_of_ten("x"));
    EXPECT_EQ(text_of(adopted), "");
    EXPECT_EQ(s.seen("x0") + s.seen("x6"), "11");
    const auto kept = s.api().get("", "configmaps", "shops", "x3");
    EXPECT_TRUE(kept && kept->at("data").as_object().contains("more"));
  });
}

}  // namespace
}  // namespace helm::release::testing
