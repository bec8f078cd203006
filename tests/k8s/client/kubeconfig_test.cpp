#include "k8s/client/kubeconfig.hpp"

#include "formats/base64.hpp"
#include "k8s/client/certificates.hpp"
#include "k8s/fleet/kubeconfig_contexts.hpp"
#include "tests/k8s/client/pems.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

namespace k8s {
namespace {

constexpr long today = 1'800'000'000;

const pem_pair& valid_pair() {
  static const pem_pair pair = make_pem_pair("admin", today, -10, 10);
  return pair;
}

std::string config(const std::string& cluster, const std::string& user,
                   const std::string& context = "") {
  return "apiVersion: v1\nkind: Config\ncurrent-context: main\nclusters:\n- name: c\n  cluster:\n" +
         cluster + "users:\n- name: u\n  user:\n" + user +
         "contexts:\n- name: main\n  context:\n    cluster: c\n    user: u\n" + context;
}

const std::string plain_server = "    server: https://10.0.0.1:6443\n";
const std::string plain_token = "    token: sesame\n";

kubeconfig_options discovered() {
  kubeconfig_options o;
  o.source = "Secret default/a, key kubeconfig";
  return o;
}

std::string whole_refusal(const std::string& bytes, kubeconfig_options o = discovered()) {
  const auto got = load_kubeconfig(bytes, o);
  return got ? "accepted" : got.error().message();
}

/// Without the field's path and line.
std::string without_place(std::string said) {
  if (const auto at = said.rfind(" ("); said.ends_with(')') && at != said.npos) said.resize(at);
  return said;
}

std::string refusal(const std::string& bytes, kubeconfig_options o = discovered()) {
  return without_place(whole_refusal(bytes, o));
}

TEST(Kubeconfig, NamesPathAndLineOfWhatIsWrong) {
  const std::string source = "Secret default/a, key kubeconfig: ";
  EXPECT_EQ(whole_refusal(config(plain_server, "    token: \"a\\tb\"\n")),
            source + "user \"u\": token holds control characters (users[0].user.token, line 11)");
  EXPECT_EQ(whole_refusal(config("    foo: bar\n", plain_token)),
            source + "cluster \"c\": server is missing (clusters[0].cluster, line 6)");
  EXPECT_EQ(whole_refusal("contexts:\n- name: a\n- name: a\n"),
            source + "context \"a\": is there twice (contexts[1], line 3)");
  EXPECT_EQ(whole_refusal("clusters: 5\ncontexts: []\n"),
            source + "clusters is not a list (clusters, line 1)");
}

TEST(Kubeconfig, ReadsServerUserAndNamespace) {
  const auto got = load_kubeconfig(
      config("    server: https://10.0.0.1:6443/prefix/\n    tls-server-name: api.example\n"
             "    certificate-authority-data: " +
                 formats::encode_base64(valid_pair().certificate) + "\n",
             "    client-certificate-data: " + formats::encode_base64(valid_pair().certificate) +
                 "\n    client-key-data: " + formats::encode_base64(valid_pair().key) + "\n",
             "    namespace: ops\n"),
      discovered());
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->server, "https://10.0.0.1:6443/prefix");
  EXPECT_EQ(got->tls_server_name, "api.example");
  EXPECT_EQ(got->ca.bytes.reveal(), valid_pair().certificate);
  EXPECT_EQ(got->certificate.bytes.reveal(), valid_pair().certificate);
  EXPECT_EQ(got->key.bytes.reveal(), valid_pair().key);
  EXPECT_EQ(got->ns, "ops");
  EXPECT_EQ(got->context, "main");
  EXPECT_FALSE(got->insecure);
}

TEST(Kubeconfig, ReadsTokenBasicAuthProxyAndInsecure) {
  auto got = load_kubeconfig(config(plain_server + "    insecure-skip-tls-verify: true\n"
                                                   "    proxy-url: http://u:p@proxy:3128\n",
                                    plain_token),
                             discovered());
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->token.bytes.reveal(), "sesame");
  EXPECT_TRUE(got->insecure);
  EXPECT_EQ(got->proxy_url.reveal(), "http://u:p@proxy:3128");
  got =
      load_kubeconfig(config(plain_server, "    username: joe\n    password: pw\n"), discovered());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->username, "joe");
  EXPECT_EQ(got->password.reveal(), "pw");
}

