#include "k8s/client/login_program.hpp"

#include "formats/digest.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "tests/k8s/client/pems.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>

namespace k8s {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

const std::string v1 = "client.authentication.k8s.io/v1", v1beta1 = v1 + "beta1";
constexpr const char* canary = "canary-token-4471";

login_program program(const std::string& api = v1beta1) {
  login_program p;
  p.api_version = api;
  p.command = "aws";
  p.arguments = {"eks", canary};
  return p;
}

reactor::process_exit printed(std::string out, int status = 0, std::string err = "") {
  reactor::process_exit ended;
  ended.status = status;
  ended.out = std::move(out);
  ended.err = std::move(err);
  return ended;
}

/// As the documentation of each vendor's program shows it, with tokens of ours.
TEST(LoginProgram, ReadsWhatTheVendorsProgramsPrint) {
  struct row {
    const char* of;
    std::string api, out, token, expires;
  };
  const row table[] = {
      {"aws eks get-token", v1beta1,
       R"({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1", "spec": {}, "status": {"expirationTimestamp": "2026-11-28T05:14:00Z", "token": "k8s-aws-v1.aHR0cHM6Ly9zdHM"}})"
       "\n",
       "k8s-aws-v1.aHR0cHM6Ly9zdHM", "2026-11-28T05:14:00Z"},
      {"gke-gcloud-auth-plugin", v1beta1,
       R"({
    "kind": "ExecCredential",
    "apiVersion": "client.authentication.k8s.io/v1beta1",
    "spec": {
        "interactive": false
    },
    "status": {
        "expirationTimestamp": "2026-11-28T06:00:00Z",
        "token": "ya29.a0AfB_by"
    }
})",
       "ya29.a0AfB_by", "2026-11-28T06:00:00Z"},
      {"kubelogin get-token (AKS)", v1beta1,
       R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{"interactive":false},"status":{"expirationTimestamp":"2026-11-28T05:59:59Z","token":"eyJ0eXAi.eyJhdWQi.c2ln"}})",
       "eyJ0eXAi.eyJhdWQi.c2ln", "2026-11-28T05:59:59Z"},
      {"kubectl oidc-login get-token", v1,
       R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false},"status":{"expirationTimestamp":"2026-11-28T05:00:00Z","token":"eyJhbGci.eyJpc3Mi.c2ln"}})"
       "\n",
       "eyJhbGci.eyJpc3Mi.c2ln", "2026-11-28T05:00:00Z"},
      {"a script that writes YAML and no time", v1,
       "apiVersion: client.authentication.k8s.io/v1\nkind: ExecCredential\nstatus:\n  token: "
       "abc\n  expirationTimestamp: null\n",
       "abc", ""},
  };
  for (const row& r : table) {
    const auto got = read_login_answer(printed(r.out), program(r.api));
    ASSERT_TRUE(got) << r.of << ": " << got.error().message();
    EXPECT_EQ(got->token.reveal(), r.token) << r.of;
    EXPECT_EQ(got->expires ? reactor::format_rfc3339(*got->expires) : "", r.expires) << r.of;
  }
}

TEST(LoginProgram, ReadsAClientCertificate) {
  const pem_pair pair = make_pem_pair("admin", 1'800'000'000, -10, 10);
  json::object status{{"clientCertificateData", pair.certificate}, {"clientKeyData", pair.key}};
  json::object answer{{"apiVersion", v1}, {"kind", "ExecCredential"}};
  answer["status"] = status;
  const auto got = read_login_answer(printed(json::serialize(answer)), program(v1));
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->certificate.reveal(), pair.certificate);
  EXPECT_EQ(got->key.reveal(), pair.key);
}

