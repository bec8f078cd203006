// The init container of a Trustee server: keys of mounted Secrets as the flat files it reads.
#include "compose/commands/secret_converter.hpp"

#include "cli/commands.hpp"
#include "reactor/system/files.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

namespace {

namespace files = std::filesystem;
using cli::mounted_entry;
using testing::HasSubstr;
using kind = cli::mounted_entry::kind;

const std::string slash = "\\x2F";

std::string flat(const std::string& secret, const std::string& key) {
  return "default" + slash + secret + slash + key;
}

TEST(SecretConverter, NamesEachKeyAndNothingElseOfAMount) {
  const std::vector<mounted_entry> found = {{kind::file, "new-secret", "key2"},
                                            {kind::file, "new-secret", "key1"},
                                            {kind::folder, "new-secret", "..data"},
                                            {kind::folder, "new-secret", "..2026_01_02"},
                                            {kind::file, "new-secret", ".dockerconfig"},
                                            {kind::folder, "new-secret", "below"},
                                            {kind::file, "a.b-c", "tls.crt"},
                                            {kind::file, "a.b-c", "A_b.c-0"},
                                            {kind::other, "a.b-c", "..data_tmp"}};
  const auto plan = cli::plan_secret_copies(found);
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(*plan,
            (std::vector<cli::secret_copy>{{"a.b-c/A_b.c-0", flat("a.b-c", "A_b.c-0")},
                                           {"a.b-c/tls.crt", flat("a.b-c", "tls.crt")},
                                           {"new-secret/key1", flat("new-secret", "key1")},
                                           {"new-secret/key2", flat("new-secret", "key2")}}));
}

TEST(SecretConverter, RefusesWhatNoKeyCanBe) {
  const std::string fits(248 - flat("s", "").size(), 'k');
  struct row {
    mounted_entry entry;
    std::string why;  // empty: it is taken
  };
  const row rows[] = {
      {{kind::file, "s", fits}, ""},
      {{kind::file, "s", fits + "k"}, "249 bytes"},
      {{kind::file, "s", "a" + slash + "b"}, "such a name"},
      {{kind::file, "s", "a b"}, "such a name"},
      {{kind::file, "s", "ä"}, "such a name"},
      {{kind::file, "s\n", "a"}, "such a name"},
      {{kind::other, "s", "pipe"}, "convert s/pipe: it is no file"},
  };
  for (const row& r : rows) {
    const auto plan = cli::plan_secret_copies(std::vector<mounted_entry>{r.entry});
    ASSERT_EQ(plan.has_value(), r.why.empty()) << r.entry.name;
    if (plan) continue;
    EXPECT_EQ(plan.error().code, reactor::errc::refused);
    EXPECT_THAT(plan.error().message(), HasSubstr(r.why));
  }
}

TEST(SecretConverter, IsTheProgramCalledByItsName) {
  using words = std::vector<std::string>;
  EXPECT_EQ(cli::words_of({"/secret-converter"}), words{"secret-converter"});
  EXPECT_EQ(cli::words_of({"secret-converter", "--secrets", "a"}),
            (words{"secret-converter", "--secrets", "a"}));
  EXPECT_EQ(cli::words_of({"/usr/bin/windlass", "version"}), words{"version"});
  EXPECT_EQ(cli::words_of({"/secret-converter/windlass"}), words{});
  EXPECT_EQ(cli::words_of({}), words{});
}

/// Mounts as kubelet makes them, and an empty repository.
class SecretConverterMounts : public testing::Test {
protected:
  SecretConverterMounts() {
    files::create_directories(secrets_);
    files::create_directories(repository_);
  }

  /// Each key is a link through `..data` into a folder that is replaced as a whole.
  void mount(const std::string& secret, const std::map<std::string, std::string>& keys) {
    const files::path at = secrets_ / secret;
    const std::string version = "..2026_11_23_09_00_00." + std::to_string(++versions_);
    files::create_directories(at / version);
    for (const auto& [key, bytes] : keys) {
      ASSERT_TRUE(reactor::store_file((at / version / key).string(), bytes));
      if (!files::is_symlink(at / key)) files::create_symlink("..data/" + key, at / key);
    }
    files::remove(at / "..data");
    files::create_directory_symlink(version, at / "..data");
  }

