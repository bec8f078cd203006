#include "helm/commands/post_renderer.hpp"

#include "helm/commands/commands.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>

namespace helm {
namespace {

class PostRenderer : public testing::Test {
protected:
  std::string script(const std::string& text, int mode = 0755) {
    const auto path = folder_.write("program", "#!/bin/sh\n" + text + "\n");
    ::chmod(path.c_str(), static_cast<mode_t>(mode));
    return path;
  }
  static outcome<std::string> run(const post_renderer& how, const std::string& manifests,
                                  const std::atomic<bool>* cancelled = nullptr) {
    return post_render(how, manifests, {}, cancelled);
  }

  reactor::temporary_folder folder_;
};

TEST_F(PostRenderer, GivesWhatTheProgramMakesOfTheManifests) {
  const auto program = script("sed s/a/b/; echo \"$*\"");
  const auto made = run({program, {"x y", "z"}}, "a: 1\n");
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_EQ(*made, "b: 1\nx y z\n");
  // More than a pipe holds, both ways.
  const std::string much(3 << 20, 'x');
  EXPECT_EQ(*run({script("cat"), {}}, much), much);
  EXPECT_EQ(*run({script("exit 0"), {}}, much), "");
}

TEST_F(PostRenderer, ThatFailsSaysWhy) {
  const auto program = script("echo no >&2; exit 3");
  EXPECT_EQ(run({program, {}}, "a").error().text,
            "error while running post render on files: error while running command " + program +
                ". error output:\nno\n: exit status 3");
  const auto killed = script("kill -9 $$");
  EXPECT_TRUE(run({killed, {}}, "a").error().text.ends_with(": signal: killed"));
}

TEST_F(PostRenderer, IsEndedAtItsLimitAndWhenNobodyWaits) {
  // It says nothing more and goes on; a clock that jumps an hour ends it, and so does who gave it
  // up.
  for (const char* text : {"sleep 60 & sleep 60", "exec >&- 2>&-; sleep 60"}) {
    const auto program = script(text);
    auto now = std::chrono::nanoseconds(0);
    const auto late =
        post_render({program, {}}, "a", [&now] { return now += std::chrono::hours(1); });
    EXPECT_TRUE(late.error().text.ends_with(": it ran longer than 300 s")) << late.error().text;
    const auto at_once = post_render({program, {}, std::chrono::seconds(0)}, "a",
                                     [&now] { return now += std::chrono::hours(1); });
    EXPECT_TRUE(at_once.error().text.ends_with(": it ran longer than 0 s")) << at_once.error().text;
    const std::atomic<bool> cancelled = true;
    EXPECT_TRUE(run({program, {}}, "a", &cancelled).error().text.ends_with(": cancelled"));
  }
}

TEST_F(PostRenderer, IsLookedForAsAShellDoes) {
  script("cat");
  EXPECT_EQ(*find_program("program", "/nowhere:" + folder_.path()), folder_.path() + "/program");
  EXPECT_EQ(*find_program(folder_.path() + "/./program", ""), folder_.path() + "/program");
  EXPECT_EQ(find_program("nope", folder_.path()).error().text,
            "unable to find binary at nope: exec: \"nope\": executable file not found in $PATH");
  EXPECT_EQ(
      find_program("./nope", "").error().text,
      "unable to find binary at ./nope: exec: \"./nope\": stat ./nope: no such file or directory");
  EXPECT_TRUE(find_program(folder_.path(), "").error().text.ends_with(": is a directory"));
  script("cat", 0644);
  EXPECT_TRUE(
      find_program(folder_.path() + "/program", "").error().text.ends_with(": permission denied"));
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