TEST(LoginProgram, NeverQuotesWhatItCannotUse) {
  const std::string head = R"({"apiVersion":")" + v1beta1 + R"(","kind":"ExecCredential")";
  const std::string token = canary;
  const std::pair<std::string, const char*> table[] = {
      {token, "no ExecCredential"},
      {"", "no ExecCredential"},
      {"{\"" + token, "no ExecCredential"},
      {R"({"apiVersion":"v1","kind":"Secret","token":")" + token + "\"}", "no ExecCredential"},
      {R"({"apiVersion":")" + v1 + R"(","kind":"ExecCredential","status":{"token":")" + token +
           "\"}}",
       "not of client.authentication.k8s.io/v1beta1"},
      {head + "}", "no status"},
      {head + R"(,"status":")" + token + "\"}", "no status"},
      {head + R"(,"status":{}})", "neither a token nor a client certificate"},
      {head + R"(,"status":{"token":7}})", "neither a token nor a client certificate"},
      {head + R"(,"status":{"clientKeyData":")" + token + "\"}}", "without the other"},
      {head + R"(,"status":{"clientKeyData":")" + token + R"(","clientCertificateData":"x"}})",
       "its client certificate cannot be used"},
      {head + R"(,"status":{"token":")" + token + R"(\r\nX-Evil: 1"}})",
       "cannot stand in a header"},
      {head + R"(,"status":{"token":")" + std::string(20'000, 'a') + "\"}}",
       "cannot stand in a header"},
      {head + R"(,"status":{"token":")" + token + R"(","expirationTimestamp":"soon"}})",
       "its expirationTimestamp is no time"},
  };
  for (const auto& [out, why] : table) {
    const auto got = read_login_answer(printed(out), program());
    ASSERT_FALSE(got) << out;
    EXPECT_NE(got.error().message().find(why), std::string::npos) << got.error().message();
    EXPECT_EQ(got.error().message().find(canary), std::string::npos) << got.error().message();
  }
  const auto failed = read_login_answer(
      printed(canary, 255, "first\nUnable to locate credentials. You can run \"aws configure\".\n"),
      program());
  EXPECT_EQ(failed.error().message(),
            "login program \"aws\": it failed: exit status 255; its last words: Unable to locate "
            "credentials. You can run \"aws configure\".");
  const auto leaking = read_login_answer(
      printed("", 1,
              "denied: Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2lnbmF0dXJl\n"),
      program());
  EXPECT_EQ(leaking.error().message().find("eyJzdWIi"), std::string::npos)
      << leaking.error().message();
}

TEST(LoginProgram, IsAskedAsClientGoAsks) {
  login_program p = program(v1);
  EXPECT_EQ(json::parse(login_request(p, login_talk::alone).reveal()),
            json::parse(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",
                            "spec":{"interactive":false}})"));
  reactor::temporary_folder dir;
  const std::string file = dir.write(
      "config",
      "clusters:\n- name: c\n  cluster:\n    server: https://h:6443/\n    tls-server-name: t\n"
      "    insecure-skip-tls-verify: true\n    proxy-url: http://p:3128\n"
      "    disable-compression: true\n    extensions:\n"
      "    - {name: other, extension: {a: 1}}\n"
      "    - {name: client.authentication.k8s.io/exec, extension: {audience: a}}\n"
      "users:\n- name: u\n  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "
      "bin/login, interactiveMode: IfAvailable, provideClusterInfo: true, env: [{name: A, value: "
      "b}], args: [x], installHint: get it}}\n"
      "contexts:\n- {name: x, context: {cluster: c, user: u}}\n");
  const auto to = load_kubeconfig_file(file);
  ASSERT_TRUE(to) << to.error().message();
  ASSERT_TRUE(to->login);
  const login_program& read = to->login->program();
  EXPECT_EQ(read.command, std::filesystem::path(file).parent_path().string() + "/bin/login");
  EXPECT_EQ(read.arguments, std::vector<std::string>{"x"});
  EXPECT_EQ(read.environment.at(0), std::make_pair(std::string("A"), std::string("b")));
  EXPECT_EQ(read.install_hint, "get it");
  EXPECT_EQ(json::parse(login_request(read, login_talk::with_a_person).reveal()).at("spec"),
            json::parse(R"({"interactive":true,"cluster":{"server":"https://h:6443",
              "tls-server-name":"t","insecure-skip-tls-verify":true,"proxy-url":"http://p:3128",
              "disable-compression":true,"config":{"audience":"a"}}})"));
}

