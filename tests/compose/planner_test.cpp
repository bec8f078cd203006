// One planner: each test is a world of one parent, and the rule that it shows.
#include "compose/rules/planner.hpp"

#include "compose/rules/text_blocks.hpp"
#include "formats/digest.hpp"
#include "tests/compose/fake_world.hpp"

#include <gmock/gmock.h>

namespace policies::compose {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string settings =
    R"({"children":[{"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"a":"1"}}}]})";
const std::string nothing = R"({"children":[]})";
const std::string keys =
    R"({"children":[{"object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"auth"},
      "data":{"private":{"generate":"ed25519"},"public":{"public_of":"private"},"plain":"x"}}}]})";
const std::string three =
    R"({"children":[
      {"object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},
        "spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"i:1"}]}}}},
       "inputs":["Secret/auth","ConfigMap/settings"]},
      {"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"a":"1"}}},
      {"object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"auth"},"data":{"k":{"generate":"password"}}}}]})";

std::vector<std::string> said(const sync_plan& p) {
  std::vector<std::string> out;
  for (const action& a : p.actions)
    out.push_back(std::string(verb(a.what)) + " " + a.of.kind.kind + " " + a.of.name);
  return out;
}
std::vector<std::string> codes(const sync_plan& p) {
  std::vector<std::string> out;
  for (const hold& h : p.holds) out.push_back(h.code + " " + h.child);
  return out;
}

class ComposePlanner : public testing::Test {
protected:
  ~ComposePlanner() override { EXPECT_THAT(w.violations, IsEmpty()); }
  fake_world w;
  object_name config() const { return w.child("ConfigMap", "settings"); }
  object_name auth() const { return w.child("Secret", "auth"); }
  object_name web() const { return w.child("Deployment", "web"); }
  void foreign(const std::string& owner_uid, const std::string& more = "") {
    w.put(json(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"shops")" +
        more +
        (owner_uid.empty()
             ? std::string()
             : R"(,"ownerReferences":[{"kind":"Shop","name":"red","controller":true,"uid":")" +
                   owner_uid + R"("}])") +
        R"(},"data":{"a":"theirs"}})"));
  }
};

TEST_F(ComposePlanner, MakesWhatIsAskedForAndThenNothing) {
  EXPECT_THAT(said(w.plan(settings)), ElementsAre("create ConfigMap settings", "report Shop blue"));
  EXPECT_THAT(said(w.settle(settings)), IsEmpty());
  EXPECT_EQ(w.text(config(), {"data", "a"}), "1");
  EXPECT_EQ(w.see(config()).controller, "Shop/blue");
  EXPECT_EQ(w.writes, 2u);
  EXPECT_EQ(w.see(w.parent).status.find("conditions")->if_array()->size(), 1u);
}

TEST_F(ComposePlanner, RepairsAFieldThatItOwnsAndLeavesOthers) {
  w.settle(settings);
  w.edit(config(), R"({"data":{"a":"edited","theirs":"2"},"metadata":{"labels":{"x":"y"}}})");
  const sync_plan p = w.plan(settings);
  ASSERT_EQ(said(p).front(), "change ConfigMap settings");
  EXPECT_THAT(p.actions.front().lines, ElementsAre("data.a: \"edited\" → \"1\""));
  w.settle(settings);
  EXPECT_EQ(w.text(config(), {"data", "a"}), "1");
  EXPECT_EQ(w.text(config(), {"data", "theirs"}), "2");
}

TEST_F(ComposePlanner, WritesAgainWhenAFieldIsNoLongerAskedFor) {
  w.settle(
      R"({"children":[{"object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"a":"1","b":"2"}}}]})");
  EXPECT_EQ(said(w.plan(settings)).front(), "change ConfigMap settings");
}

