// The record of questions to policies: what is in it, what is not, and what is said of one that is
// not whole.
#include "policies/host/record/record.hpp"

#include "policies/hold_text.hpp"
#include "policies/host/host.hpp"
#include "policies/rollout.hpp"
#include "policies/rollout_views.hpp"
#include "reactor/system/files.hpp"
#include "tests/policies/host/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <optional>

namespace policies {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::size_t most = 64 * 1024 * 1024;

std::string load(const std::string& path) {
  auto text = reactor::load_file(path, most);
  EXPECT_TRUE(text) << path;
  return text ? *text : std::string();
}

struct recording {
  reactor::loop l{reactor::loop::mode::simulated, 1};
  reactor::temporary_folder folder;
  std::string path = folder.path() + "/record";

  /// Asks the stock packs about each of the usual pools.
  void ask(const std::shared_ptr<const rollout_input>& also = {}) {
    host packs(l, {.record = path});
    run_task(l, [&]() -> reactor::awaitable<void> {
      auto loaded = co_await packs.load();
      EXPECT_TRUE(loaded) << loaded.error().message();
      auto all = typical_rollouts();
      if (also) all.push_back(also);
      for (const auto& input : all) {
        subject about;
        about.api = "bootc";
        about.cluster_labels.emplace("env", "prod");
        auto said = co_await plan_rollout(packs, about, input, l.wall());
        EXPECT_TRUE(said) << said.error().message();
      }
    });
  }
};

TEST(PolicyRecord, HasEveryQuestionWithItsAnswerAndItsAuthor) {
  recording r;
  r.ask();
  const auto read = read_record(load(r.path), "record");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_FALSE(read->cut_short);
  ASSERT_EQ(read->questions.size(), typical_rollouts().size());
  const recorded_question& q = read->questions.front();
  EXPECT_EQ(q.number, 1u);
  EXPECT_EQ(q.hook, "rollout.plan");
  EXPECT_EQ(q.pack, "rollout/default");
  EXPECT_EQ(q.digest.size(), 71u);
  EXPECT_EQ(q.about.cluster_labels.at("env"), "prod");
  ASSERT_EQ(q.arguments.size(), 3u);
  EXPECT_TRUE(q.arguments[0].if_array());
  EXPECT_TRUE(q.answer.find("start"));
}

TEST(PolicyRecord, HasNoBytesOfWhatKubectlKeepsOfWholeObjects) {
  recording r;
  auto input = std::make_shared<rollout_input>(*typical_rollouts().front());
  input->units.front().annotations = {
      {k8s::interned("kubectl.kubernetes.io/last-applied-configuration"),
       k8s::interned("{\"data\":{\"password\":\"canary-7391\"}}")}};
  r.ask(input);
  const std::string text = load(r.path);
  EXPECT_THAT(text, Not(HasSubstr("canary-7391")));
  EXPECT_THAT(text, HasSubstr("last-applied-configuration\":\"sha256:"));
}

TEST(PolicyRecord, OneThatIsCutShortEditedOrOfAnotherVersionIsASentence) {
  recording r;
  r.ask();
  const std::string whole = load(r.path);
  const auto problem = [](const std::string& text) {
    const auto read = read_record(text, "record");
    return read ? std::string("fine") : read.error().message();
  };
  EXPECT_EQ(problem(whole), "fine");
  const auto cut = read_record(std::string_view(whole).substr(0, whole.size() - 20), "record");
  ASSERT_TRUE(cut);
  EXPECT_TRUE(cut->cut_short);
  EXPECT_EQ(cut->questions.size() + 1, typical_rollouts().size());
  std::string edited = whole;
  edited.replace(edited.find("\"prod\""), 6, "\"prud\"");
  EXPECT_THAT(problem(edited), HasSubstr("line 2: it or a line before was edited"));
  std::string shorter = whole;
  shorter.erase(shorter.find('\n') + 1,
                shorter.find('\n', shorter.find('\n') + 1) - shorter.find('\n'));
  EXPECT_THAT(problem(shorter), HasSubstr("line 2: it or a line before was edited, taken away"));
  std::string other = whole;
  other.replace(other.find("\"recordVersion\":2"), 17, "\"recordVersion\":7");
  EXPECT_THAT(problem(other),
              HasSubstr("another version of windlass: its form is 7, this one reads 2"));
  EXPECT_THAT(problem("{}\n"), HasSubstr("this is no record of policies"));
  EXPECT_THAT(problem(""), HasSubstr("this is no record of policies"));
  EXPECT_THAT(problem("apiVersion: v1"), HasSubstr("this is no record of policies"));
  EXPECT_THAT(problem(whole + "nonsense\n"), HasSubstr("it is damaged"));
}

TEST(PolicyRecord, TakesItsRoomAndNoMore) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  const reactor::temporary_folder folder;
  const std::string path = folder.path() + "/record";
  constexpr std::size_t room = 16 * 1024;
  recorder file(l, path, room);
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto opened = co_await file.open();
    EXPECT_TRUE(opened);
    for (int i = 0; i < 200; ++i) {
      question_note n;
      n.hook = "rollout.plan";
      n.pack = "p";
      n.arguments.emplace_back(value(std::string(500, 'x')));
      n.answer = std::make_shared<value>(i);
      auto written = co_await file.write(std::move(n));
      EXPECT_TRUE(written) << written.error().message();
    }
  });
  const std::string newer = load(path), older = load(path + ".1");
  EXPECT_LE(newer.size() + older.size(), room);
  const auto read = read_record(newer, "record");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read->questions.back().answer.if_number(), 199);
  EXPECT_TRUE(read_record(older, "record.1"));
}