reactor::result<connection> user_of(const std::string& user,
                                    std::vector<allowed_program> allowed = {},
                                    kubeconfig_origin origin = kubeconfig_origin::local) {
  kubeconfig_options o;
  o.source = "f";
  o.folder = "/k";
  o.origin = origin;
  o.programs = std::move(allowed);
  return load_kubeconfig(
      "clusters: [{name: c, cluster: {server: 'https://h:6443'}}]\nusers: [{name: u, "
      "user: {" +
          user + "}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n",
      o);
}

TEST(LoginProgram, IsReadFromAPersonsFileByTheRulesOfClientGo) {
  const std::string beta = "apiVersion: " + v1beta1, stable = "apiVersion: " + v1;
  const std::pair<std::string, std::string> commands[] = {{"aws", "aws"},
                                                          {"/usr/bin/aws", "/usr/bin/aws"},
                                                          {"./aws", "/k/aws"},
                                                          {"../b/aws", "/b/aws"}};
  for (const auto& [named, run] : commands) {
    const auto to = user_of("exec: {" + beta + ", command: " + named + "}");
    ASSERT_TRUE(to) << to.error().message();
    EXPECT_EQ(to->login->program().command, run);
    EXPECT_EQ(to->login->program().interactive, login_program::input::if_available);
  }
  const std::pair<std::string, std::string> refusals[] = {
      {"command: aws", "exec: apiVersion is neither"},
      {"apiVersion: " + v1 + "alpha1, command: aws", "removed in Kubernetes 1.24"},
      {stable + ", command: aws", "interactiveMode is missing, which v1 requires"},
      {stable + ", command: aws, interactiveMode: Sometimes", "interactiveMode is none of"},
      {beta, "command is missing"},
      {beta + ", command: aws, args: x", "args is not a list"},
      {beta + ", command: aws, args: [1]", "args holds something that is no text"},
      {beta + ", command: aws, env: [{value: x}]", "a variable of env has no usable name"},
      {beta + ", command: aws, env: [{name: a=b, value: x}]",
       "a variable of env has no usable name"},
  };
  for (const auto& [exec, why] : refusals) {
    const auto to = user_of("exec: {" + exec + "}");
    ASSERT_FALSE(to) << exec;
    EXPECT_NE(to.error().message().find(why), std::string::npos) << to.error().message();
  }
  const auto both = user_of("token: t, exec: {" + beta + ", command: aws}");
  ASSERT_TRUE(both);
  EXPECT_FALSE(both->login) << "a token goes before it";
}

