#include "k8s/client/kubeconfig.hpp"

#include "formats/base64.hpp"
#include "k8s/client/certificates.hpp"
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

TEST(Kubeconfig, RefusesExecAndAuthProviderAndImpersonation) {
  for (const auto origin : {kubeconfig_origin::discovered, kubeconfig_origin::local}) {
    kubeconfig_options o = discovered();
    o.origin = origin;
    EXPECT_EQ(refusal(config(plain_server, "    exec:\n      command: aws\n"), o),
              "Secret default/a, key kubeconfig: user \"u\": exec is not supported; give this user "
              "a token or a client certificate");
    EXPECT_EQ(refusal(config(plain_server, "    auth-provider:\n      name: oidc\n"), o),
              "Secret default/a, key kubeconfig: user \"u\": auth-provider is not supported; give "
              "this user a token or a client certificate");
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
      {config(plain_server + "    proxy-url: socks5://p:1\n", plain_token),
       "cluster \"c\": proxy-url is not an http:// or https:// URL"},
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
        "clusters: [" + token, token + "\n", "*" + token + "\n"}) {
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
