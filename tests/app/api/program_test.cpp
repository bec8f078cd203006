#include "app/process.hpp"
#include "reactor/system/private_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace {

namespace fs = std::filesystem;

void put_program(const fs::path& at) {
  fs::create_directories(at.parent_path());
  std::ofstream(at) << "#!/bin/sh\n";
  fs::permissions(at, fs::perms::owner_all);
}

TEST(Siblings, AProgramIsFoundBesideThisOneAndElseInLibexec) {
  const reactor::private_folder folder("siblings");
  const fs::path root = folder.path(), beside = root / "bin/one",
                 below = root / "libexec/windlass/one";
  const std::string self = root / "bin/windlass";
  const auto none = app::find_sibling(self, "one");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(), "find one: it is neither in " + (root / "bin").string() +
                                        " nor in " + below.parent_path().string());
  put_program(below);
  EXPECT_EQ(app::find_sibling(self, "one").value(), below);
  put_program(beside);
  EXPECT_EQ(app::find_sibling(self, "one").value(), beside);
  fs::permissions(beside, fs::perms::owner_read);
  EXPECT_EQ(app::find_sibling(self, "one").value(), below)
      << "a file without the right to execute it is no program";
}

/// What a command prints on both streams.
std::string said_by(const std::string& command) {
  std::string out;
  std::array<char, 4096> some{};
  FILE* const from = popen((command + " 2>&1").c_str(), "r");
  while (const std::size_t n = from ? std::fread(some.data(), 1, some.size(), from) : 0)
    out.append(some.data(), n);
  if (from) pclose(from);
  return out;
}

TEST(Programs, TheDaemonIsTheProgramForNodesWithTheFlagsThatWereGiven) {
  const reactor::private_folder folder("programs");
  const std::string file = fs::path(folder.path()) / "settings.yaml";
  std::ofstream(file) << "health-probe-bind-address: wrong\napis: [bootc]\n";
  const std::string build = WINDLASS_BINARY_DIR,
                    refused =
                        "windlass-node: --health-probe-bind-address wrong: expected HOST:PORT";
  for (const std::string& command :
       {build + "/windlass daemon --node-name n --health-probe-bind-address wrong",
        "NODE_NAME=n " + build + "/windlass daemon --config " + file,
        "NODE_NAME=n " + build + "/windlass-node --config " + file})
    EXPECT_NE(said_by(command).find(refused), std::string::npos) << command;
  EXPECT_NE(said_by(build + "/windlass-node --config " + file).find("\"apis\" is not a setting of"),
            std::string::npos);
  EXPECT_EQ(said_by("env -u NODE_NAME " + build + "/windlass daemon"),
            "windlass-node: which node is this? Set NODE_NAME (downward API spec.nodeName) or "
            "--node-name\n");
  EXPECT_NE(said_by(build + "/windlass daemon --frob").find("windlass daemon: The following"),
            std::string::npos);
}

#ifdef NDEBUG  // in a debug build nothing is left out
TEST(Programs, TheOneOnNodesIsSmallAndHoldsNoPolicyChartPageOrServer) {
  const std::string node = WINDLASS_BINARY_DIR "/windlass-node";
  EXPECT_EQ(said_by("nm -C " + node + " | grep -ciE 'lua_|helm::|k8s::sim|web::'"), "0\n");
  const reactor::private_folder folder("stripped");
  const fs::path stripped = fs::path(folder.path()) / "node";
  EXPECT_EQ(said_by("strip -o " + stripped.string() + " " + node), "");
  EXPECT_LE(fs::file_size(stripped), 4u << 20);
  EXPECT_EQ(said_by("readelf -d " + node + " | grep -c luajit"), "0\n");
}
#endif

}  // namespace