TEST_F(ComposePlanner, AnEmptyListAsksForNoEntriesAndAnEmptyTableForNothing) {
  const auto answer = [](const std::string& ports) {
    return R"({"children":[{"object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"ports":)" +
           ports + "}}}]}";
  };
  w.settle(answer("[]"));
  EXPECT_EQ(to_json_text(*w.see(web()).spec.find("ports")), "[]");
  w.edit(web(), R"({"spec":{"ports":[80]}})");
  const sync_plan p = w.plan(answer("[]"));
  ASSERT_EQ(said(p).front(), "change Deployment web");
  EXPECT_THAT(p.actions.front().lines, ElementsAre("spec.ports: [80] → []"));
  w.settle(answer("{}"));
  w.edit(web(), R"({"spec":{"ports":[80]}})");
  EXPECT_THAT(said(w.plan(answer("{}"))), IsEmpty());
}

TEST_F(ComposePlanner, AListOfTheStatusThatBecomesEmptyStaysAList) {
  w.settle(R"({"children":[],"status":{"images":["a"]}})");
  const sync_plan p = w.plan(R"({"children":[],"status":{"images":{}}})");
  ASSERT_EQ(said(p).front(), "report Shop blue");
  EXPECT_EQ(to_json_text(*p.actions.front().body.find("status")->find("images")), "[]");
}

TEST_F(ComposePlanner, IsNotReadyWhileAChildThatShouldExistDoesNot) {
  const std::string ready =
      R"({"status":{"isReady":true},"conditions":[{"type":"Ready","status":"True","reason":"Fine"}],)" +
      settings.substr(1);
  sync_plan p = w.plan(ready);
  EXPECT_FALSE(p.lacks_a_child) << "it is made by this plan";
  w.refused[config()] = "create: no";
  p = w.plan(ready);
  EXPECT_TRUE(p.lacks_a_child);
  const std::string status = to_text(p.actions.back().body);
  EXPECT_THAT(status, HasSubstr(R"("message":"ConfigMap settings: create: no")"));
  EXPECT_THAT(status, HasSubstr(R"("reason":"ChildMissing","status":"False","type":"Ready")"));
  EXPECT_THAT(status, HasSubstr(R"("isReady":false)"));
}

TEST_F(ComposePlanner, DoesNotRepeatAnApplyThatAServerWritesDifferently) {
  const std::string answer =
      R"({"children":[{"object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"cpu":"1000m"}}}]})";
  w.settle(answer);
  w.edit(web(), R"({"spec":{"cpu":"1"}})");
  const sync_plan p = w.plan(answer);
  ASSERT_EQ(said(p).front(), "change Deployment web");
  w.carry_out(p);
  w.edit(web(), R"({"spec":{"cpu":"1"}})");  // the server's own way to write it
  w.settled[web()].content = content_of(w.see(web()));
  EXPECT_THAT(said(w.plan(answer)), IsEmpty());
  w.edit(web(), R"({"spec":{"cpu":"2"}})");
  EXPECT_EQ(said(w.plan(answer)).front(), "change Deployment web");
}

TEST_F(ComposePlanner, DeletesWhatIsNoLongerAskedForAndNothingElse) {
  w.settle(settings);
  w.put(json(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other","namespace":"shops"}})"));
  w.put(json(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"unmarked","namespace":"shops","ownerReferences":[{"controller":true,"uid":"uid-1","kind":"Shop","name":"blue"}]}})"));
  EXPECT_THAT(said(w.plan(nothing)), ElementsAre("delete ConfigMap settings"));
  w.settle(nothing);
  EXPECT_EQ(w.objects.size(), 3u);
}

TEST_F(ComposePlanner, NeverDeletesAKindThatIsNoLongerDeclared) {
  w.settle(settings);
  std::erase(w.about.children, kind_name{"v1", "ConfigMap"});
  EXPECT_THAT(said(w.plan(nothing)), IsEmpty());
}

TEST_F(ComposePlanner, LeavesWhatBelongsToOthers) {
  foreign("somebody");
  const sync_plan p = w.settle(settings);
  EXPECT_THAT(codes(p), ElementsAre("conflict ConfigMap settings"));
  EXPECT_EQ(w.text(config(), {"data", "a"}), "theirs");
  EXPECT_THAT(to_text(w.see(w.parent).status), HasSubstr("belongs to Shop/red"));
}

