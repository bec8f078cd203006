#include "reactor/system/memory_limit.hpp"

#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace reactor {
namespace {

/// What a process sees: its groups, and where their hierarchies are mounted.
struct seen_groups {
  temporary_folder root;
  seen_groups(const std::string& cgroup, const std::string& mountinfo) {
    root.write("proc/self/cgroup", cgroup);
    root.write("proc/self/mountinfo", mountinfo);
  }
  void v2(const std::string& folder, const std::string& limit, const std::string& held,
          const std::string& stat = "anon 1\n") {
    root.write(folder + "/memory.max", limit + "\n");
    root.write(folder + "/memory.current", held + "\n");
    root.write(folder + "/memory.stat", stat);
  }
  void v1(const std::string& folder, const std::string& limit, const std::string& held,
          const std::string& stat = "cache 1\n") {
    root.write(folder + "/memory.limit_in_bytes", limit + "\n");
    root.write(folder + "/memory.usage_in_bytes", held + "\n");
    root.write(folder + "/memory.stat", stat);
  }
  std::optional<memory_use> look() const {
    return memory_groups::of_this_process(root.path()).look();
  }
};

constexpr const char* v2_mount =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* no_v1_limit = "9223372036854771712";

TEST(MemoryLimit, IsThatOfTheOwnGroupWithoutTheCacheOfFiles) {
  seen_groups s("0::/\n", v2_mount);
  s.v2("sys/fs/cgroup", "1000", "900", "anon 500\ninactive_file 200\nactive_file 100\nfile 320\n");
  EXPECT_EQ(s.look(), (memory_use{1000, 600}));
}

TEST(MemoryLimit, IsThatOfTheAncestorWithTheLeastRoom) {
  seen_groups s("0::/system.slice/windlass.service\n", v2_mount);
  s.v2("sys/fs/cgroup/system.slice/windlass.service", "max", "100");
  s.v2("sys/fs/cgroup/system.slice", "1000", "800");
  EXPECT_EQ(s.look(), (memory_use{1000, 800}));
  s.v2("sys/fs/cgroup/system.slice/windlass.service", "200", "100");
  EXPECT_EQ(s.look(), (memory_use{200, 100}));
}

TEST(MemoryLimit, IsNoneWhereNoGroupHasOne) {
  seen_groups s("0::/a\n", v2_mount);
  s.v2("sys/fs/cgroup/a", "max", "100");
  EXPECT_FALSE(s.look());
  EXPECT_FALSE(seen_groups("", "").look());
  EXPECT_FALSE(seen_groups("0::/a\n1:x\n:\n", "30 23\n - \n").look());
}

TEST(MemoryLimit, IsReadFromVersionOneToo) {
  const std::string mounts =
      "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  seen_groups s("4:cpu,memory:/docker/abc\n0::/\n", mounts);
  s.v1("sys/fs/cgroup/memory/docker/abc", "1000", "900",
       "inactive_file 1\ntotal_inactive_file 150\ntotal_active_file 50\n");
  s.v1("sys/fs/cgroup/memory/docker", no_v1_limit, "5000");
  EXPECT_EQ(s.look(), (memory_use{1000, 700}));
}

TEST(MemoryLimit, IsAtTheMountPointWhereAContainerReadsAPathOfTheHost) {
  seen_groups s(
      "4:memory:/kubepods/pod1/abc\n",
      "35 31 0:32 /kubepods/pod1/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  s.v1("sys/fs/cgroup/memory", "1000", "10");
  EXPECT_EQ(s.look(), (memory_use{1000, 10}));
}

TEST(MemoryLimit, FilesThatSayNonsenseAreNoLimit) {
  seen_groups s("0::/\n", v2_mount);
  s.v2("sys/fs/cgroup", "many", "900");
  EXPECT_FALSE(s.look());
  s.v2("sys/fs/cgroup", "1000", "some");
  EXPECT_FALSE(s.look());
  s.v2("sys/fs/cgroup", "1000", "900", "inactive_file 5000\n");
  EXPECT_EQ(s.look(), (memory_use{1000, 0}));
}

}  // namespace
}  // namespace reactor
