#include "compose/rules/answer.hpp"

#include "tests/compose/fake_world.hpp"

#include <gmock/gmock.h>

namespace policies::compose {
namespace {

using testing::HasSubstr;

std::string refused(const std::string& answer) {
  auto read = fake_world().read(json(answer));
  return read ? "" : read.error().message();
}
std::string child_refused(const std::string& members) {
  return refused(R"({"children":[{)" + members + "}]}");
}
const std::string fine =
    R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})";

TEST(ComposeAnswer, OneWrongChildRefusesAllOfIt) {
  EXPECT_EQ(child_refused(fine), "");
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {R"("object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})",
       "v1 Pod is not among"},
      {R"("object":{"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"a"}})",
       "is not among"},
      {R"("object":{"kind":"ConfigMap","metadata":{"name":"a"}})", "expected apiVersion and kind"},
      {R"("object":{"apiVersion":"v1","kind":"ConfigMap"})", "metadata"},
      {R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":""}})",
       "no name of an object"},
      {R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"../x"}})",
       "no name of an object"},
      {R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"A B\u0007"}})",
       "no name of an object"},
      {R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"kube-system"}})",
       "lie in its namespace, shops"},
      {R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"x"}})",
       "are a policy's"},
      {R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","ownerReferences":[]}})",
       "are a policy's"},
      {R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","finalizers":["x/y"]}})",
       "are a policy's"},
      {R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"a":1}}})",
       "a text"},
      {R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"windlass.dev/composed":"x"}}})",
       "the core's own"},
      {R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"status":{}})",
       "its owner's"},
      {R"("way":"onw",)" + fine, "is it own?"},
      {R"("way":"add-keys","object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}})",
       "ConfigMaps and Secrets"},
      {R"("way":"lines",)" + fine, "expected the blocks"},
      {R"("events":{"created":"two words"},)" + fine, "events.created: expected a reason"},
      {R"("events":{"update_failed":{"reason":""}},)" + fine, "events.update_failed: expected"},
      {R"("events":{"deleted":"Gone"},)" + fine, "unknown entry 'deleted'"},
      {R"("inputs":["Pod/x"],)" + fine, "expected a declared kind"},
      {R"("inputs":["ConfigMap/a"],)" + fine, "the child itself"},
      {R"("object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"k":{"generate":"rsa"}}})",
       "'rsa'"},
      {R"("object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"k":{"generate":"bytes","length":1e9}}})",
       "from 8 to 1024"},
      {R"("object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"k":{}}})",
       "expected one of"},
      {R"("object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"k":{"public_of":"p"}}})",
       "generated beside it"},
      {R"("object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"k":{"copy":{"secret":"../x","key":"k"}}}})",
       "expected { secret"},
      {R"("object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"k":"v"}})",
       "go into data"},
  };
  for (const auto& [members, why] : wrong) {
    const std::string got = child_refused(members);
    EXPECT_THAT(got, HasSubstr("children[1]")) << members;
    EXPECT_THAT(got, HasSubstr(why)) << members;
  }
}

TEST(ComposeAnswer, IsBounded) {
  std::string many;
  for (int i = 0; i < 10'000; ++i)
    many += (i ? ",{" : "{") +
            std::string(R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a)") +
            std::to_string(i) + R"("}})" + "}";
  EXPECT_THAT(refused(R"({"children":[)" + many + "]}"), HasSubstr("10000 are more than 500"));
  EXPECT_THAT(
      child_refused(
          R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":")" +
          std::string(600'000, 'x') + R"("}})"),
      HasSubstr("512 KiB"));
}

TEST(ComposeAnswer, AChildTwiceOrTheParentItselfIsRefused) {
  EXPECT_THAT(refused(R"({"children":[{)" + fine + "},{" + fine + "}]}"), HasSubstr("there twice"));
  fake_world w;
  w.about.children.push_back({"example.com/v1", "Shop"});
  auto read = w.read(json(
      R"({"children":[{"object":{"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"blue"}}}]})"));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), HasSubstr("the parent itself"));
}

TEST(ComposeAnswer, WithoutAUidOfTheParentNothingCanBeItsChild) {
  fake_world w;
  w.edit(w.parent, R"({"metadata":{"uid":""}})");
  EXPECT_FALSE(w.read(json(R"({"children":[]})")));
}