TEST_F(ComposePlanner, TakesWhatIsNobodysOnlyWhenToldTo) {
  foreign("");
  EXPECT_THAT(codes(w.settle(settings)), ElementsAre("conflict ConfigMap settings"));
  EXPECT_THAT(codes(w.settle(settings)), ElementsAre("conflict ConfigMap settings"));
  std::string adopting = settings;
  adopting.insert(adopting.find("{\"object\"") + 1, "\"adopt\":true,");
  EXPECT_THAT(codes(w.settle(adopting)), IsEmpty());
  EXPECT_EQ(w.see(config()).controller_uid, "uid-1");
  EXPECT_EQ(w.text(config(), {"data", "a"}), "1");
}

TEST_F(ComposePlanner, TakesAnObjectThatItsUserGivesToThisParentAndToNoOther) {
  foreign("", R"(,"annotations":{"windlass.dev/adopt":"Shop/red"})");
  const sync_plan p = w.settle(settings);
  ASSERT_THAT(codes(p), ElementsAre("conflict ConfigMap settings"));
  EXPECT_THAT(p.holds.front().released_by, HasSubstr("windlass.dev/adopt: Shop/blue"));
  foreign("", R"(,"annotations":{"windlass.dev/adopt":"Shop/blue"})");
  EXPECT_THAT(codes(w.settle(settings)), IsEmpty());
  EXPECT_EQ(w.see(config()).controller_uid, "uid-1");
  EXPECT_EQ(w.text(config(), {"data", "a"}), "1");
}

TEST_F(ComposePlanner, SaysThatWhatHasItsOwnerAlreadyIsOnlyMarked) {
  foreign("uid-1");
  std::string created = settings;
  created.insert(created.find("{\"object\"") + 1, "\"way\":\"create\",");
  const sync_plan p = w.plan(created);
  ASSERT_THAT(said(p), Contains("change ConfigMap settings"));
  EXPECT_THAT(p.actions.front().lines,
              ElementsAre("metadata.annotations.windlass.dev/composed-by: nothing → "
                          "\"windlass-shops\""));
}

TEST_F(ComposePlanner, OfTwoThatAskForOneChildTheOlderHasIt) {
  const object_name red{{"example.com/v1", "Shop"}, "shops", "red"};
  w.claims[config()] = {red, "uid-red", 1};  // far older
  EXPECT_THAT(codes(w.settle(settings)), ElementsAre("claimed ConfigMap settings"));
  EXPECT_FALSE(w.objects.contains(config()));
  w.claims[config()] = {red, "uid-red", 1e12};
  EXPECT_THAT(codes(w.settle(settings)), IsEmpty());
  EXPECT_TRUE(w.objects.contains(config()));
}

TEST_F(ComposePlanner, TakesAChildOverFromAYoungerParent) {
  foreign("uid-red", R"(,"annotations":{"windlass.dev/composed-by":"windlass-shops"})");
  w.parents["uid-red"] = {{{"example.com/v1", "Shop"}, "shops", "red"}, "uid-red", 1e12};
  const sync_plan p = w.plan(settings);
  EXPECT_THAT(p.actions.front().lines, ElementsAre("owner: Shop/red → Shop/blue"));
  EXPECT_THAT(codes(w.settle(settings)), IsEmpty());
  EXPECT_EQ(w.see(config()).controller_uid, "uid-1");
}

