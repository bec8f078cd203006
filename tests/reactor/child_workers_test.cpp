#include "reactor/system/child_workers.hpp"

#include "reactor/deadline.hpp"
#include "reactor/loop.hpp"
#include "tests/reactor/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace reactor {
namespace {

using ::testing::HasSubstr;

/// Writes "abc" as an answer, in a shell.
constexpr const char* abc = "printf '\\003\\000\\000\\000\\000\\000\\000\\000abc'; ";

class Children : public ::testing::Test {
protected:
  /// As main() does: a child that is gone is a failed write.
  static void SetUpTestSuite() { std::signal(SIGPIPE, SIG_IGN); }
  child_workers::options of_script(const std::string& script) {
    child_workers::options o;
    o.argv = {"/bin/sh", "-c", script};
    o.on_end = [this](child_end why, const std::string& sentence) {
      ended.emplace_back(to_string(why), sentence);
    };
    return o;
  }
  /// What `jobs` jobs of those children give: the answer, or the reason in brackets.
  std::string ask(child_workers::options o, int jobs = 1, std::string job = "job") {
    std::string out;
    loop l;
    run_task(l, [&]() -> awaitable<void> {
      child_workers all(l, std::move(o));
      for (int i = 0; i < jobs; ++i) {
        auto got = co_await all.run(job, "all");
        out += got ? *got : "[" + got.error().detail + "]";
      }
      co_await all.stop();
    });
    EXPECT_EQ(l.live(), nothing_live);
    return out;
  }
  std::vector<std::pair<std::string, std::string>> ended;
};

TEST_F(Children, DoOneJobAfterAnother) {
  // Each job is 8 bytes of length and "job".
  const std::string each = std::string("while head -c 11 >/dev/null; do ") + abc + "done";
  EXPECT_EQ(ask(of_script(each), 3), "abcabcabc");
  EXPECT_TRUE(ended.empty());
}

/// The processes that did jobs of these owners, each by the number of its first job.
std::vector<std::size_t> workers_of(child_workers::options o,
                                    const std::vector<std::string>& owners) {
  std::vector<std::string> pids;
  std::vector<std::size_t> out;
  loop l;
  run_task(l, [&]() -> awaitable<void> {
    child_workers all(l, std::move(o));
    for (const std::string& owner : owners) {
      auto got = co_await all.run("job", owner);
      pids.push_back(got ? *got : got.error().detail);
      out.push_back(static_cast<std::size_t>(std::ranges::find(pids, pids.back()) - pids.begin()));
    }
    co_await all.stop();
  });
  return out;
}

TEST_F(Children, WorkForOneOwnerAlone) {
  const std::string says_its_id =
      "while head -c 11 >/dev/null; do printf '\\007\\000\\000\\000\\000\\000\\000\\000'; "
      "printf %07d $$; done";
  using numbers = std::vector<std::size_t>;
  // Two may be there: the one that was not used for longest makes room.
  EXPECT_EQ(workers_of(of_script(says_its_id), {"a", "a", "b", "a", "c", "a", "b"}),
            (numbers{0, 0, 2, 0, 4, 0, 6}));
  // Jobs of no owner are done alone.
  EXPECT_EQ(workers_of(of_script(says_its_id), {"", "", "a", "", "a"}), (numbers{0, 1, 2, 3, 2}));
  // One that has grown does not wait while another works.
  child_workers::options o = of_script(says_its_id);
  o.waiting_bytes = 0;
  EXPECT_EQ(workers_of(std::move(o), {"a", "a", "b", "a"}), (numbers{0, 0, 2, 3}));
  EXPECT_TRUE(ended.empty()) << "none of them was at fault";
}

TEST_F(Children, AreEndedForWhatTheyDoAndTheJobHearsWhy) {
  struct row {
    const char* script;
    const char *reason, *says;
  };
  const row rows[] = {
      {"while :; do :; done", "processor",
       "the child process was stopped at its limit of processor time"},
      {"exec sleep 1000", "time", "the child process was stopped after 500ms"},
      {"printf '\\377\\377\\377\\377\\377\\377\\377\\377'; exec sleep 1000", "answer",
       "the answer of the child process has more than 33554432 bytes"},
      {"printf '\\020\\000\\000\\000\\000\\000\\000\\000abc'", "exit",
       "the child process ended with exit status 0"},
      {"printf abc", "exit", "the child process ended with exit status 0"},
      {"exec >&-; exec sleep 1000", "answer",
       "the child process closed its pipe without an answer"},
      {"kill -SEGV $$", "signal", "the child process was ended by signal 11"},
      {"exit 1", "memory", "the child process ran out of memory"},
      {"exit 3", "start", "the child process could not shut itself in"},
      {"exit 7", "exit", "the child process ended with exit status 7"},
  };
  for (const row& r : rows) {
    ended.clear();
    child_workers::options o = of_script(r.script);
    o.count = 1;
    // Only the second row is to meet it.
    o.wall = std::string_view(r.reason) == "time" ? nanoseconds(500ms) : nanoseconds(600s);
    o.processor = 1s;
    EXPECT_EQ(ask(std::move(o)), std::string("[") + r.says + "]") << r.script;
    ASSERT_EQ(ended.size(), 1u) << r.script;
    EXPECT_EQ(ended[0].first, r.reason) << r.script;
    EXPECT_EQ(ended[0].second, r.says) << r.script;
  }
}

TEST_F(Children, ThatCannotBeStartedFailTheJobAndTheNextOneTriesAgain) {
  child_workers::options o = of_script("");
  o.argv = {"/no/such/program"};
  EXPECT_THAT(ask(std::move(o), 2), HasSubstr("the child process cannot be started: "));
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].first, "start");
}