TEST(Kubeconfig, ReadsJson) {
  const auto got = load_kubeconfig(
      R"({"kind":"Config","clusters":[{"name":"c","cluster":{"server":"http://h:1"}}],)"
      R"("contexts":[{"name":"x","context":{"cluster":"c"}}]})",
      discovered());
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->server, "http://h:1");
  EXPECT_EQ(got->context, "x");  // the only one
}

TEST(Kubeconfig, RefusesFilesInASecretAndNamesTheField) {
  const std::pair<std::string, std::string> table[] = {
      {config(plain_server + "    certificate-authority: /etc/ca.crt\n", plain_token),
       "cluster \"c\": certificate-authority"},
      {config(plain_server, "    client-certificate: /a\n    client-key: /b\n"),
       "user \"u\": client-certificate"},
      {config(plain_server,
              "    client-certificate-data: " + formats::encode_base64(valid_pair().certificate) +
                  "\n    client-key: k\n"),
       "user \"u\": client-key"},
      {config(plain_server, "    tokenFile: token\n"), "user \"u\": tokenFile"},
  };
  for (const auto& [bytes, field] : table) {
    EXPECT_EQ(refusal(bytes), "Secret default/a, key kubeconfig: " + field +
                                  " names a file, which a kubeconfig in a Secret must not; put the "
                                  "bytes in it instead");
  }
}

TEST(Kubeconfig, RefusesProgramsInASecretAndAuthProviderAndImpersonation) {
  EXPECT_EQ(
      refusal(config(plain_server, "    exec:\n      command: aws\n")),
      "Secret default/a, key kubeconfig: user \"u\": exec: no program is run for a kubeconfig "
      "in a Secret; give this user a token or a client certificate, or allow the program with "
      "--allow-exec PATH@sha256:DIGEST");
  for (const auto origin : {kubeconfig_origin::discovered, kubeconfig_origin::local}) {
    kubeconfig_options o = discovered();
    o.origin = origin;
    for (const auto& [name, cure] : std::map<std::string, std::string>{
             {"gcp", "gke-gcloud-auth-plugin"},
             {"azure", "kubelogin convert-kubeconfig"},
             {"oidc", "kubectl oidc-login"},
             {"openstack", "use exec, a token or a client certificate"}}) {
      const std::string said =
          refusal(config(plain_server, "    auth-provider:\n      name: " + name + "\n"), o);
      EXPECT_TRUE(
          said.starts_with("Secret default/a, key kubeconfig: user \"u\": auth-provider was "
                           "removed from Kubernetes' clients; "))
          << said;
      EXPECT_NE(said.find(cure), std::string::npos) << said;
    }
    EXPECT_NE(refusal(config(plain_server, plain_token + "    as: root\n"), o).find("as is not"),
              std::string::npos);
  }
}

