#include "k8s/client/login_session.hpp"

#include "formats/digest.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/side_by_side.hpp"
#include "reactor/system/files.hpp"
#include "tests/k8s/scripted_server.hpp"
#include "tests/reactor/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

namespace k8s {
namespace {

using namespace std::chrono_literals;
using reactor::awaitable;
using reactor::loop;

const std::string api = "client.authentication.k8s.io/v1";
constexpr const char* canary = "canary-token-9921";

std::string answer_of(const std::string& token, const std::string& more = "") {
  return R"({"apiVersion":")" + api + R"(","kind":"ExecCredential","status":{"token":")" + token +
         "\"" + more + "}}";
}

login_program named(std::string command) {
  login_program p;
  p.api_version = api;
  p.command = std::move(command);
  return p;
}

/// Programs of this machine, on real time.
class LoginSession : public testing::Test {
protected:
  std::string script(const std::string& body, const std::string& name = "login") {
    const std::string path = dir.write(name, "#!/bin/sh\n" + body + "\n");
    ::chmod(path.c_str(), 0755);
    return path;
  }
  /// The token, else the sentence.
  std::string run(login_session& s, std::uint64_t refused = 0) {
    std::string out;
    reactor::run_task(l, [&]() -> awaitable<void> {
      auto got = co_await s.get(l, refused);
      out = got ? (*got)->login.token.reveal() : got.error().message();
    });
    EXPECT_EQ(l.live(), reactor::nothing_live);
    return out;
  }
  login_program allowed(const std::string& path) {
    login_program p = named(path);
    p.digest = formats::sha256_hex(reactor::load_file(path, 1 << 20).value());
    return p;
  }
  reactor::temporary_folder dir;
  loop l;
};

TEST_F(LoginSession, GivesTheProgramItsArgumentsEnvironmentAndRequest) {
  ::setenv("WINDLASS_TEST_OURS", "ours", 1);
  login_program p =
      named(script("printf '{\"apiVersion\":\"" + api +
                   "\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%s-%s-%s-%s\"}}' "
                   "\"$1\" \"$ADDED\" \"$WINDLASS_TEST_OURS\" "
                   "\"$(echo \"$KUBERNETES_EXEC_INFO\" | grep -c '\"interactive\":false')\""));
  p.arguments = {"one"};
  p.environment = {{"ADDED", "two"}};
  login_session s(std::move(p));
  EXPECT_EQ(run(s), "one-two-ours-1");
}

TEST_F(LoginSession, RunsOnceForAllThatWait) {
  const std::string count = dir.write("count", "");
  login_session s(named(script("echo x >> " + count + "; echo '" + answer_of("t") + "'")));
  std::vector<std::string> got(5);
  reactor::run_task(l, [&]() -> awaitable<void> {
    reactor::task_group all(l);
    for (std::string& each : got)
      all.start("asks", [&s, &each, this]() -> awaitable<void> {
        auto one = co_await s.get(l, 0);
        each = one ? (*one)->login.token.reveal() : one.error().message();
      });
    co_await all.join();
  });
  EXPECT_EQ(got, std::vector<std::string>(5, "t"));
  EXPECT_EQ(reactor::load_file(count, 100).value(), "x\n");
  EXPECT_EQ(run(s), "t");
  EXPECT_EQ(reactor::load_file(count, 100).value(), "x\n");
}

TEST_F(LoginSession, SaysWhyThereAreNoCredentials) {
  login_session s(named(script("echo 'no session: log in again' >&2; exit 3")));
  const std::string why = run(s);
  EXPECT_TRUE(
      why.ends_with("it failed: exit status 3; its last words: no session: log in again"))
      << why;

  login_program missing = named("no-such-login-program");
  missing.install_hint = "Install it\nfrom there";
  login_session none(std::move(missing));
  EXPECT_EQ(
      run(none),
      "login program \"no-such-login-program\": there is no program \"no-such-login-program\"; "
      "its kubeconfig says: Install it from there");
}

TEST_F(LoginSession, ShowsThePersonWhatTheProgramSaysWhileItRuns) {
  login_session s(named(script("echo 'open https://login.example and enter ABC' >&2; echo '" +
                               answer_of(canary) + "'")));
  std::string shown;
  s.talk({.terminal = false, .show = [&](std::string_view piece) { shown += piece; }});
  EXPECT_EQ(run(s), canary);
  EXPECT_EQ(shown, "open https://login.example and enter ABC\n");
}

TEST_F(LoginSession, NoLogLineHoldsWhatItGave) {
  login_session s(
      named(script("echo \"warning: got " + std::string(canary) +
                   " and Bearer abcdefghijklmnop\" >&2; printf '\\033[31m' >&2; echo '" +
                   answer_of(canary) + "'")));
  std::string noted;
  s.talk({.note = [&](std::string_view line) { noted += line; }});
  EXPECT_EQ(run(s), canary);
  EXPECT_NE(noted.find("warning: got"), std::string::npos);
  for (const char* never : {canary, "abcdefghijklmnop", "\033", "\n"})
    EXPECT_EQ(noted.find(never), std::string::npos) << noted;
}

TEST_F(LoginSession, WantsATerminalOnlyWhereOneMustAnswer) {
  login_program p = named(script("echo '" + answer_of("t") + "'"));
  p.interactive = login_program::input::always;
  login_session s(std::move(p));
  EXPECT_NE(run(s).find("there is no terminal"), std::string::npos);
}

TEST_F(LoginSession, RunsAnAllowedProgramByItsDigestWithNothingOfOurs) {
  ::setenv("WINDLASS_TEST_OURS", "ours", 1);
  const std::string path =
      script("printf '{\"apiVersion\":\"" + api +
             "\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%s.%s.%s\"}}' "
             "\"$(env | grep -c WINDLASS_TEST_OURS)\" \"${HOME:-none}\" \"$(pwd)\"");
  login_session s(allowed(path));
  EXPECT_EQ(run(s), "0.none./");
}

TEST_F(LoginSession, AnotherFileUnderAnAllowedPathIsNotRun) {
  const std::string ran =
      (std::filesystem::path(dir.write("mark", "")).parent_path() / "ran").string();
  const std::string path = script("echo '" + answer_of("good") + "'");
  login_program p = allowed(path);
  // After the file was looked at, and before it is executed.
  login_session swapped(
      p,
      [&](loop& on, reactor::command c,
          reactor::steady_time until) -> awaitable<reactor::result<reactor::process_exit>> {
        std::filesystem::remove(path);
        script("touch " + ran + "; echo '" + answer_of("evil") + "'");
        co_return co_await reactor::run_process(on, std::move(c), until);
      });
  EXPECT_EQ(run(swapped), "good");
  login_session changed(p);
  EXPECT_NE(run(changed).find("it was not run: its file has not the SHA-256"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(ran));

  const std::string open_to_all = script("echo '" + answer_of("t") + "'", "open");
  ::chmod(open_to_all.c_str(), 0777);
  login_session writable(allowed(open_to_all));
  EXPECT_NE(run(writable).find("every user can write to its file"), std::string::npos);
}

/// The client on virtual time, with a program that is played.
class ClientLogin : public testing::Test {
protected:
  struct played {
    int runs = 0;
    std::function<std::string(int run)> prints = [](int n) {
      return answer_of("t" + std::to_string(n));
    };
    reactor::nanoseconds takes = 100ms;
  };
  std::shared_ptr<login_session> session() {
    return std::make_shared<login_session>(
        named("login"),
        [this](loop& on, reactor::command,
               reactor::steady_time) -> awaitable<reactor::result<reactor::process_exit>> {
          const int n = ++program.runs;
          co_await on.sleep_for(program.takes);
          reactor::process_exit ended;
          ended.out = program.prints(n);
          ended.status = ended.out.empty() ? 1 : 0;
          co_return ended;
        });
  }
  void run(std::function<awaitable<void>(scripted_server& server, client& api)> f) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      scripted_server server(l);
      connection to = server.to();
      to.login = session();
      client to_it(l, to);
      co_await f(server, to_it);
      co_await to_it.stop();
      co_await server.stop();
    });
    EXPECT_EQ(l.live(), reactor::nothing_live);
  }
  loop l{loop::mode::simulated, 5};
  played program;
};