/// Who selects pods cannot be told to select others: the younger deletes it, the older makes it.
TEST_F(ComposePlanner, AFixedSelectorIsMadeAnewByTheOlder) {
  const std::string deployment =
      R"({"children":[{"object":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},
        "spec":{"selector":{"matchLabels":{"of":"blue"}},"template":{}}}}]})";
  const object_name red{{"example.com/v1", "Shop"}, "shops", "red"};
  w.settle(deployment);
  w.claims[web()] = {red, "uid-red", 1};  // far older
  EXPECT_EQ(said(w.plan(deployment)).front(), "delete Deployment web");
  EXPECT_THAT(codes(w.settle(deployment)), ElementsAre("claimed Deployment web"));
  EXPECT_FALSE(w.objects.contains(web()));

  w.claims.clear();
  w.put(json(
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shops","uid":"web-1",
        "annotations":{"windlass.dev/composed-by":"windlass-shops"},
        "ownerReferences":[{"kind":"Shop","name":"red","controller":true,"uid":"uid-red"}]},
        "spec":{"selector":{"matchLabels":{"of":"red"}}}})"));
  w.parents["uid-red"] = {red, "uid-red", 1e12};  // far younger
  EXPECT_THAT(codes(w.settle(deployment)), ElementsAre("conflict Deployment web"));
  EXPECT_EQ(w.see(web()).controller_uid, "uid-red") << "it is the other's to delete";
}

TEST_F(ComposePlanner, RefusesAChildThatOwnsItsParent) {
  w.put(json(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"shops","uid":"top"}})"));
  w.edit(
      w.parent,
      R"({"metadata":{"ownerReferences":[{"uid":"top","kind":"ConfigMap","name":"settings"}]}})");
  EXPECT_THAT(codes(w.settle(settings)), ElementsAre("conflict ConfigMap settings"));
}

TEST_F(ComposePlanner, LeavesAChildThatIsEndingAlone) {
  w.settle(settings);
  w.edit(config(), R"({"data":{"a":"2"},"metadata":{"deletionTimestamp":"2026-01-02T00:00:00Z"}})");
  EXPECT_THAT(codes(w.settle(settings)), ElementsAre("ending ConfigMap settings"));
}

TEST_F(ComposePlanner, LeavesAllAloneThatIsPaused) {
  w.edit(w.parent, R"({"metadata":{"annotations":{"windlass.dev/paused":"true"}}})");
  const sync_plan p = w.plan(settings);
  EXPECT_THAT(said(p), IsEmpty());
  EXPECT_THAT(codes(p), ElementsAre("paused "));
}

// ---------------------------------------------------------------- secrets

TEST_F(ComposePlanner, GeneratesOnceAndNeverAgain) {
  w.settle(keys);
  const std::string was = w.text(auth(), {"digests"});
  w.settled.clear();  // a restart
  EXPECT_THAT(said(w.settle(keys)), IsEmpty());
  w.edit(auth(), R"({"digests":{"plain":"sha256:other"}})");
  w.settle(keys);
  EXPECT_EQ(w.text(auth(), {"digests"}), was);
}

TEST_F(ComposePlanner, MakesAPairAnewWhenItsPrivateHalfIsGone) {
  w.settle(keys);
  w.edit(auth(), R"({"digests":{"private":null}})");
  const sync_plan p = w.plan(keys);
  EXPECT_THAT(p.actions.front().lines,
              ElementsAre("data.private: generated", "data.public: derived"));
  w.settle(keys);
  w.edit(auth(), R"({"digests":{"public":null}})");
  EXPECT_THAT(w.plan(keys).actions.front().lines, ElementsAre("data.public: derived"));
}

TEST_F(ComposePlanner, ShowsOfASecretDigestsOnly) {
  w.settle(keys);
  w.edit(auth(), R"({"digests":{"plain":"sha256:0123456789abcdef0123456789abcdef"}})");
  const sync_plan p = w.plan(keys);
  EXPECT_THAT(p.actions.front().lines,
              ElementsAre("data.plain: 0123456789abcdef → 2d711642b726b044"));
  EXPECT_THAT(to_text(p.actions.front().body), testing::Not(HasSubstr("\"x\"")));
}