TEST(Kubeconfig, SaysInOneSentenceWhatIsWrong) {
  const std::string b64_junk = formats::encode_base64("junk");
  const pem_pair other = make_pem_pair("other", today, -1, 1);
  const std::pair<std::string, const char*> table[] = {
      {"", "holds no document"},
      {"\x01\x02garbage: [", "control characters are not allowed at byte 0"},
      {"just text", "is not a kubeconfig: the document is not a mapping"},
      {"a: b\n", "is not a kubeconfig: it has neither clusters nor contexts nor users"},
      {"kind: Pod\nclusters: []\n", "is not a kubeconfig: its kind is not Config"},
      {"clusters: []\n", "has no context"},
      {"clusters: 5\ncontexts: []\n", "clusters is not a list"},
      {"contexts:\n- name: a\n- name: b\n",
       "current-context is empty and there are several contexts: \"a\", \"b\""},
      {"contexts:\n- name: a\n- name: a\n", "context \"a\": is there twice"},
      {"contexts:\n- name: a\n  context: {cluster: nope}\n",
       "context \"a\": names a cluster that is not there"},
      {config("    foo: bar\n", plain_token), "cluster \"c\": server is missing"},
      {config("    server: 10.0.0.1:6443\n", plain_token),
       "cluster \"c\": server is not a URL that begins with https:// or http:// and names a host"},
      {config("    server: 17\n", plain_token), "cluster \"c\": server is not text"},
      {config(plain_server + "    certificate-authority-data: '***'\n", plain_token),
       "cluster \"c\": certificate-authority-data is not base64"},
      {config(plain_server + "    certificate-authority-data: " + b64_junk + "\n", plain_token),
       "cluster \"c\": certificate-authority-data holds no certificate in PEM form"},
      {config(plain_server +
                  "    insecure-skip-tls-verify: true\n    certificate-authority-data: " +
                  formats::encode_base64(valid_pair().certificate) + "\n",
              plain_token),
       "cluster \"c\": insecure-skip-tls-verify and a certificate-authority exclude each other"},
      {config(plain_server + "    insecure-skip-tls-verify: maybe\n", plain_token),
       "cluster \"c\": insecure-skip-tls-verify is not true or false"},
      {config(plain_server + "    proxy-url: socks4://p:1\n", plain_token),
       "cluster \"c\": proxy-url is not an http://, https:// or socks5:// URL"},
      {config(plain_server + "    proxy-url: socks5://\n", plain_token),
       "cluster \"c\": proxy-url is not a URL that names a host"},
      {config("    server: https://api:6443?cluster=a\n", plain_token),
       "cluster \"c\": server: the URL has a query or a fragment; an API server's address is "
       "https://host:port"},
      {config("    server: https://api:6443/#a\n", plain_token),
       "cluster \"c\": server: the URL has a query or a fragment; an API server's address is "
       "https://host:port"},
      {config("    server: https://joe@api:6443\n", plain_token),
       "cluster \"c\": server: the URL has a user name or a password in it; an API server's "
       "address is https://host:port"},
      {config(plain_server, "    client-certificate-data: " + b64_junk + "\n"),
       "user \"u\": client-certificate is there without client-key"},
      {config(plain_server, "    client-certificate-data: " + b64_junk +
                                "\n    client-key-data: " + b64_junk + "\n"),
       "user \"u\": the client certificate holds no certificate in PEM form"},
      {config(plain_server,
              "    client-certificate-data: " + formats::encode_base64(other.certificate) +
                  "\n    client-key-data: " + formats::encode_base64(valid_pair().key) + "\n"),
       "user \"u\": the client key does not belong to the client certificate"},
      {config(plain_server, plain_token + "    username: joe\n"),
       "user \"u\": token and username/password exclude each other"},
      {config(plain_server, "    token: \"a\\tb\"\n"),
       "user \"u\": token holds control characters"},
  };
  for (const auto& [bytes, why] : table) {
    EXPECT_EQ(refusal(bytes), std::string("Secret default/a, key kubeconfig: ") + why);
  }
}

TEST(Kubeconfig, NeverQuotesSecrets) {
  const std::string token = "hunter2hunter2";
  for (const std::string& bytes :
       {config(plain_server, "    token: [" + token + "]\n"),
        config(plain_server, "    token: " + token + "\n    username: joe\n"),
        config(plain_server, "    token: \"" + token + "\\u0001\"\n"),
        config(plain_server, "    token: !!int " + token + "\n"),
        config(plain_server, "    client-key-data: '" + token + "!'\n"),
        config(plain_server + "    proxy-url: ftp://u:" + token + "@p\n", plain_token),
        config(plain_server + "    proxy-url: socks5://u:" + token + "@\n", plain_token),
        config("    server: https://u:" + token + "@api\n", plain_token),
        config("    server: https://api?token=" + token + "\n", plain_token), "clusters: [" + token,
        token + "\n", "*" + token + "\n"}) {
    const std::string said = refusal(bytes);
    EXPECT_NE(said, "accepted");
    EXPECT_EQ(said.find(token), std::string::npos) << said;
  }
}