TEST(LoginProgram, OfASecretIsTheOneThatTheOperatorAllowed) {
  const std::string digest(64, 'a');
  const auto read = [&](const std::string& flag) { return read_allowed_program(flag).value(); };
  const std::string exec = "exec: {apiVersion: " + v1beta1 +
                           ", command: /bin/login, args: [--cluster, a], installHint: x, "
                           "provideClusterInfo: true}";
  struct row {
    std::string flag, user, why;  // no reason: it is used
  };
  const row table[] = {
      {"/bin/login@sha256:" + digest + " --cluster a", exec, ""},
      {"/bin/login@sha256:" + digest + ",server=https://h:6443/ --cluster a", exec, ""},
      {"/bin/login@sha256:" + digest, exec, "names this program with other arguments"},
      {"/bin/login@sha256:" + digest + " --cluster b", exec,
       "names this program with other arguments"},
      {"/bin/login@sha256:" + digest + ",server=https://other --cluster a", exec,
       "for another server"},
      {"/bin/other@sha256:" + digest + " --cluster a", exec, "no program is run"},
      {"/bin/login@sha256:" + digest,
       "exec: {apiVersion: " + v1beta1 + ", command: /bin/../bin/login}", "no program is run"},
      {"/bin/login@sha256:" + digest,
       "exec: {apiVersion: " + v1beta1 +
           ", command: /bin/login, env: [{name: LD_PRELOAD, value: x}]}",
       "has an empty environment"},
  };
  for (const row& r : table) {
    const auto to = user_of(r.user, {read(r.flag)}, kubeconfig_origin::discovered);
    if (r.why.empty()) {
      ASSERT_TRUE(to) << to.error().message();
      EXPECT_EQ(to->login->program().digest, digest);
      EXPECT_EQ(
          json::parse(login_request(to->login->program(), login_talk::alone).reveal()).at("spec"),
          json::parse(R"({"interactive":false})"))
          << "nothing of the Secret reaches the program";
      continue;
    }
    ASSERT_FALSE(to) << r.flag;
    EXPECT_NE(to.error().message().find(r.why), std::string::npos) << to.error().message();
  }
  for (const char* wrong :
       {"", "login", "/bin/login", "login@sha256:", "/bin/login@sha256:ab", "/bin/login@sha256: x"})
    EXPECT_FALSE(read_allowed_program(wrong)) << wrong;
  EXPECT_FALSE(read_allowed_program("bin/login@sha256:" + digest));
  EXPECT_FALSE(read_allowed_program("/bin/login@sha256:" + std::string(64, 'A')));
  EXPECT_FALSE(read_allowed_program("/bin/login@sha256:" + digest + ",host=x"));
  EXPECT_FALSE(read_allowed_program("/bin/login@sha256:" + digest + ",server=x"));
}

TEST(LoginSchedule, RunsForNoneForEndedAndForRefusedCredentials) {
  using step = login_schedule::step;
  using heard = login_schedule::heard;
  const reactor::steady_time t{1h};
  const reactor::wall_time w{20'000h};
  login_schedule s;
  EXPECT_EQ(s.next(t, w, heard::nothing_bad), step::run);
  s.issued(t, w, w + 60s, heard::nothing_bad);
  EXPECT_EQ(s.next(t + 59s, w + 59s, heard::nothing_bad), step::use);
  EXPECT_EQ(s.next(t + 60s, w + 60s, heard::nothing_bad), step::run) << "they ended";
  s.issued(t + 60s, w + 60s, w + 120s, heard::nothing_bad);
  EXPECT_EQ(s.next(t + 60s, w + 60s, heard::a_refusal), step::run)
      << "one refusal is answered at once";
  s.issued(t + 60s, w + 60s, std::nullopt, heard::a_refusal);
  EXPECT_EQ(s.next(t + 60s, w + 60s, heard::a_refusal), step::use) << "the next one waits";
  EXPECT_EQ(s.next(t + 61s, w + 61s, heard::a_refusal), step::run);
  s.issued(t + 61s, w + 61s, std::nullopt, heard::a_refusal);
  EXPECT_EQ(s.next(t + 62s, w + 62s, heard::a_refusal), step::use) << "longer each time";
  s.accepted(t + 62s);
  EXPECT_EQ(s.next(t + 62s, w + 62s, heard::a_refusal), step::run);
}

TEST(LoginSchedule, LeavesAProgramThatFailsInPeace) {
  using step = login_schedule::step;
  using heard = login_schedule::heard;
  const reactor::wall_time w{20'000h};
  reactor::steady_time t{1h};
  login_schedule s;
  for (const auto pause : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
    EXPECT_EQ(s.next(t, w, heard::nothing_bad), step::run);
    s.failed(t);
    EXPECT_EQ(s.next(t + pause - 1ms, w, heard::nothing_bad), step::fail);
    t += pause;
  }
  s.issued(t, w, w - 1s, heard::nothing_bad);
  EXPECT_EQ(s.next(t, w, heard::nothing_bad), step::use)
      << "ended when they came: the server judges, by its clock";
  EXPECT_EQ(s.next(t + 1s, w, heard::nothing_bad), step::run);
}

}  // namespace
}  // namespace k8s