TEST(PolicyRecord, QuestionsThatAreAskedAtOnceHaveALineEach) {
  reactor::loop l;  // a real one, which has several workers
  const reactor::temporary_folder folder;
  const std::string path = folder.path() + "/record";
  recorder file(l, path, most);
  constexpr int tasks = 16, questions = 100;
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto opened = co_await file.open();
    EXPECT_TRUE(opened);
    reactor::task_group askers(
        l, [](std::string_view, std::exception_ptr) { ADD_FAILURE() << "an asker threw"; });
    for (int t = 0; t < tasks; ++t) {
      askers.start("ask", [&file]() -> reactor::awaitable<void> {
        for (int i = 0; i < questions; ++i) {
          question_note n;
          n.hook = "rollout.plan";
          n.pack = "p";
          n.answer = std::make_shared<value>(i);
          auto written = co_await file.write(std::move(n));
          EXPECT_TRUE(written) << written.error().message();
        }
      });
    }
    co_await askers.join();
  });
  const auto read = read_record(load(path), "record");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->questions.size(), std::size_t{tasks} * questions);
  EXPECT_FALSE(read->cut_short);
}

/// No file grows beyond so many bytes, as on a full disk, as long as it lives.
class full_disk {
public:
  explicit full_disk(std::size_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    former_ = std::signal(SIGXFSZ, SIG_IGN);
    rlimit less = before_;
    less.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &less);
  }
  ~full_disk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, former_);
  }
  full_disk(const full_disk&) = delete;
  full_disk& operator=(const full_disk&) = delete;

private:
  rlimit before_{};
  void (*former_)(int) = SIG_DFL;
};

TEST(PolicyRecord, GoesOnWhenAFullDiskHasRoomAgain) {
  // The line that does not fit ends in its middle, at its first byte, or is a new file's first.
  for (const std::size_t room : {std::size_t{0}, std::size_t{50}, std::size_t{2'000}}) {
    reactor::loop l(reactor::loop::mode::simulated, 1);
    const reactor::temporary_folder folder;
    const std::string path = folder.path() + "/record";
    recorder file(l, path, most);
    std::size_t failures = 0, missing = 0;
    run_task(l, [&]() -> reactor::awaitable<void> {
      std::optional<full_disk> full;
      if (room < 2'000) full.emplace(room);
      auto opened = co_await file.open();
      EXPECT_EQ(opened.has_value(), room == 2'000);
      for (int i = 0; i < 30; ++i) {
        if (i == 5) full.emplace(room);
        if (i == 15) full.reset();
        question_note n;
        n.hook = "rollout.plan";
        n.pack = "p";
        n.answer = std::make_shared<value>(i);
        n.arguments.emplace_back(value(std::string(200, 'x')));
        auto written = co_await file.write(std::move(n));
        failures += written ? 0 : 1;
        if (written) missing += *written;
      }
    });
    const auto read = read_record(load(path), "record");
    ASSERT_TRUE(read) << room << ": " << read.error().message();
    EXPECT_FALSE(read->cut_short);
    EXPECT_GE(failures, 5u);
    EXPECT_EQ(missing, failures);
    EXPECT_EQ(read->questions.size(), 30 - failures);
    EXPECT_EQ(*read->questions.back().answer.if_number(), 29);
  }
}

TEST(PolicyRecord, IsForItsOwnerAlone) {
  const mode_t before = ::umask(0);
  recording r;
  reactor::put(r.path, "{}\n");
  ::chmod(r.path.c_str(), 0644);
  r.ask();
  ::umask(before);
  for (const std::string& path : {r.path, r.path + ".1"}) {
    struct stat is;
    ASSERT_EQ(::stat(path.c_str(), &is), 0) << path;
    EXPECT_EQ(is.st_mode & 0777, 0600u) << path;
  }
}

TEST(PolicyRecord, AFileThatCannotBeWrittenIsAReasonNotToStart) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  host packs(l, {.record = "/proc/nowhere/record"});
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto loaded = co_await packs.load();
    EXPECT_FALSE(loaded);
    if (!loaded) {
      EXPECT_THAT(loaded.error().message(), HasSubstr("/proc/nowhere/record"));
    }
  });
}

}  // namespace
}  // namespace policies