TEST_F(ComposePlanner, FollowsASecretThatItCopies) {
  const std::string copy =
      R"({"children":[{"object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"auth"},
        "data":{"crt":{"copy":{"secret":"tls","key":"tls.crt"}}}}}]})";
  EXPECT_THAT(codes(w.settle(copy)), ElementsAre("waits-for-source Secret auth"));
  EXPECT_FALSE(w.objects.contains(auth()));
  w.put(json(
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"tls","namespace":"shops"},"digests":{"tls.crt":"sha256:one"}})"));
  EXPECT_THAT(codes(w.settle(copy)), IsEmpty());
  EXPECT_EQ(w.text(auth(), {"digests", "crt"}), "sha256:one");
  w.edit({{"v1", "Secret"}, "shops", "tls"}, R"({"digests":{"tls.crt":"sha256:two"}})");
  w.settle(copy);
  EXPECT_EQ(w.text(auth(), {"digests", "crt"}), "sha256:two");
  // The source is emptied, then it vanishes: what was copied stays.
  w.edit({{"v1", "Secret"}, "shops", "tls"},
         R"({"digests":{"tls.crt":")" + formats::digest_of("") + R"("}})");
  EXPECT_THAT(said(w.settle(copy)), IsEmpty());
  w.objects.erase({{"v1", "Secret"}, "shops", "tls"});
  EXPECT_THAT(said(w.settle(copy)), IsEmpty());
  EXPECT_EQ(w.text(auth(), {"digests", "crt"}), "sha256:two");
}

TEST_F(ComposePlanner, TakesKeysOutThatItWroteAndLeavesOthers) {
  w.settle(keys);
  w.edit(auth(), R"({"digests":{"theirs":"sha256:t"}})");
  w.settle(
      R"({"children":[{"object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"auth"},"data":{"private":{"generate":"ed25519"}}}}]})");
  EXPECT_EQ(w.text(auth(), {"digests", "plain"}), "");
  EXPECT_EQ(w.text(auth(), {"digests", "theirs"}), "sha256:t");
  EXPECT_NE(w.text(auth(), {"digests", "private"}), "");
}

// ---------------------------------------------------------------- ways

TEST_F(ComposePlanner, CreatesAndLeavesWhatBecomesOfIt) {
  std::string once = settings;
  once.insert(once.find("{\"object\"") + 1, "\"way\":\"create\",");
  w.settle(once);
  w.edit(config(), R"({"data":{"a":"mine now"}})");
  EXPECT_THAT(said(w.settle(once)), IsEmpty());
  w.objects.erase(config());
  w.settle(once);
  EXPECT_EQ(w.text(config(), {"data", "a"}), "1");
}

TEST_F(ComposePlanner, AddsKeysAndFollowsThemUntilSomebodyEditsThem) {
  const auto with = [](const std::string& v) {
    return R"({"children":[{"way":"add-keys","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"a":")" +
           v + R"(","b":"1"}}}]})";
  };
  foreign("");  // it is nobody's, and stays so
  w.settle(with("1"));
  EXPECT_EQ(w.text(config(), {"data", "a"}), "theirs");
  EXPECT_EQ(w.text(config(), {"data", "b"}), "1");
  EXPECT_EQ(w.see(config()).controller_uid, "");
  w.objects.erase(config());
  w.settle(with("1"));
  w.settle(with("2"));
  EXPECT_EQ(w.text(config(), {"data", "a"}), "2");
  w.edit(config(), R"({"data":{"a":"mine"}})");
  EXPECT_THAT(w.see(config()).edited, ElementsAre("a"));
  EXPECT_THAT(said(w.settle(with("3"))), IsEmpty());
  EXPECT_EQ(w.text(config(), {"data", "a"}), "mine");
}

TEST_F(ComposePlanner, KeepsABlockOfLinesInATextOfOthers) {
  const std::string block =
      R"({"children":[{"way":"lines","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"t":"[http]\nport = 1\n"}},
        "lines":{"t":{"name":"tls","text":"tls = \"modern\"\n","after":"[http]"}}}]})";
  w.settle(block);
  EXPECT_EQ(w.text(config(), {"data", "t"}),
            "[http]\n# begin tls\ntls = \"modern\"\n# end tls\nport = 1\n");
  w.edit(config(), R"({"data":{"t":"# mine\n[http]\n# begin tls\nold\n# end tls\nport = 2\n"}})");
  w.settle(block);
  EXPECT_EQ(w.text(config(), {"data", "t"}),
            "# mine\n[http]\n# begin tls\ntls = \"modern\"\n# end tls\nport = 2\n");
}

