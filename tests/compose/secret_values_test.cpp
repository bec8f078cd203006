#include "compose/secret_values.hpp"

#include "compose/objects.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

namespace compose {
namespace {

using policies::compose::asked_value;
using testing::HasSubstr;
using testing::StartsWith;

asked_value ask(asked_value::source from) {
  asked_value a;
  a.from = from;
  a.of = "private";
  a.secret = "tls";
  a.key = "tls.crt";
  return a;
}

TEST(Material, APairIsPemAndBelongsTogether) {
  reactor::seeded_entropy rng(1);
  const auto made = make_secret_values({{"private", ask(asked_value::source::ed25519)},
                                        {"public", ask(asked_value::source::public_key)}},
                                       {}, {}, rng);
  ASSERT_TRUE(made);
  EXPECT_THAT(made->at("private").reveal(), StartsWith("-----BEGIN PRIVATE KEY-----\n"));
  EXPECT_THAT(made->at("public").reveal(), StartsWith("-----BEGIN PUBLIC KEY-----\n"));
  const auto again = make_secret_values({{"public", ask(asked_value::source::public_key)}},
                                        {{"private", made->at("private")}}, {}, rng);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->at("public") == made->at("public"));
}

TEST(Material, NoTwoAreTheSame) {
  reactor::seeded_entropy rng(1);
  for (const auto from :
       {asked_value::source::ed25519, asked_value::source::password, asked_value::source::bytes}) {
    const auto made = make_secret_values({{"a", ask(from)}, {"b", ask(from)}}, {}, {}, rng);
    ASSERT_TRUE(made);
    EXPECT_FALSE(made->at("a") == made->at("b"));
    EXPECT_GE(made->at("a").reveal().size(), 32u);
  }
}

TEST(Material, SaysWhatIsMissingWithoutQuoting) {
  reactor::seeded_entropy rng(1);
  const auto absent = make_secret_values({{"a", ask(asked_value::source::copy)}}, {}, {}, rng);
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message(), HasSubstr("it has no tls.crt"));
  const auto garbage =
      make_secret_values({{"public", ask(asked_value::source::public_key)}},
                         {{"private", reactor::secret(std::string("garbage"))}}, {}, rng);
  ASSERT_FALSE(garbage);
  EXPECT_THAT(garbage.error().message(), testing::Not(HasSubstr("garbage")));
}

TEST(ContentView, OfASecretKeepsDigestsAndNoBytes) {
  const std::string text =
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1",
        "managedFields":[{"manager":"x"}],
        "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"c2VjcmV0","a":"b"}},
        "type":"Opaque","data":{"k":"c2VjcmV0"},"stringData":{"k":"secret"}})";
  const auto view = k8s::parse_view<content_view<content::secret>>(text);
  ASSERT_TRUE(view);
  EXPECT_THAT(view->text, testing::Not(HasSubstr("c2VjcmV0")));
  EXPECT_THAT(view->text, testing::Not(HasSubstr("\"secret\"")));
  EXPECT_THAT(view->text, testing::Not(HasSubstr("managedFields")));
  const object o =
      policies::compose::read_object({"v1", "Secret"}, from_json(boost::json::parse(view->text)));
  EXPECT_EQ(o.digests.at("k"),
            "sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b");
  EXPECT_TRUE(o.data.is_null());
}

TEST(ContentView, WakesNobodyForAVersionAlone) {
  const auto of = [](const std::string& version, const std::string& data) {
    return *k8s::parse_view<content_view<content::plain>>(
        R"({"metadata":{"name":"a","uid":"u","resourceVersion":")" + version +
        R"(","managedFields":[{"time":")" + version + R"("}]},"data":{"k":")" + data + R"("}})");
  };
  EXPECT_EQ(of("1", "x"), of("2", "x"));
  EXPECT_NE(of("1", "x"), of("2", "y"));
}

TEST(ContentView, RefusesAKeyThatIsThereTwice) {
  for (const char* twice :
       {R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1"},"data":{"k":"x","k":"y"}})",
        R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1"},"data":{},"data":{}})"}) {
    EXPECT_FALSE(k8s::parse_view<content_view<content::plain>>(twice));
    EXPECT_FALSE(k8s::parse_view<content_view<content::secret>>(twice));
  }
}

}  // namespace
}  // namespace compose