TEST(Kubeconfig, ChoosesTheContextThatIsAskedFor) {
  const std::string two =
      "current-context: a\nclusters:\n- name: x\n  cluster: {server: 'https://x'}\n- name: z\n"
      "  cluster: {server: 'https://z'}\ncontexts:\n- name: a\n  context: {cluster: x}\n"
      "- name: b\n  context: {cluster: z}\n";
  kubeconfig_options o = discovered();
  EXPECT_EQ(load_kubeconfig(two, o)->server, "https://x");
  o.context = "b";
  EXPECT_EQ(load_kubeconfig(two, o)->server, "https://z");
  o.context = "c";
  EXPECT_EQ(refusal(two, o),
            "Secret default/a, key kubeconfig: there is no context \"c\"; it has \"a\", \"b\"");
  const auto names = kubeconfig_contexts(two, "f");
  ASSERT_TRUE(names);
  EXPECT_EQ(*names, (std::vector<std::string>{"a", "b"}));
}

TEST(KubeconfigFiles, ResolvesPathsAgainstTheFilesFolder) {
  reactor::temporary_folder dir;
  dir.write("pki/ca.crt", valid_pair().certificate);
  dir.write("token", " from-file\n");
  const std::string path = dir.write(
      "config",
      config(plain_server + "    certificate-authority: pki/ca.crt\n", "    tokenFile: token\n"));
  const auto got = load_kubeconfig_file(path);
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->ca.file, dir.path() + "/pki/ca.crt");
  EXPECT_EQ(got->ca.bytes.reveal(), valid_pair().certificate);
  EXPECT_EQ(got->token.bytes.reveal(), "from-file");
}

TEST(KubeconfigFiles, NamesMissingAndUnreadableFiles) {
  reactor::temporary_folder dir;
  EXPECT_EQ(load_kubeconfig_file(dir.path() + "/none").error().message(),
            "kubeconfig " + dir.path() + "/none: the file is not there");
  EXPECT_EQ(load_kubeconfig_file(dir.path()).error().message(),
            "kubeconfig " + dir.path() + ": Is a directory");
  const std::string path = dir.write(
      "config", config(plain_server + "    certificate-authority: gone.crt\n", plain_token));
  EXPECT_EQ(load_kubeconfig_file(path).error().message(),
            "kubeconfig " + path +
                ": cluster \"c\": certificate-authority: the file that it names is not there "
                "(clusters[0].cluster.certificate-authority, line 8)");
  if (geteuid() != 0) {
    chmod(path.c_str(), 0);
    EXPECT_EQ(load_kubeconfig_file(path).error().message(),
              "kubeconfig " + path + ": Permission denied");
  }
}

TEST(KubeconfigFiles, MergesAListAsKubectlDoes) {
  reactor::temporary_folder dir;
  const std::string first = dir.write(
      "1", "current-context: one\nclusters:\n- name: c\n  cluster: {server: 'https://first'}\n");
  const std::string second =
      dir.write("2",
                "current-context: two\nclusters:\n- name: c\n  cluster: {server: "
                "'https://second'}\ncontexts:\n- name: one\n  context: {cluster: c, user: u}\n"
                "- name: two\n  context: {cluster: c}\nusers:\n- name: u\n  user: {token: t}\n");
  const auto got = load_kubeconfig_files({dir.path() + "/missing", first, "", second});
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->server, "https://first");
  EXPECT_EQ(got->context, "one");
  EXPECT_EQ(got->token.bytes.reveal(), "t");
  EXPECT_EQ(load_kubeconfig_files({dir.path() + "/x", dir.path() + "/y"}).error().message(),
            "kubeconfig " + dir.path() + "/x:" + dir.path() + "/y: none of the files is there");
}

/// A file with one context of that name for a cluster, user and server of that name.
std::string one_context(const std::string& context, const std::string& cluster,
                        const std::string& server, const std::string& user = "token: t") {
  return "clusters:\n- name: " + cluster + "\n  cluster: {server: 'https://" + server +
         "'}\ncontexts:\n- name: " + context + "\n  context: {cluster: " + cluster +
         ", user: " + cluster + "}\nusers:\n- name: " + cluster + "\n  user: {" + user + "}\n";
}

