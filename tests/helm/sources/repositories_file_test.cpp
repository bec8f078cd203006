#include "helm/sources/repositories_file.hpp"

#include <gtest/gtest.h>

namespace helm::sources {
namespace {

constexpr const char* written_by_helm =
    "apiVersion: \"\"\n"
    "generated: \"0001-01-01T00:00:00Z\"\n"
    "repositories:\n"
    "- caFile: \"\"\n"
    "  certFile: \"\"\n"
    "  insecure_skip_tls_verify: false\n"
    "  keyFile: \"\"\n"
    "  name: a\n"
    "  pass_credentials_all: true\n"
    "  password: geheim\n"
    "  url: https://h/charts\n"
    "  username: me\n";

TEST(RepositoriesFile, ReadsAndWritesWhatHelmWrites) {
  auto f = read_repositories(written_by_helm);
  ASSERT_TRUE(f) << f.error().text;
  ASSERT_EQ(f->entries.size(), 1u);
  EXPECT_EQ(f->entries[0].url, "https://h/charts");
  EXPECT_EQ(f->entries[0].password.reveal(), "geheim");
  EXPECT_TRUE(f->entries[0].pass_credentials_all);
  EXPECT_EQ(*write_repositories(*f), written_by_helm);
}

TEST(RepositoriesFile, ReplacesAndRemovesByName) {
  repositories_file f;
  repository_entry e;
  e.name = "a";
  e.url = "1";
  f.put(e);
  e.url = "2";
  f.put(e);
  ASSERT_EQ(f.entries.size(), 1u);
  EXPECT_EQ(f.find("a")->url, "2");
  EXPECT_TRUE(f.remove("a"));
  EXPECT_FALSE(f.remove("a"));
}

TEST(RepositoriesFile, NeverQuotesItsTextInAnError) {
  for (const char* bad :
       {"repositories:\n- name: a\n  password: *geheim\n", "repositories: [{password: geheim\n",
        "repositories:\n- name: a\n  password: !!int geheim\n", "repositories:\n- {geheim: x}: y\n",
        "repositories: geheim\n", "repositories:\n- name: [geheim]\n"}) {
    auto f = read_repositories(bad);
    ASSERT_FALSE(f) << bad;
    EXPECT_EQ(f.error().text.find("geheim"), std::string::npos) << f.error().text;
  }
}

}  // namespace
}  // namespace helm::sources
