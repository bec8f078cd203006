#include "registry/credential_helper.hpp"

#include "registry/client.hpp"
#include "tests/reactor/run.hpp"
#include "tests/registry/fake_registry.hpp"

#include <unistd.h>

#include <filesystem>

namespace registry {
namespace {

using testing::HasSubstr;

std::string helper(std::string_view config, std::string_view registry) {
  const auto found = find_helper(config, registry, "f");
  return found ? *found : "! " + found.error().text;
}

TEST(CredentialHelper, OfTheRegistryGoesBeforeTheOneOfAll) {
  constexpr const char* config = R"({"credsStore":"desktop","credHelpers":{"gcr.io":"gcloud",
    "https://index.docker.io/v1/":"pass","1.dkr.ecr.eu-west-1.amazonaws.com":"ecr-login"}})";
  EXPECT_EQ(helper(config, "gcr.io"), "docker-credential-gcloud");
  EXPECT_EQ(helper(config, "1.dkr.ecr.eu-west-1.amazonaws.com"), "docker-credential-ecr-login");
  EXPECT_EQ(helper(config, "docker.io"), "docker-credential-pass");
  EXPECT_EQ(helper(config, "ghcr.io"), "docker-credential-desktop");
  EXPECT_EQ(helper(R"({"credHelpers":{"gcr.io":"gcloud"}})", "ghcr.io"), "");
  EXPECT_EQ(helper(R"({"credHelpers":{"gcr.io":"gcloud"}})", "gcr.io:443"), "")
      << "another port is another registry";
  EXPECT_EQ(helper(R"({"auths":{}})", "gcr.io"), "");
  EXPECT_EQ(helper("", "gcr.io"), "");
  EXPECT_EQ(helper("[", "gcr.io"), "! invalid config format: it is no JSON object (f)");
}

TEST(CredentialHelper, IsTheNameOfAProgramAndNoPath) {
  for (const char* name : {"../x", "/bin/sh", "a/b", "a b", "-x", "a;b", "a\\nb", "$(x)"})
    EXPECT_THAT(helper(std::string(R"({"credsStore":")") + name + "\"}", "h"),
                HasSubstr("which is not the name of a program"))
        << name;
  EXPECT_THAT(helper("{\"credsStore\":\"" + std::string(200, 'a') + "\"}", "h"),
              HasSubstr("which is not the name of a program"));
}

std::string read(int status, std::string out, std::string err = "", int signal = 0) {
  reactor::process_exit ended;
  ended.status = status;
  ended.signal = signal;
  ended.out = std::move(out);
  ended.err = std::move(err);
  auto login = read_helper_answer(ended, "docker-credential-x", "h:5000");
  if (!login) return "! " + login.error().text;
  if (!*login) return "none";
  return (*login)->username + ":" + (*login)->password.reveal() + "/" +
         (*login)->identity_token.reveal();
}