TEST(ComposeAnswer, ConditionsAndTimesAreChecked) {
  EXPECT_THAT(refused(R"({"children":[],"look_again":-5})"), HasSubstr("look_again"));
  EXPECT_THAT(
      refused(R"({"children":[],"conditions":[{"type":"Composed","status":"True","reason":"R"}]})"),
      HasSubstr("the core's own"));
  EXPECT_THAT(refused(R"({"children":[],"conditions":[{"type":"A","status":"Yes","reason":"R"}]})"),
              HasSubstr("known are True, False, Unknown"));
  EXPECT_THAT(refused(R"({"children":[],"status":{"conditions":[]}})"),
              HasSubstr("go into conditions"));
  EXPECT_THAT(refused(R"({"childen":[]})"), HasSubstr("is it children?"));
}

TEST(ComposeRelated, SeesItsOwnNamespaceAndDeclaredKindsOnly) {
  fake_world w;
  const auto ask = [&](const std::string& text) {
    auto read = read_related(json(R"({"objects":)" + text + "}"), w.about, w.see(w.parent));
    return read ? std::string("fine") : read.error().message();
  };
  EXPECT_EQ(ask(R"([{"apiVersion":"v1","kind":"Secret","name":"tls"}])"), "fine");
  EXPECT_THAT(
      ask(R"([{"apiVersion":"v1","kind":"Secret","name":"tls","namespace":"kube-system"}])"),
      HasSubstr("only into its own namespace"));
  EXPECT_THAT(ask(R"([{"apiVersion":"v1","kind":"Node","name":"n"}])"), HasSubstr("neither in"));
  EXPECT_THAT(ask(R"([{"apiVersion":"v1","kind":"Secret"}])"), HasSubstr("either name or labels"));
}

/// A user wrote it into the parent: it must not keep the rest of the object back.
TEST(ComposeRelated, ANameThatNoObjectCanHaveIsNotThere) {
  fake_world w;
  auto read = read_related(
      json(R"({"objects":[{"apiVersion":"v1","kind":"Secret","name":"mySecret"},
        {"apiVersion":"v1","kind":"Secret","name":""},
        {"apiVersion":"v1","kind":"Secret","name":"tls"}]})"),
      w.about, w.see(w.parent));
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ(read->front().name, "tls");
}

TEST(ComposeDeclaration, NamesWhatIsWrong) {
  const auto of = [](const std::string& text) {
    manifest m;
    m.name = "shops";
    m.composes = json(text);
    auto read = read_declaration(m);
    return read ? read->manager : read.error().message();
  };
  EXPECT_EQ(of(R"({"parents":[{"apiVersion":"a.b/v1","kind":"A"}],"children":[]})"),
            "windlass-shops");
  EXPECT_THAT(of(R"({"parents":[{"apiVersion":"a.b/v1","kind":"A","reporter":"a b"}],"children":[]})"),
              HasSubstr("composes.parents[1].reporter: expected such as"));
  EXPECT_THAT(of(R"({"parents":[],"children":[]})"), HasSubstr("one kind at least"));
  EXPECT_THAT(of(R"({"parents":[{"apiVersion":"a.b/v1","kind":"A"}],"childern":[]})"),
              HasSubstr("is it children?"));
  EXPECT_THAT(of(R"({"parents":[{"apiVersion":"A B","kind":"A"}],"children":[]})"),
              HasSubstr("composes.parents[1].apiVersion"));
  EXPECT_THAT(
      of(R"({"parents":[{"apiVersion":"a.b/v1","kind":"A"}],"children":[],"finalizer":"x"})"),
      HasSubstr("finalizer"));
  EXPECT_THAT(
      of(R"({"parents":[{"apiVersion":"a.b/v1","kind":"A","finalizer":"x"}],"children":[]})"),
      HasSubstr("composes.parents[1].finalizer: expected such as example.com/finalizer"));
  EXPECT_THAT(
      of(R"({"parents":[{"apiVersion":"a.b/v1","kind":"A"}],"children":[],"data_from":"HOME"})"),
      HasSubstr("data_from"));
  EXPECT_THAT(of(R"({"parents":[{"apiVersion":"a.b/v1","kind":"A"}],"children":[],"data":"../x"})"),
              HasSubstr("a folder of the pack"));
}

}  // namespace
}  // namespace policies::compose