TEST(TextBlocks, KeepEveryOtherByteAndAreIdempotent) {
  text_block b{"k", "tls", "tls_profile = \"old\"", "[http_server]", {"tls_profile"}, "#"};
  const std::string windows = "a\r\n[http_server]\r\ntls_profile = 'x'\r\nb\r\n";
  const std::string made = with_block(windows, b);
  EXPECT_EQ(made,
            "a\r\n[http_server]\r\n# begin tls\r\ntls_profile = \"old\"\r\n# end tls\r\nb\r\n");
  for (const std::string& text :
       {std::string(), std::string("no end"), std::string("# begin tls\nhalf"), windows, made,
        std::string("# end tls\n# begin tls\n")})
    EXPECT_EQ(with_block(with_block(text, b), b), with_block(text, b)) << text;
}

// ---------------------------------------------------------------- inputs, deletion, status

TEST_F(ComposePlanner, WritesADeploymentWhenItsInputsAreThereAndAgainWhenTheyChange) {
  EXPECT_THAT(codes(w.plan(three)), ElementsAre("waits-for-input Deployment web"));
  EXPECT_THAT(codes(w.settle(three)), IsEmpty());
  const auto digest = [&] {
    return w.text(web(), {"spec", "template", "metadata", "annotations", "windlass.dev/inputs"});
  };
  const std::string was = digest();
  EXPECT_THAT(was, HasSubstr("sha256:"));
  w.edit(config(), R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_THAT(said(w.settle(three)), IsEmpty()) << "a label restarts nobody";
  w.edit(auth(), R"({"digests":{"k":"sha256:rotated"}})");
  w.settle(three);
  EXPECT_NE(digest(), was);
}

TEST_F(ComposePlanner, WaitsWithAFinalizerUntilTheChildrenAreGone) {
  w.about.finalizer = "example.com/shop";
  w.settle(settings);
  EXPECT_THAT(w.see(w.parent).finalizers, ElementsAre("example.com/shop"));
  w.edit(w.parent, R"({"metadata":{"deletionTimestamp":"2026-01-02T00:00:00Z"}})");
  sync_plan p = w.plan(nothing);
  EXPECT_EQ(said(p).front(), "delete ConfigMap settings");
  EXPECT_THAT(said(p), testing::Not(Contains("take out Shop blue")));
  w.carry_out(p);
  EXPECT_THAT(said(w.plan(R"({"children":[],"finalized":false})")),
              testing::Not(Contains("take out Shop blue")));
  EXPECT_THAT(said(w.plan(nothing)), ElementsAre("take out Shop blue"));
}

TEST_F(ComposePlanner, AKindOfParentMayHaveAFinalizerOfItsOwn) {
  w.about.own_finalizers[w.see(w.parent).what()] = "example.com/own";
  w.about.finalizer = "example.com/all";
  w.settle(settings);
  EXPECT_THAT(w.see(w.parent).finalizers, ElementsAre("example.com/own"));
  w.about.own_finalizers.clear();
  w.about.own_finalizers[{"example.com/v1", "Other"}] = "example.com/other";
  w.about.finalizer.clear();
  w.edit(w.parent, R"({"metadata":{"deletionTimestamp":"2026-01-02T00:00:00Z"}})");
  EXPECT_THAT(said(w.plan(nothing)), IsEmpty()) << "what others keep it for is theirs";
}

TEST_F(ComposePlanner, LeavesADeletedParentWithoutAFinalizerToTheCollector) {
  w.edit(w.parent, R"({"metadata":{"deletionTimestamp":"2026-01-02T00:00:00Z"}})");
  EXPECT_THAT(said(w.plan(settings)), IsEmpty());
}

TEST_F(ComposePlanner, KeepsTheTimeOfEachConditionAndWritesStatusOnlyOnChange) {
  const auto saying = [](const std::string& status, const std::string& message) {
    return R"({"children":[],"status":{"phase":"x"},"conditions":[{"type":"Ready","status":")" +
           status + R"(","reason":"R","message":")" + message + R"("}]})";
  };
  const auto since = [&] {
    return *condition_of(w.see(w.parent), "Ready")->find("lastTransitionTime")->if_string();
  };
  w.settle(saying("False", "one"));
  const std::string first = since();
  w.now += std::chrono::hours(1);
  EXPECT_THAT(said(w.plan(saying("False", "one"))), IsEmpty());
  w.settle(saying("False", "two"));
  EXPECT_EQ(since(), first);
  w.settle(saying("True", "two"));
  EXPECT_NE(since(), first);
  EXPECT_EQ(w.text(w.parent, {"status", "phase"}), "x");
}