TEST(CredentialHelper, AnAnswerIsALoginOrNoneOrAFailure) {
  EXPECT_EQ(read(0, R"({"ServerURL":"h:5000","Username":"me","Secret":"pw"})"), "me:pw/");
  EXPECT_EQ(read(0, R"({"ServerURL":"https://h:5000/v2/","Username":"me","Secret":"pw"})"),
            "me:pw/");
  EXPECT_EQ(read(0, "{\"Username\":\"me\",\"Secret\":\"pw\"}\n"), "me:pw/");
  EXPECT_EQ(read(0, R"({"Username":"<token>","Secret":"id"})"), ":/id");
  EXPECT_EQ(read(1, "credentials not found in native keychain\n"), "none");
  EXPECT_EQ(read(1, "", "Credentials not found in native keychain"), "none");
  EXPECT_EQ(read(1, "no such helper"),
            "! the credential helper \"docker-credential-x\" failed: no such helper");
  EXPECT_EQ(read(1, "", "locked\nmore"),
            "! the credential helper \"docker-credential-x\" failed: locked");
  EXPECT_EQ(read(3, ""), "! the credential helper \"docker-credential-x\" failed: exit status 3");
  EXPECT_EQ(read(0, "credentials not found", "", 9),
            "! the credential helper \"docker-credential-x\" failed: credentials not found");
}

TEST(CredentialHelper, ALoginThatAFailedHelperPrintsIsNotQuoted) {
  const std::string login = R"({"ServerURL":"h:5000","Username":"me","Secret":"geheim"})";
  for (const std::string& said : {read(1, login), read(1, "", login), read(0, login, "", 9),
                                  read(1, "cannot write " + login)})
    EXPECT_EQ(said.find("geheim"), said.npos) << said;
}

TEST(CredentialHelper, WhatIsNoLoginIsRefusedAndNotQuoted) {
  for (const char* strange :
       {"", "geheim", "[]", "{}", R"({"Username":"me"})", R"({"Secret":"geheim"})",
        R"({"Username":"","Secret":"geheim"})", R"({"Username":"me","Secret":7})",
        R"({"Username":"me:x","Secret":"geheim"})",
        "{\"Username\":\"me\",\"Secret\":\"ge\\r\\nheim\"}",
        R"({"Username":"me","Secret":"geheim"} geheim)"})
    EXPECT_EQ(read(0, strange),
              "! the credential helper \"docker-credential-x\" gave an answer that is no login")
        << strange;
  EXPECT_EQ(read(0, R"({"ServerURL":"other:5000","Username":"me","Secret":"geheim"})"),
            "! the credential helper \"docker-credential-x\" gave the login of another server");
}

/// A program on the PATH, on the real loop.
class HelperProgram : public testing::Test {
protected:
  HelperProgram() {
    const char* path = std::getenv("PATH");
    ::setenv("PATH", (folder_.path() + ":" + (path ? path : "")).c_str(), 1);
  }
  void program(const std::string& body) {
    folder_.write("docker-credential-x", "#!/bin/sh\n" + body);
    std::filesystem::permissions(folder_.path() + "/docker-credential-x",
                                 std::filesystem::perms::owner_all);
  }
  std::string run() {
    std::optional<reactor::result<reactor::process_exit>> ended;
    reactor::run_task(loop_, [&]() -> reactor::awaitable<void> {
      const helper_runner helpers =
          run_helpers(loop_, [&](std::string_view text) { shown_ += text; });
      ended.emplace(co_await helpers("docker-credential-x", "https://index.docker.io/v1/"));
    });
    return *ended ? (*ended)->out : "! " + ended->error().message();
  }
  reactor::loop loop_;
  reactor::temporary_folder folder_;
  std::string shown_;
};

TEST_F(HelperProgram, ReadsTheServerAndTheEnvironmentAndIsHeard) {
  ::setenv("WINDLASS_TEST_HELPER", "as docker", 1);
  program("read server; echo \"$1 $server $WINDLASS_TEST_HELPER\"; echo 'open the page' >&2");
  EXPECT_EQ(run(), "get https://index.docker.io/v1/ as docker\n");
  EXPECT_EQ(shown_, "open the page\n");
}

TEST_F(HelperProgram, ThatWritesTooMuchIsStopped) {
  program("exec head -c 1000000 /dev/zero");
  EXPECT_THAT(run(), HasSubstr("it wrote more than 65536 bytes"));
}

TEST_F(HelperProgram, ThatIsNotThereIsNamed) {
  EXPECT_THAT(run(), HasSubstr("there is no program \"docker-credential-x\""));
}

/// A registry that wants the login of "me", and a config that names a helper.
class LoginOfHelper : public WebFixture {
protected:
  LoginOfHelper() {
    options.plain_http = true;
    options.config_files = {path("own.json"), path("docker.json")};
    options.helpers = [this](std::string program, std::string server) {
      return answer_as(this, std::move(program), std::move(server));
    };
    fake.token = "tok";
    fake.tags = {"a"};
    write("docker.json", R"({"auths":{},"credsStore":"desktop"})");
  }
  static reactor::awaitable<reactor::result<reactor::process_exit>> answer_as(LoginOfHelper* self,
                                                                              std::string program,
                                                                              std::string server) {
    self->asked.push_back(program + " " + server);
    co_return self->ended;
  }
  std::string tags() {
    std::string out;
    run([&]() -> awaitable<void> {
      told_server server(l, "reg", 5000, [&](const reactor::http::request& r) { return fake(r); });
      web w(l, env());
      {
        client c(l, w, options);
        for (int i = 0; i < 2; ++i) {
          auto got = co_await c.tags(*parse_oci_reference("reg:5000/p/app"));
          out = got ? std::to_string(got->size()) : "! " + got.error().text;
          if (got) fake.token += "x";  // the first one expires
        }
      }
      co_await w.stop();
      co_await server.stop();
    });
    return out;
  }
  fake_registry fake;
  client_options options;
  reactor::process_exit ended;
  std::vector<std::string> asked;
};

TEST_F(LoginOfHelper, IsAskedForOnceAndUsed) {
  ended.out = R"({"Username":"me","Secret":"pw"})";
  EXPECT_EQ(tags(), "1");
  EXPECT_EQ(asked, std::vector<std::string>{"docker-credential-desktop reg:5000"});
}

TEST_F(LoginOfHelper, IsNotAskedForWhereAFileHasIt) {
  write("own.json", R"({"auths":{"reg:5000":{"auth":"bWU6cHc="}}})");
  EXPECT_EQ(tags(), "1");
  EXPECT_TRUE(asked.empty());
}

TEST_F(LoginOfHelper, IsNotAskedForByAnOpenRegistry) {
  fake.before = [](const reactor::http::request& r) -> std::optional<reactor::http::response> {
    if (r.target.find("/tags/") == std::string::npos) return std::nullopt;
    return respond(200, R"({"tags":["a"]})");
  };
  EXPECT_EQ(tags(), "1");
  EXPECT_TRUE(asked.empty());
}

TEST_F(LoginOfHelper, ThatDoesNotKnowTheRegistryLeavesItAnonymous) {
  ended.status = 1;
  ended.out = "credentials not found in native keychain";
  fake.before = [&](const reactor::http::request& r) -> std::optional<reactor::http::response> {
    if (!r.target.starts_with("/token") || r.fields.has("Authorization")) return std::nullopt;
    return respond(200, R"({"token":")" + fake.token + "\"}");
  };
  EXPECT_EQ(tags(), "1");
}

TEST_F(LoginOfHelper, ThatFailsIsNamedWhereALoginIsWanted) {
  ended.status = 1;
  ended.out = "the keychain is locked";
  EXPECT_THAT(tags(), HasSubstr("unauthorized: who?; the credential helper "
                                "\"docker-credential-desktop\" failed: the keychain is locked"));
}

TEST_F(LoginOfHelper, IsNeverTheServices) {
  options.helpers = nullptr;
  ended.out = R"({"Username":"me","Secret":"pw"})";
  EXPECT_THAT(tags(), HasSubstr("its login is kept by the credential helper "
                                "\"docker-credential-desktop\", which only commands run"));
  EXPECT_TRUE(asked.empty());
}

TEST_F(LoginOfHelper, GoesToNoOtherServer) {
  ended.out = R"({"Username":"me","Secret":"pw"})";
  fake.before = [](const reactor::http::request&) {
    return respond(
        401, "",
        {{"WWW-Authenticate", "Bearer realm=\"http://elsewhere:5000/token\",service=\"x\""}});
  };
  EXPECT_THAT(tags(), HasSubstr("the login is not sent there"));
}

}  // namespace
}  // namespace registry
