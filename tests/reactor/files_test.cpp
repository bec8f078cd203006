#include "reactor/system/files.hpp"

#include "reactor/system/file_watch.hpp"
#include "reactor/system/rooted_files.hpp"
#include "tests/reactor/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

namespace reactor {
namespace {

namespace fs = std::filesystem;

TEST(Files, ReadAWholeFileWithinItsLimit) {
  temporary_folder folder;
  put(folder / "a", std::string(10'000, 'x'));
  EXPECT_EQ(load_file(folder / "a", 10'000).value().size(), 10'000u);
  EXPECT_EQ(load_file(folder / "a", 9'999).error().code, errc::limit);
  put(folder / "empty", "");
  EXPECT_EQ(load_file(folder / "empty", 0).value(), "");
}

TEST(Files, SayWhatIsWrongWithAPath) {
  temporary_folder folder;
  const fault missing = load_file(folder / "none", 10).error();
  EXPECT_EQ(missing.code, errc::not_found);
  EXPECT_EQ(missing.message(), "read " + (folder / "none") + ": there is no such file");
  EXPECT_EQ(load_file(folder.path(), 10).error().code, errc::refused);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(load_file(folder / "pipe", 10).error().code, errc::refused);
  EXPECT_GT(load_file("/proc/self/status", 1 << 20).value().size(), 100u);
}

TEST(Files, AreReplacedInOneStepWithTheirModeAndKeepALink) {
  temporary_folder folder;
  ASSERT_TRUE(store_file(folder / "a", "one", 0600).has_value());
  struct stat info;
  ::stat((folder / "a").c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  fs::create_symlink("a", folder / "link");
  ASSERT_TRUE(store_file(folder / "link", "two").has_value());
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(load_file(folder / "a", 100).value(), "two");
  EXPECT_EQ(folder.entries(), 2u);
  EXPECT_EQ(store_file(folder / "no/such/folder", "x").error().code, errc::not_found);
}

TEST(Files, AFailedWriteLeavesTheOldBytesAndNoLitter) {
  temporary_folder folder;
  put(folder / "a", "old");
  // A limit on the file's size fails a write half-way, as a full disk does.
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{8'192, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  auto stored = store_file(folder / "a", std::string(100'000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(stored.has_error());
  EXPECT_EQ(stored.error().doing, "write " + (folder / "a"));
  EXPECT_EQ(load_file(folder / "a", 100).value(), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(Files, AreReadAndWrittenOffTheLoop) {
  temporary_folder folder;
  loop l;
  run_task(l, [&]() -> awaitable<void> {
    auto written = co_await write_file_atomically(l, folder / "a", "text", 0644);
    EXPECT_TRUE(written.has_value());
    auto read = co_await read_file(l, folder / "a", 100);
    EXPECT_EQ(read.value(), "text");
  });
  EXPECT_EQ(l.live(), nothing_live);
}

/// Each kind of change, once with the kernel's hints and once by polling in virtual time.
class FileWatch : public testing::TestWithParam<loop::mode> {
protected:
  /// Does `change` while a watch of `path` waits; true when it was noticed within a minute of the
  /// loop's clock.
  bool notices(const std::string& path, std::function<void()> change, nanoseconds patience = 60s) {
    file_watch_settings settings;
    if (GetParam() == loop::mode::real) settings.debounce = 5ms;
    file_watch watch(l, path, settings);
    bool noticed = false;
    run_task(l, [&]() -> awaitable<void> {
      task_group tasks(l);
      event done(l);
      tasks.start("watch", [&]() -> awaitable<void> {
        co_await watch.changed();
        noticed = true;
        done.set();
      });
      co_await l.sleep_for(20ms);
      EXPECT_FALSE(noticed);
      change();
      (void)co_await done.wait(l.now() + patience);
      co_await tasks.cancel_and_join();
    });
    EXPECT_EQ(l.live(), nothing_live);
    return noticed;
  }
  temporary_folder folder;
  loop l{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(ByHintAndByPolling, FileWatch,
                         testing::Values(loop::mode::real, loop::mode::simulated),
                         [](const auto& info) {
                           return info.param == loop::mode::real ? "ByHint" : "ByPolling";
                         });

TEST_P(FileWatch, NoticesAnEditInPlace) {
  put(folder / "a.lua", "1");
  EXPECT_TRUE(notices(folder / "a.lua", [&] { put(folder / "a.lua", "22"); }));
}

TEST_P(FileWatch, NoticesAnEditorThatRenamesOverTheFile) {
  put(folder / "a.lua", "1");
  EXPECT_TRUE(notices(folder / "a.lua", [&] {
    put(folder / "a.lua~", "2");
    fs::rename(folder / "a.lua~", folder / "a.lua");
  }));
}

TEST_P(FileWatch, NoticesTheSwapOfAMountedConfigMap) {
  fs::create_directory(folder / "..one");
  put(folder / "..one/policy.lua", "1");
  fs::create_directory_symlink("..one", folder / "..data");
  fs::create_symlink("..data/policy.lua", folder / "policy.lua");
  const auto swap = [&](const std::string& to) {
    fs::create_directory(folder / to);
    put(folder / (to + "/policy.lua"), "2");
    fs::create_directory_symlink(to, folder / "..data_tmp");
    fs::rename(folder / "..data_tmp", folder / "..data");
  };
  EXPECT_TRUE(notices(folder.path(), [&] { swap("..two"); }));
  EXPECT_TRUE(notices(folder / "policy.lua", [&] { swap("..three"); }));
}

TEST_P(FileWatch, NoticesFilesDeepBelowAFolder) {
  fs::create_directories(folder / "pack/data");
  EXPECT_TRUE(notices(folder.path(), [&] { put(folder / "pack/data/new.json", "{}"); }));
  EXPECT_TRUE(notices(folder.path() + "/", [&] { fs::remove(folder / "pack/data/new.json"); }));
}

TEST_P(FileWatch, SurvivesDeletionAndReCreationOfTheWholeFolder) {
  fs::create_directory(folder / "p");
  put(folder / "p/a", "1");
  EXPECT_TRUE(notices(folder / "p", [&] { fs::remove_all(folder / "p"); }));
  EXPECT_TRUE(notices(folder / "p", [&] {
    fs::create_directory(folder / "p");
    put(folder / "p/a", "2");
  }));
  EXPECT_TRUE(notices(folder / "no/such/folder/yet",
                      [&] { fs::create_directories(folder / "no/such/folder/yet"); }));
}

TEST_P(FileWatch, KeepsQuietAboutOtherFilesHiddenOnesAndBackups) {
  const nanoseconds soon = GetParam() == loop::mode::real ? 200ms : 60s;
  put(folder / "a", "1");
  EXPECT_FALSE(notices(folder / "a", [&] { put(folder / "b", "1"); }, soon));
  EXPECT_FALSE(notices(
      folder.path(),
      [&] {
        put(folder / ".a.swp", "1");
        put(folder / "a~", "1");
      },
      soon));
}

TEST_P(FileWatch, ReportsWhatHappenedBetweenTwoCalls) {
  put(folder / "a", "1");
  file_watch watch(l, folder / "a", {.debounce = 5ms});
  put(folder / "a", "22");
  run_task(l, [&]() -> awaitable<void> {
    co_await watch.changed();
    put(folder / "a", "333");
    co_await watch.changed();
  });
}

/// A host's root in a folder, and beside it what belongs to us.
struct host_root {
  temporary_folder folder;
  const std::string root = folder / "root", ours = folder / "ours";
  rooted_files files{root};
  host_root() {
    for (const char* each : {"root/run", "root/etc", "root/var/lib", "ours"})
      fs::create_directories(folder / each);
    put(ours + "/secret", "ours");
  }
  std::string text(const std::string& path) {
    auto read = files.load(path, 100);
    return read ? *read
                : "! " + std::string(read.error().code == errc::not_found ? "absent" : "no");
  }
};

TEST(RootedFiles, LinksStayInside) {
  host_root h;
  put(h.root + "/etc/a", "the host's");
  struct row {
    std::string link, to, read;
  };
  const std::string up = "../../../../../../../../../../../..";
  const row rows[] = {{"/run/plain", "/etc/a", "the host's"},
                      {"/run/relative", "../etc/a", "the host's"},
                      {"/run/up", up + "/etc/a", "the host's"},
                      {"/run/ours", h.ours + "/secret", "! absent"},
                      {"/run/up-to-ours", up + h.ours + "/secret", "! absent"},
                      {"/run/beside", "../../ours/secret", "! absent"},
                      {"/run/folder", h.ours, "! absent"},
                      {"/run/loop", "/run/loop", "! no"}};
  for (const row& r : rows) {
    fs::create_symlink(r.to, h.root + r.link);
    EXPECT_EQ(h.text(r.link), r.read) << r.link;
    EXPECT_EQ(h.files.load_secret(r.link, 100).has_value(), !r.read.starts_with('!')) << r.link;
  }
  EXPECT_EQ(h.text("/run/folder/secret"), "! absent");
  EXPECT_EQ(h.text("/run/../../ours/secret"), "! absent");
  EXPECT_EQ(h.text("/run"), "! no") << "a folder";
}

TEST(RootedFiles, NothingIsWrittenRemovedOrMadeOutside) {
  host_root h;
  fs::create_symlink(h.ours, h.root + "/run/folder");
  fs::create_symlink(h.ours + "/secret", h.root + "/run/file");
  EXPECT_FALSE(h.files.store("/run/folder/secret", "theirs"));
  EXPECT_FALSE(h.files.store("/run/folder/new", "theirs"));
  EXPECT_FALSE(h.files.store("/run/file", "theirs")) << "its folder is not inside";
  EXPECT_FALSE(h.files.make_folder("/run/folder/new", 0755));
  h.files.remove("/run/folder/secret");
  EXPECT_FALSE(h.files.changed("/run/folder/secret"));
  EXPECT_EQ(load_file(h.ours + "/secret", 100).value(), "ours");
  EXPECT_FALSE(fs::exists(h.ours + "/new"));
  EXPECT_EQ(std::distance(fs::directory_iterator(h.ours), {}), 1) << "nor a file in between";

  fs::create_symlink("/var/lib/auth", h.root + "/run/auth");
  EXPECT_TRUE(h.files.store("/run/auth", "new", 0600));
  EXPECT_EQ(load_file(h.root + "/var/lib/auth", 100).value(), "new");
  EXPECT_TRUE(fs::is_symlink(h.root + "/run/auth"));
  struct stat info;
  ASSERT_EQ(::stat((h.root + "/var/lib/auth").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_TRUE(h.files.make_folder("/run/a", 0755));
  EXPECT_TRUE(h.files.make_folder("/run/a", 0755));
  EXPECT_TRUE(h.files.changed("/run/a"));
  h.files.remove("/run/auth");
  EXPECT_FALSE(fs::is_symlink(h.root + "/run/auth"));
}

}  // namespace
}  // namespace reactor