TEST(KubeconfigFiles, OneOfSeveralMaySayNothing) {
  reactor::temporary_folder dir;
  const std::string good = dir.write("good", one_context("a", "a", "a"));
  for (const std::string nothing :
       {"", "\n", "# nothing\n", "---\n", "\xef\xbb\xbf# a mark\n---\n# and more", "null\n", "{}",
        "apiVersion: v1\nkind: Config\npreferences: {}\n", "preferences:\n  colors: true\n"}) {
    const std::string other = dir.write("other", nothing);
    for (const auto& files : {std::vector{good, other}, std::vector{other, good}}) {
      const auto got = load_kubeconfig_files(files);
      ASSERT_TRUE(got) << nothing << got.error().message();
      EXPECT_EQ(got->server, "https://a");
      const auto all = every_kubeconfig_context(files);
      ASSERT_EQ(all.size(), 1u) << nothing;
      EXPECT_TRUE(all[0].to);
    }
    EXPECT_FALSE(load_kubeconfig_file(other)) << nothing;
    EXPECT_FALSE(load_kubeconfig(nothing, discovered())) << "a Secret has to say something";
  }
}

TEST(KubeconfigFiles, WhatIsWrongWithOneContextConcernsItAlone) {
  const std::map<std::string, std::string> wrong{
      {"user: {exec: {command: aws}}", "exec: apiVersion is neither"},
      {"user: {auth-provider: {name: gcp}}", "auth-provider was removed"},
      {"user: {tokenFile: gone}", "the file that it names is not there"},
      {"user: {client-certificate: c.pem}", "the file that it names is not there"},
      {"user: {client-certificate-data: '%'}", "is not base64"}};
  for (const auto& [user, why] : wrong) {
    reactor::temporary_folder dir;
    const std::string file =
        dir.write("config",
                  "clusters:\n- name: c\n  cluster: {server: 'https://c'}\nusers:\n- name: good\n"
                  "  user: {token: t}\n- name: bad\n  " +
                      user +
                      "\ncontexts:\n- name: one\n  context: {cluster: c, user: good}\n- name: two\n"
                      "  context: {cluster: c, user: bad}\n- name: three\n"
                      "  context: {cluster: gone, user: good}\n- name: four\n"
                      "  context: {cluster: c, user: good}\n");
    const auto all = every_kubeconfig_context({file});
    ASSERT_EQ(all.size(), 4u);
    EXPECT_TRUE(all[0].to);
    ASSERT_FALSE(all[1].to) << user;
    EXPECT_NE(all[1].to.error().message().find(why), std::string::npos)
        << all[1].to.error().message();
    ASSERT_FALSE(all[2].to);
    EXPECT_NE(all[2].to.error().message().find("names a cluster that is not there"),
              std::string::npos);
    EXPECT_TRUE(all[3].to);
  }
}

TEST(KubeconfigFiles, FilesThatCannotBeReadAreToldAndOthersCount) {
  reactor::temporary_folder dir;
  const std::string good = dir.write("good", one_context("a", "a", "a"));
  const std::string broken = dir.write("broken", "clusters: [\n");
  std::filesystem::create_directories(dir / "folder");
  const auto all = every_kubeconfig_context({dir / "missing", broken, good, dir / "folder"});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "kubeconfig " + broken);
  EXPECT_FALSE(all[0].to);
  EXPECT_EQ(all[1].name, "kubeconfig " + (dir / "folder"));
  EXPECT_FALSE(all[1].to);
  EXPECT_EQ(all[2].name, "a");
  EXPECT_TRUE(all[2].to);
  const auto missing = every_kubeconfig_context({dir / "missing"});
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_FALSE(missing[0].to) << "the only file";
}

