#include "helm/release/record.hpp"

#include "formats/base64.hpp"
#include "formats/json/json.hpp"
#include "helm/go.hpp"

#include <gtest/gtest.h>

namespace helm::release {
namespace {

// As Helm v3.21.4 stores it, but for the order of members, which is what a test checks.
constexpr const char* stored =
    R"({"name":"web","info":{"first_deployed":"2026-11-21T10:00:00.123456789Z",)"
    R"("last_deployed":"2026-11-21T10:00:01Z","deleted":"","description":"Install complete","status":"deployed",)"
    R"("notes":"a \u003cb\u003e"},"chart":{"metadata":{"name":"shop","version":"1.2.3","apiVersion":"v2","appVersion":"7",)"
    R"("dependencies":[{"name":"db","version":"~1","repository":"https://charts","condition":"db.enabled","enabled":true}]},)"
    R"("lock":{"generated":"2024-01-02T03:04:05.1Z","digest":"sha256:ab","dependencies":[{"name":"db","version":"1.0.0","repository":"https://charts"}]},)"
    R"("templates":[{"name":"templates/a.yaml","data":"YQo="},{"name":"templates/empty.yaml","data":""}],)"
    R"("values":{"n":1,"s":"x"},"schema":"e30=","files":null},"config":{"n":2},"manifest":"---\n# Source: a\nkind: A\n",)"
    R"("hooks":[{"name":"h","kind":"Job","path":"shop/templates/h.yaml","manifest":"kind: Job","events":["pre-install","test"],)"
    R"("last_run":{"started_at":"","completed_at":"","phase":""},"weight":-5,"delete_policies":["hook-failed"]}],"version":3,"namespace":"shops"})";

TEST(ReleaseRecord, IsWrittenAsItWasRead) {
  auto r = read_record(stored);
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_EQ(r->name, "web");
  EXPECT_EQ(r->revision, 3);
  EXPECT_EQ(r->ns, "shops");
  EXPECT_EQ(r->state, status::deployed);
  EXPECT_EQ(r->notes, "a <b>");
  EXPECT_TRUE(is_zero(r->deleted));
  EXPECT_EQ(chart_label(*r), "shop-1.2.3");
  EXPECT_EQ(app_version(*r), "7");
  ASSERT_EQ(r->hooks.size(), 1u);
  EXPECT_EQ(r->hooks[0].what.weight, -5);
  auto again = write_record(*r);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(*again, stored);
}

TEST(ReleaseRecord, SurvivesItsStoredForm) {
  auto r = read_record(stored);
  ASSERT_TRUE(r);
  auto text = encode_record(*r);
  ASSERT_TRUE(text);
  auto bytes = base64_decode(*text);
  ASSERT_TRUE(bytes);
  EXPECT_TRUE(bytes->starts_with("\x1f\x8b\x08"));
  auto back = decode_record(*text);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*write_record(*back), stored);
}

TEST(ReleaseRecord, ReadsRecordsThatWereNotCompressed) {
  auto r = decode_record(encode_base64(stored));
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_EQ(r->name, "web");
}

TEST(ReleaseRecord, ReadsTheNextGeneration) {
  auto r = read_record(
      R"({"name":"a","info":{"first_deployed":"2026-11-21T10:00:00+02:00","status":"deployed","resources":{}},)"
      R"("version":1,"apply_method":"ssa","sequencing":{"x":[1]},"hooks":[{"name":"h","last_run":{}}]})");
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_EQ(r->apply_method, "ssa");
  EXPECT_EQ(json_time(r->first_deployed), "2026-11-21T10:00:00+02:00");
  EXPECT_TRUE(is_zero(r->last_deployed));
  auto text = write_record(*r);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find(R"("apply_method":"ssa")"), text->npos);
}

TEST(ReleaseRecord, WithoutChartSaysMissing) {
  auto r = read_record(R"({"name":"a","version":1})");
  ASSERT_TRUE(r);
  EXPECT_EQ(chart_label(*r), "MISSING");
  EXPECT_EQ(app_version(*r), "MISSING");
}

TEST(ReleaseRecord, SaysWhatIsWrongWithADamagedOne) {
  EXPECT_FALSE(decode_record("%%%"));
  EXPECT_FALSE(decode_record(encode_base64("{")));
  EXPECT_FALSE(decode_record(encode_base64("[]")));
  EXPECT_FALSE(read_record(R"({"name":5})"));
  EXPECT_FALSE(read_record(R"({"version":1.5})"));
  EXPECT_FALSE(read_record(R"({"info":{"last_deployed":"yesterday"}})"));
  EXPECT_FALSE(
      read_record(R"({"chart":{"metadata":{"name":"a"},"templates":[{"name":"x","data":"*"}]}})"));
  auto r = read_record(stored);
  auto text = *base64_decode(*encode_record(*r));
  for (std::size_t n : {4u, 11u, 40u, static_cast<unsigned>(text.size() - 9)})
    EXPECT_FALSE(decode_record(encode_base64(text.substr(0, n)))) << n;
}

TEST(ReleaseRecord, OfEndlessZerosIsRefused) {
  record r;
  r.manifest.assign(65u << 20, ' ');
  auto bomb = encode_record(r);
  ASSERT_TRUE(bomb);
  EXPECT_LT(bomb->size(), 200'000u);
  auto read = decode_record(*bomb);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().text, "gzip: the record is larger than 64 MiB");
}

TEST(ReleaseRecord, KnowsEveryStatus) {
  for (const char* word :
       {"unknown", "deployed", "uninstalled", "superseded", "failed", "uninstalling",
        "pending-install", "pending-upgrade", "pending-rollback"}) {
    EXPECT_EQ(to_string(read_status(word)), word);
    EXPECT_EQ(is_pending(read_status(word)), std::string(word).starts_with("pending"));
  }
  EXPECT_EQ(read_status("DEPLOYED"), status::unknown);
}

TEST(ReleaseRecord, IsStoredUnderItsNameAndRevision) {
  EXPECT_EQ(storage_name("web", 12), "sh.helm.release.v1.web.v12");
}

}  // namespace
}  // namespace helm::release