TEST_F(ComposePlanner, DoesNotRepeatAStatusThatItsSchemaPrunes) {
  const std::string answer = R"({"children":[],"status":{"unknown":1}})";
  w.carry_out(w.plan(answer));
  w.edit(w.parent, R"({"status":{"unknown":null}})");
  w.settled[w.parent].content = status_content_of(w.see(w.parent));
  w.now += std::chrono::hours(1);
  EXPECT_THAT(said(w.plan(answer)), IsEmpty());
}

TEST_F(ComposePlanner, AHookThatFailsChangesNothingButTheCondition) {
  w.settle(settings);
  const sync_plan p = plan_fault(w.look(), hold_code::policy_fault, "it raised an error");
  EXPECT_THAT(said(p), ElementsAre("report Shop blue"));
  w.carry_out(p);
  EXPECT_EQ(*condition_of(w.see(w.parent), "Composed")->find("reason")->if_string(), "PolicyFault");
}

TEST_F(ComposePlanner, ConvergesFromAnyWriteAtWhichItWasKilled) {
  for (const std::string& answer : {settings, keys, three}) {
    fake_world whole;
    whole.settle(answer);
    for (std::size_t killed_after = 0; killed_after <= whole.writes; ++killed_after) {
      fake_world cut;
      for (std::size_t left = killed_after; left > 0;) {
        const sync_plan p = cut.plan(answer);
        if (p.actions.empty()) break;
        const std::size_t n = std::min(left, p.actions.size());
        cut.carry_out(p, n);
        left -= n;
      }
      cut.settled.clear();
      EXPECT_THAT(said(cut.settle(answer)), IsEmpty());
      EXPECT_THAT(cut.violations, IsEmpty());
      EXPECT_EQ(cut.objects.size(), whole.objects.size());
      EXPECT_LE(cut.writes, whole.writes + 1);
    }
  }
}

TEST(IsReady, ByAChildsOwnStatus) {
  const auto ready = [](const std::string& kind, const std::string& rest) {
    return read_object({"apps/v1", kind},
                       json(R"({"metadata":{"name":"x","generation":2},)" + rest + "}"))
        .ready;
  };
  EXPECT_FALSE(ready("Deployment", R"("spec":{"replicas":1})"));
  EXPECT_TRUE(ready(
      "Deployment",
      R"("spec":{"replicas":1},"status":{"observedGeneration":2,"replicas":1,"readyReplicas":1,"updatedReplicas":1})"));
  EXPECT_FALSE(ready(
      "Deployment",
      R"("spec":{"replicas":1},"status":{"observedGeneration":1,"replicas":1,"readyReplicas":1,"updatedReplicas":1})"))
      << "of the former generation";
  EXPECT_FALSE(ready(
      "Deployment",
      R"("spec":{"replicas":1},"status":{"observedGeneration":2,"replicas":2,"readyReplicas":2,"updatedReplicas":1})"))
      << "still rolling";
  EXPECT_TRUE(ready("ConfigMap", R"("data":{})"));
  EXPECT_FALSE(ready("Shop", R"("status":{"conditions":[{"type":"Ready","status":"False"}]})"));
  EXPECT_FALSE(ready("KbsConfig", R"("status":{"isReady":false})"));
}

}  // namespace
}  // namespace policies::compose