TEST_F(Children, ThatRetireAreFollowedByOthersAndNobodyHears) {
  const std::string once = std::string("head -c 11 >/dev/null; ") + abc + "exit 0";
  EXPECT_EQ(ask(of_script(once), 4), "abcabcabcabc");
  EXPECT_TRUE(ended.empty());
}

TEST_F(Children, ThatOnlyRetireFailTheJobInTheEnd) {
  EXPECT_EQ(ask(of_script("exit 0")), "[the child process ended with exit status 0]");
  ASSERT_GE(ended.size(), 1u);
  EXPECT_EQ(ended.back().first, "exit");
}

TEST_F(Children, AJobThatIsTooLongIsNotBegun) {
  child_workers::options o = of_script("exit 7");
  o.longest_job_bytes = 10;
  EXPECT_EQ(ask(std::move(o), 1, std::string(11, 'x')), "[the job has more than 10 bytes]");
  EXPECT_TRUE(ended.empty());
}

TEST_F(Children, OfACallerThatIsGoneAreEndedAndTheNextJobDoesNotWaitForThem) {
  // The first job's child hangs, another answers.
  const auto file =
      std::filesystem::temp_directory_path() / ("windlass-child-" + std::to_string(::getpid()));
  const std::string script = "if mkdir " + file.string() +
                             " 2>/dev/null; then exec sleep 1000; fi; head -c 11 >/dev/null; " +
                             abc + "exec sleep 1000";
  loop l;
  run_task(l, [&]() -> awaitable<void> {
    child_workers::options o = of_script(script);
    o.count = 1;
    child_workers all(l, std::move(o));
    auto first = all.run("job", "all");
    auto hung = co_await with_deadline(l, std::move(first), l.now() + 300ms, "wait");
    EXPECT_FALSE(hung);
    auto second = co_await all.run("job", "all");
    EXPECT_TRUE(second) << second.error().message();
    if (second) {
      EXPECT_EQ(*second, "abc");
    }
    co_await all.stop();
  });
  std::filesystem::remove(file);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].first, "abandoned");
}

TEST_F(Children, AfterStopThereAreNone) {
  std::vector<int> there;
  loop l;
  run_task(l, [&]() -> awaitable<void> {
    child_workers all(l,
                      of_script(std::string("head -c 11 >/dev/null; ") + abc + "exec sleep 1000"));
    auto got = co_await all.run("job", "all");
    EXPECT_TRUE(got);
    there = all.pids();
    co_await all.stop();
    auto late = co_await all.run("job", "all");
    EXPECT_FALSE(late);
  });
  ASSERT_EQ(there.size(), 2u);
  for (const int pid : there) EXPECT_NE(::kill(pid, 0), 0);
  EXPECT_TRUE(ended.empty());
}

}  // namespace
}  // namespace reactor