const std::string fine = R"({"gitVersion":"v1"})";

TEST_F(ClientLogin, A401RenewsOnceAndTheRequestIsSentAgain) {
  run([this](scripted_server& server, client& to_it) -> awaitable<void> {
    server.on("GET", "/", answer::failure(401, "Unauthorized", "Unauthorized"));
    server.on("GET", "/", answer::json(200, fine));
    auto got = co_await to_it.get_path("/version");
    EXPECT_TRUE(got);
    EXPECT_EQ(program.runs, 2);
    EXPECT_EQ(server.requests().at(0).fields.get("Authorization"), "Bearer t1");
    EXPECT_EQ(server.requests().at(1).fields.get("Authorization"), "Bearer t2");
  });
}

TEST_F(ClientLogin, AServerThatTakesNothingIsNotAnsweredByManyRuns) {
  run([this](scripted_server& server, client& to_it) -> awaitable<void> {
    server.always("GET", "/", answer::failure(401, "Unauthorized", "Unauthorized"));
    for (int i = 0; i < 50; ++i) {
      auto got = co_await to_it.get_path("/version");
      EXPECT_EQ(got.error().code, errc::unauthorized);
    }
    EXPECT_LE(program.runs, 4);
  });
}

TEST_F(ClientLogin, RenewsAfterTheEndOfTheCredentials) {
  const reactor::wall_time begin = l.wall();
  program.prints = [&](int n) {
    return answer_of("t" + std::to_string(n), R"(,"expirationTimestamp":")" +
                                                  reactor::format_rfc3339(begin + n * 60s) + "\"");
  };
  run([this](scripted_server& server, client& to_it) -> awaitable<void> {
    server.always("GET", "/", answer::json(200, fine));
    for (int i = 0; i < 4; ++i) {
      (void)co_await to_it.get_path("/version");
      co_await l.sleep_for(31s);
    }
    EXPECT_EQ(program.runs, 2);
    EXPECT_EQ(server.requests().back().fields.get("Authorization"), "Bearer t2");
  });
}

