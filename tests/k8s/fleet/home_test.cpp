#include "k8s/fleet/home.hpp"

#include "k8s/fleet/kubeconfig_secret.hpp"
#include "tests/k8s/client/api_server.hpp"
#include "tests/k8s/client/pems.hpp"
#include "tests/reactor/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace k8s {
namespace {

std::string kubeconfig_of(const std::string& server, const std::string& context = "x") {
  return "current-context: " + context + "\nclusters:\n- name: c\n  cluster: {server: '" + server +
         "'}\ncontexts:\n- name: x\n  context: {cluster: c}\n";
}

class Home : public testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(l.live(), reactor::nothing_live); }
  /// The server found, or the sentence why there is none.
  std::string found(home_options options) {
    std::string out;
    reactor::run_task(l, [&]() -> reactor::awaitable<void> {
      api_server api(l, "api");
      api.put("home", kubeconfig_of("https://from-secret"));
      api.put("empty", "");
      api.put("broken", "junk");
      environment env;
      env.variable = [](std::string_view) { return std::string(); };
      env.service_account = "/nonexistent";
      home_finder finder(l, options, env);
      auto to = co_await finder.find();
      out = to ? to->server : to.error().message();
      co_await api.server.stop();
    });
    return out;
  }
  reactor::loop l{reactor::loop::mode::simulated, 1};
  reactor::temporary_folder dir;
};

TEST_F(Home, PrefersTheSecretThenTheFileThenTheDefault) {
  home_options o;
  o.default_file = dir.write("default", kubeconfig_of("http://api:6443"));
  EXPECT_EQ(found(o), "http://api:6443");
  o.file = dir.write("file", kubeconfig_of("https://from-file"));
  EXPECT_EQ(found(o), "https://from-file");
  o.secret = "home";
  EXPECT_EQ(found(o), "https://from-secret");
}

TEST_F(Home, SaysWhatIsWrongWithTheSecret) {
  home_options o;
  o.default_file = dir.write("default", kubeconfig_of("http://api:6443"));
  o.secret = "none";
  EXPECT_EQ(found(o), "Secret default/none, key kubeconfig: get secrets default/none: not found");
  o.secret = "empty";
  EXPECT_EQ(found(o), "Secret default/empty, key kubeconfig: the key is empty");
  o.secret = "home";
  o.secret_key = "value";
  EXPECT_EQ(found(o),
            "Secret default/home, key value: the Secret has no such key; it has kubeconfig");
  o.secret_key = "kubeconfig";
  o.secret = "broken";
  EXPECT_EQ(
      found(o),
      "Secret default/broken, key kubeconfig: is not a kubeconfig: the document is not a mapping");
  o.secret = "home";
  o.context = "other";
  EXPECT_EQ(found(o),
            "Secret default/home, key kubeconfig: there is no context \"other\"; it has \"x\"");
  o.default_file = dir.path() + "/gone";
  EXPECT_EQ(found(o), "read Secret default/home, key kubeconfig: kubeconfig " + dir.path() +
                          "/gone: the file is not there");
}

TEST(KubeconfigSecret, NamesTheKeysThatAreThere) {
  const auto said = [](const std::vector<std::string>& keys) {
    return no_kubeconfig(kubeconfig_source("fleet", "a", "kubeconfig"), "kubeconfig", keys)
        .message();
  };
  const std::string start = "Secret fleet/a, key kubeconfig: ";
  EXPECT_EQ(said({}), start + "the Secret holds no keys");
  EXPECT_EQ(said({"ca.crt", "kubeconfig"}), start + "the key is empty");
  EXPECT_EQ(said({"value"}), start + "the Secret has no such key; it has value");
  EXPECT_EQ(said({"a", "b", "c", "d", "e", "f", "g"}),
            start + "the Secret has no such key; it has a, b, c, d, e and 2 more");
}

}  // namespace
}  // namespace k8s
