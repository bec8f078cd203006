#include "registry/rules.hpp"

#include <gtest/gtest.h>

namespace registry {
namespace {

using namespace std::chrono_literals;
using reactor::nanoseconds;

TEST(RegistryRules, ABusyRegistryIsAskedAgainAfterTheWaitThatItNames) {
  const retry_limits limits;
  const struct {
    attempt what;
    int sent;
    std::optional<nanoseconds> wait;
  } rows[] = {
      {{"GET", 200, false, {}}, 1, {}},     {{"GET", 404, false, {}}, 1, {}},
      {{"GET", 401, false, {}}, 1, {}},     {{"GET", 403, false, 1s}, 1, {}},
      {{"GET", 501, false, {}}, 1, {}},     {{"GET", 429, false, {}}, 1, 500ms},
      {{"GET", 429, false, {}}, 3, 2s},     {{"GET", 429, false, {}}, 5, 8s},
      {{"GET", 429, false, {}}, 6, {}},     {{"GET", 429, false, 7s}, 1, 7s},
      {{"GET", 429, false, 0s}, 2, 1s},     {{"GET", 429, false, 60s}, 1, 60s},
      {{"GET", 429, false, 61s}, 1, {}},    {{"PUT", 503, false, 2s}, 1, 2s},
      {{"POST", 502, false, {}}, 1, 500ms}, {{"GET", 500, false, {}}, 2, 1s},
      {{"GET", 504, false, {}}, 1, 500ms},  {{"GET", 408, false, {}}, 1, 500ms},
      {{"HEAD", 500, false, {}}, 1, {}},    {{"HEAD", 503, false, {}}, 1, {}},
      {{"HEAD", 503, false, 3s}, 1, 3s},    {{"HEAD", 429, false, {}}, 1, 500ms},
      {{"GET", 0, true, {}}, 1, 500ms},     {{"HEAD", 0, true, {}}, 2, 1s},
      {{"GET", 0, true, {}}, 6, {}},        {{"GET", 0, false, {}}, 1, {}},
  };
  for (const auto& row : rows)
    EXPECT_EQ(wait_before_retry(row.what, row.sent, limits), row.wait)
        << row.what.method << " " << row.what.status << " " << row.sent;
  retry_limits once;
  once.attempts = 1;
  EXPECT_FALSE(wait_before_retry(rows[9].what, 1, once)) << "a caller with a schedule of its own";
}

TEST(RegistryRules, OnlyGetSaysThatAManifestIsNotThere) {
  for (const int status : {200, 400, 401, 403, 404, 405, 406, 410, 500, 501, 502, 503})
    EXPECT_EQ(after_head(status, "sha256:a", "sha256:b"), after_manifest_head::read_manifest)
        << status;
  EXPECT_EQ(after_head(200, "sha256:a", "sha256:a"), after_manifest_head::unchanged);
  EXPECT_EQ(after_head(404, "sha256:a", "sha256:a"), after_manifest_head::read_manifest);
  EXPECT_EQ(after_head(200, "", ""), after_manifest_head::read_manifest);
  EXPECT_EQ(after_head(429, "", "sha256:a"), after_manifest_head::give_up);
}

TEST(RegistryRules, HeadIsLeftOutWhereItIsNeverServed) {
  for (const int refused : {400, 403, 404, 405, 501}) {
    EXPECT_TRUE(is_head_unserved(refused, 200)) << refused;
    EXPECT_TRUE(is_head_unserved(refused, 304)) << refused;
    EXPECT_FALSE(is_head_unserved(refused, 404)) << refused;
  }
  for (const int passing : {200, 401, 408, 429, 500, 502, 503})
    EXPECT_FALSE(is_head_unserved(passing, 200)) << passing;
}

TEST(RegistryRules, ABlobIsUploadedUnlessItIsThere) {
  EXPECT_EQ(after_head_of_blob(200), after_blob_head::present);
  for (const int status : {204, 301, 400, 403, 404, 405, 500, 503})
    EXPECT_EQ(after_head_of_blob(status), after_blob_head::upload) << status;
  for (const int status : {401, 429})
    EXPECT_EQ(after_head_of_blob(status), after_blob_head::give_up) << status;
}

TEST(RegistryRules, ABlobThatIsNotMountedIsCarried) {
  EXPECT_EQ(after_mount_answer(201), after_mount::mounted);
  EXPECT_EQ(after_mount_answer(202), after_mount::upload_there);
  for (const int status : {400, 401, 403, 404, 405, 500, 501})
    EXPECT_EQ(after_mount_answer(status), after_mount::upload_again) << status;
  EXPECT_EQ(after_mount_answer(429), after_mount::give_up);
}

TEST(RegistryRules, FindsTheNextPageAmongAllLinks) {
  const std::pair<reactor::http::headers, const char*> rows[] = {
      {{{"Link", "</a>; rel=\"next\""}}, "/a"},
      {{{"link", "</a>;rel=next"}}, "/a"},
      {{{"Link", "</a>; REL=\"Next\""}}, "/a"},
      {{{"Link", "</a>; title=\"next, page; rel=x\"; rel=\"prev\""}}, ""},
      {{{"Link", "</a>; title=\"next page\"; rel=\"next\"; type=\"x\""}}, "/a"},
      {{{"Link", "</1>; rel=\"first\", </a>; rel=\"next\""}}, "/a"},
      {{{"Link", "</1>; rel=\"first\""}, {"Link", "</a>; rel=\"next\""}}, "/a"},
      {{{"Link", "</a>; rel=\"last next\""}}, "/a"},
      {{{"Link", "</a,b>; rel=\"next\""}}, "/a,b"},
      {{{"Link", "< /a >; rel=\"next\""}}, "/a"},
      {{{"Link", "</next>; rel=\"prev\""}}, ""},
      {{{"Link", "</a>"}}, ""},
      {{{"Link", "</a; rel=\"next\""}}, ""},
      {{{"Link", ""}}, ""},
      {{}, ""},
  };
  for (const auto& [fields, target] : rows) EXPECT_EQ(next_link(fields), target);
}

}  // namespace
}  // namespace registry