TEST_F(ClientLogin, NothingIsSentWithoutCredentialsAndTheReasonIsTold) {
  program.prints = [](int n) { return n == 1 ? std::string() : answer_of("t"); };
  run([this](scripted_server& server, client& to_it) -> awaitable<void> {
    server.always("GET", "/", answer::json(200, fine));
    auto got = co_await to_it.get_path("/version");
    EXPECT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::unauthorized);
    EXPECT_NE(got.error().message().find("login program \"login\": it failed"), std::string::npos);
    EXPECT_TRUE(server.requests().empty());
    co_await l.sleep_for(1s);
    auto again = co_await to_it.get_path("/version");
    EXPECT_TRUE(again);
    EXPECT_EQ(program.runs, 2);
  });
}

TEST_F(ClientLogin, ASlowProgramTakesNothingOfTheRequestsTime) {
  program.takes = 40s;
  run([](scripted_server& server, client& to_it) -> awaitable<void> {
    server.always("GET", "/", answer::json(200, fine));
    auto got = co_await to_it.get_path("/version", 5s);
    EXPECT_TRUE(got);
  });
}

TEST_F(ClientLogin, TheNextOneRunsItWhenTheFirstCallerLeaves) {
  program.takes = 10s;
  run([this](scripted_server& server, client& to_it) -> awaitable<void> {
    server.always("GET", "/", answer::json(200, fine));
    reactor::task_group first(l);
    first.start("leaves", [&]() -> awaitable<void> { (void)co_await to_it.get_path("/version"); });
    bool ok = false;
    reactor::task_group second(l);
    second.start("stays", [&]() -> awaitable<void> {
      co_await l.sleep_for(1s);
      auto got = co_await to_it.get_path("/version");
      ok = got.has_value();
    });
    co_await l.sleep_for(2s);
    co_await first.cancel_and_join();
    co_await second.join();
    EXPECT_TRUE(ok);
    EXPECT_EQ(program.runs, 2);
  });
}

}  // namespace
}  // namespace k8s