  std::map<std::string, std::string> repository() const {
    std::map<std::string, std::string> out;
    for (const auto& entry : files::directory_iterator(repository_))
      out[entry.path().filename().string()] =
          reactor::load_file(entry.path().string(), 4'000'000).value();
    return out;
  }

  int run() {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code =
        cli::dispatch(cli::words_of({"/secret-converter", "--secrets", secrets_.string(),
                                     "--repository", repository_.string()}));
    said_ = testing::internal::GetCapturedStdout();
    said_ += testing::internal::GetCapturedStderr();
    return code;
  }

  reactor::temporary_folder folder_;
  const files::path secrets_ = folder_ / "kbs-secrets", repository_ = folder_ / "repository";
  std::string said_;
  int versions_ = 0;
};

TEST_F(SecretConverterMounts, BecomeFlatFilesThatEveryUserReads) {
  const std::string binary = {'a', '\0', '\n', '\xff'};
  mount("new-secret", {{"key1", "planted-1"}, {"key2", binary}});
  mount("attestation-status", {{"status", ""}});
  ASSERT_EQ(run(), 0) << said_;
  EXPECT_EQ(repository(), (std::map<std::string, std::string>{
                              {"default\\x2Fnew-secret\\x2Fkey1", "planted-1"},
                              {"default\\x2Fnew-secret\\x2Fkey2", binary},
                              {"default\\x2Fattestation-status\\x2Fstatus", ""}}));
  struct stat info;
  ASSERT_EQ(::stat((repository_ / flat("new-secret", "key1")).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u) << "others have no part in a key";
  EXPECT_THAT(said_, HasSubstr("3 keys of "));
  EXPECT_THAT(said_, testing::Not(HasSubstr("planted")));
}

TEST_F(SecretConverterMounts, AreCopiedAgainAndWhatElseIsThereStays) {
  mount("s", {{"key", "old"}});
  ASSERT_TRUE(reactor::store_file((repository_ / "default\\x2Fother\\x2Fkey").string(), "kept"));
  ASSERT_EQ(run(), 0) << said_;
  mount("s", {{"key", "new"}});
  ASSERT_EQ(run(), 0) << said_;
  EXPECT_EQ(repository(), (std::map<std::string, std::string>{{"default\\x2Fother\\x2Fkey", "kept"},
                                                              {flat("s", "key"), "new"}}));
}

TEST_F(SecretConverterMounts, NeedNotBeThere) {
  EXPECT_EQ(run(), 0) << said_;
  files::create_directory(secrets_ / "empty");
  EXPECT_EQ(run(), 0) << said_;
  files::remove_all(secrets_);
  EXPECT_EQ(run(), 0) << said_;
  EXPECT_THAT(said_, HasSubstr("0 keys of "));
  EXPECT_TRUE(repository().empty());
}

TEST_F(SecretConverterMounts, ThatAreBrokenAreNamedAndNothingOfThemIsSaid) {
  mount("s", {{"a", "planted"}});
  files::create_symlink("..data/gone", secrets_ / "s/key");
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(said_, HasSubstr("convert s/key: it is no file, or a link to none"));
  EXPECT_TRUE(repository().empty()) << "a plan with a mistake was begun";

  files::remove(secrets_ / "s/key");
  mount("t", {{"big", std::string(1024 * 1024 + 1, 'x')}});
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(said_, HasSubstr("t/big: it is bigger than 1048576 bytes"));

  files::remove_all(secrets_ / "t");
  files::remove_all(repository_);
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(said_, HasSubstr((repository_ / flat("s", "a")).string()));
  EXPECT_THAT(said_, testing::Not(HasSubstr("planted")));

  files::remove_all(secrets_);
  ASSERT_TRUE(reactor::store_file(secrets_.string(), "planted"));
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(said_, HasSubstr("list " + secrets_.string()));
}

}  // namespace
