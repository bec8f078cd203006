#include "helm/post_renderer.hpp"

#include "helm/commands.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace helm {
namespace {

class PostRenderer : public testing::Test {
protected:
  PostRenderer() {
    std::string name = testing::TempDir() + "post-renderer.XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~PostRenderer() override { std::filesystem::remove_all(folder_); }

  std::string script(const std::string& text, int mode = 0755) {
    const auto path = folder_ + "/program";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    ::chmod(path.c_str(), static_cast<mode_t>(mode));
    return path;
  }

  std::string folder_;
};

TEST_F(PostRenderer, GivesWhatTheProgramMakesOfTheManifests) {
  const auto program = script("sed s/a/b/; echo \"$*\"");
  const auto made = post_render({program, {"x y", "z"}}, "a: 1\n");
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_EQ(*made, "b: 1\nx y z\n");
  // More than a pipe holds, both ways.
  const std::string much(3 << 20, 'x');
  EXPECT_EQ(*post_render({script("cat"), {}}, much), much);
  EXPECT_EQ(*post_render({script("exit 0"), {}}, much), "");
}

TEST_F(PostRenderer, ThatFailsSaysWhy) {
  const auto program = script("echo no >&2; exit 3");
  EXPECT_EQ(post_render({program, {}}, "a").error().text,
            "error while running post render on files: error while running command " + program +
                ". error output:\nno\n: exit status 3");
  const auto killed = script("kill -9 $$");
  EXPECT_TRUE(post_render({killed, {}}, "a").error().text.ends_with(": signal: killed"));
}

TEST_F(PostRenderer, IsEndedAtItsLimitAndWhenNobodyWaits) {
  const auto program = script("sleep 60 & sleep 60");
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(post_render({program, {}, std::chrono::seconds(0)}, "a")
                  .error()
                  .text.ends_with(": it ran longer than 0 s"));
  const std::atomic<bool> cancelled = true;
  EXPECT_TRUE(post_render({program, {}}, "a", &cancelled).error().text.ends_with(": cancelled"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30));
}

TEST_F(PostRenderer, IsLookedForAsAShellDoes) {
  script("cat");
  EXPECT_EQ(*find_program("program", "/nowhere:" + folder_), folder_ + "/program");
  EXPECT_EQ(*find_program(folder_ + "/./program", ""), folder_ + "/program");
  EXPECT_EQ(find_program("nope", folder_).error().text,
            "unable to find binary at nope: exec: \"nope\": executable file not found in $PATH");
  EXPECT_EQ(
      find_program("./nope", "").error().text,
      "unable to find binary at ./nope: exec: \"./nope\": stat ./nope: no such file or directory");
  EXPECT_TRUE(find_program(folder_, "").error().text.ends_with(": is a directory"));
  script("cat", 0644);
  EXPECT_TRUE(find_program(folder_ + "/program", "").error().text.ends_with(": permission denied"));
}

TEST_F(PostRenderer, HooksDoNotPassThroughIt) {
  const std::vector<std::string> line{"template", "r",
                                      WINDLASS_SOURCE_DIR "/tests/helm/charts/parent",
                                      "--post-renderer", script("echo only: this")};
  const auto r = run_command(line);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(r.out.starts_with("only: this\n---\n# Source: parent/templates/hook.yaml\n"))
      << r.out;
}

}  // namespace
}  // namespace helm