TEST(KubeconfigFiles, NamesThatTwoFilesHaveAreToldAndNotUsed) {
  reactor::temporary_folder dir;
  const std::string first = dir.write("1", one_context("admin@k", "k", "first"));
  const std::string same = dir.write("2", one_context("admin@k", "other", "second"));
  const auto all = every_kubeconfig_context({first, same});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].to->server, "https://first");
  EXPECT_EQ(all[1].name, "admin@k (" + same + ")");
  EXPECT_EQ(all[1].to.error().message(), "kubeconfig " + same +
                                             ": context \"admin@k\" is also one of " + first +
                                             ", which counts; give one of the two another name");
  // Another context whose cluster has the name of an earlier file's cluster.
  const std::string taken = dir.write("3", one_context("b", "k", "third"));
  const auto merged = every_kubeconfig_context({first, taken});
  ASSERT_EQ(merged.size(), 2u);
  ASSERT_FALSE(merged[1].to) << "it would be the first file's cluster";
  EXPECT_NE(merged[1].to.error().message().find("a cluster of https://third"), std::string::npos);
  // The same cluster under both is no trouble.
  const std::string again = dir.write("4", one_context("c", "k", "first"));
  EXPECT_TRUE(every_kubeconfig_context({first, again})[1].to);
}

environment with(std::map<std::string, std::string> variables,
                 std::string folder = "/nonexistent") {
  environment env;
  env.variable = [variables](std::string_view name) {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? std::string() : found->second;
  };
  env.service_account = std::move(folder);
  return env;
}

TEST(DefaultConnection, FindsTheFirstSourceInOrder) {
  reactor::temporary_folder dir;
  const auto file = [&](const std::string& name) {
    return dir.write(name, config("    server: https://" + name + "\n", plain_token));
  };
  const std::string flag = file("flag"), listed = file("env");
  dir.write("home/.kube/config", config("    server: https://home\n", plain_token));
  dir.write("sa/token", "pod-token\n");
  dir.write("sa/ca.crt", valid_pair().certificate);
  dir.write("sa/namespace", "ops\n");
  const std::map<std::string, std::string> all = {{"KUBECONFIG", listed},
                                                  {"HOME", dir.path() + "/home"},
                                                  {"KUBERNETES_SERVICE_HOST", "fd00::1"},
                                                  {"KUBERNETES_SERVICE_PORT", "443"}};
  auto env = with(all, dir.path() + "/sa");
  EXPECT_EQ(load_default(flag, "", env)->server, "https://flag");
  EXPECT_EQ(load_default("", "", env)->server, "https://env");
  auto variables = all;
  variables.erase("KUBECONFIG");
  env = with(variables, dir.path() + "/sa");
  const auto pod = load_default("", "", env);
  ASSERT_TRUE(pod) << pod.error().message();
  EXPECT_EQ(pod->server, "https://[fd00::1]:443");
  EXPECT_EQ(pod->token.bytes.reveal(), "pod-token");
  EXPECT_EQ(pod->token.file, dir.path() + "/sa/token");
  EXPECT_EQ(pod->ns, "ops");
  variables.erase("KUBERNETES_SERVICE_HOST");
  EXPECT_EQ(load_default("", "", with(variables))->server, "https://home");
  variables.erase("HOME");
  EXPECT_EQ(load_default("", "", with(variables)).error().message(),
            "find a cluster: no --kubeconfig, no $KUBECONFIG, not inside a Pod, and no $HOME; give "
            "--kubeconfig FILE or set KUBECONFIG");
}

TEST(Certificates, SayWhenAClientCertificateIsOutsideItsValidity) {
  const pem_pair expired = make_pem_pair("a", today, -10, -1),
                 early = make_pem_pair("a", today, 1, 2);
  const reactor::wall_time now{std::chrono::seconds(today)};
  EXPECT_EQ(validity_problem(expired.certificate, now),
            "the client certificate expired at 2027-01-14T08:00:00Z");
  EXPECT_EQ(validity_problem(early.certificate, now),
            "the client certificate is not valid before 2027-01-16T08:00:00Z");
  EXPECT_EQ(validity_problem(valid_pair().certificate, now), std::nullopt);
}

}  // namespace
}  // namespace k8s
