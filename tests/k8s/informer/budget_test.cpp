// What one collection can take of the process, and what proves that a view is current.
#include "tests/k8s/informer/informer_fixture.hpp"

namespace k8s {
namespace {

using objects::bookmark_line;

struct BudgetTest : informer_fixture {
  informer_options three_pods() {
    informer_options o = pod_options();
    o.limits.budget.most_objects = 3;
    return o;
  }
  /// A pod whose label has that many bytes.
  std::string large_pod(const std::string& name, std::uint64_t version, std::size_t bytes) {
    objects::pod_spec spec;
    spec.name = name;
    spec.version = version;
    spec.labels = R"("app":")" + std::string(bytes, 'x') + name + "\"";
    return objects::pod_json(spec);
  }
};

TEST_F(BudgetTest, AListThatDoesNotFitIsDoubtedUntilItDoes) {
  server.on("GET", list_path,
            list_of(10, {pod_at("a", 1), pod_at("b", 2), pod_at("c", 3), pod_at("d", 4)}));
  std::string doubt;
  pods = std::make_unique<informer<pod>>(l, *api, three_pods());
  pods->on_sync_problem([&] { doubt = pods->sync_problem(); });
  pods->start();
  run_for(10s);
  EXPECT_FALSE(pods->is_synced());
  EXPECT_NE(doubt.find("follow pods: there are more than this process keeps"), std::string::npos)
      << doubt;
  EXPECT_EQ(stored(), "a@1 b@2 c@3") << "and it goes no further";
  EXPECT_EQ(lists(), 1u) << "a list of that size is not asked for every second";
  server.on("GET", list_path, list_of(20, {pod_at("b", 2), pod_at("d", 11)}));
  server.on("GET", watch_path, watch_saying({}));
  run_for(2min);
  EXPECT_TRUE(pods->is_synced());
  EXPECT_EQ(pods->sync_problem(), "");
  EXPECT_EQ(stored(), "b@2 d@11");
}

TEST_F(BudgetTest, AnEventThatDoesNotFitIsDoubtedAtOnce) {
  server.on("GET", list_path, list_of(10, {pod_at("a", 1), pod_at("b", 2), pod_at("c", 3)}));
  server.on("GET", watch_path, watch_saying({event("ADDED", "d", 11)}));
  begin(three_pods());
  run_for(1s);
  EXPECT_FALSE(pods->is_synced());
  EXPECT_NE(pods->sync_problem(), "");
  EXPECT_EQ(stored(), "a@1 b@2 c@3");
  EXPECT_EQ(pods->counters().over_budget, 1u);
}

TEST_F(BudgetTest, OtherObjectsOfTheSameNumberFitAfterwards) {
  server.on("GET", list_path, list_of(10, {pod_at("a", 1), pod_at("b", 2), pod_at("c", 3)}));
  server.on("GET", watch_path, answer::failure(410, "Expired", "too old"));
  server.on("GET", list_path, list_of(20, {pod_at("d", 11), pod_at("e", 12), pod_at("f", 13)}));
  server.on("GET", list_path, list_of(30, {pod_at("d", 11), pod_at("e", 12), pod_at("f", 13)}));
  server.on("GET", watch_path, watch_saying({}));
  begin(three_pods());
  run_for(3min);
  EXPECT_EQ(stored(), "d@11 e@12 f@13");
  EXPECT_TRUE(pods->is_synced());
}

TEST_F(BudgetTest, TextsCountWhereverAViewKeepsThem) {
  informer_options o = pod_options();
  o.limits.budget.most_bytes = 100'000;
  std::vector<std::string> all;
  for (int i = 0; i < 20; ++i) all.push_back(large_pod("p" + std::to_string(i), 1, 10'000));
  server.on("GET", list_path, list_of(10, all));
  begin(std::move(o));
  run_for(5s);
  EXPECT_NE(pods->sync_problem(), "");
  EXPECT_GT(pods->objects().size(), 5u);
  EXPECT_LT(pods->objects().size(), 10u);
  EXPECT_LE(pods->objects().weight(), 100'000u);
}

TEST_F(BudgetTest, CollectionsOfOneClusterShareABudget) {
  auto shared = std::make_shared<view_budget>();
  shared->most_bytes = 50'000;
  shared->bytes = 45'000;  // another collection's
  server.on("GET", list_path, list_of(10, {large_pod("a", 1, 10'000)}));
  pods = std::make_unique<informer<pod>>(l, *api, pod_options());
  pods->share(shared);
  pods->start();
  run_for(5s);
  EXPECT_NE(pods->sync_problem(), "");
  EXPECT_EQ(pods->objects().size(), 0u);
  shared->bytes = 0;
  server.on("GET", list_path, list_of(10, {large_pod("a", 1, 10'000)}));
  server.on("GET", watch_path, watch_saying({}));
  run_for(2min);
  EXPECT_EQ(stored(), "a@1");
  EXPECT_GT(shared->bytes, 10'000u);
  finish();
  EXPECT_EQ(shared->bytes, 0u) << "what goes is given back";
}

TEST_F(BudgetTest, AnObjectWithAnnotationsThatNoServerTakesIsLeftOutWithALogLine) {
  server.on("GET", list_path, list_of(10, {large_pod("a", 1, 300'000), pod_at("b", 2)}));
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options());
  run_for(5s);
  EXPECT_TRUE(pods->is_synced());
  EXPECT_EQ(stored(), "b@2");
  std::string said;
  for (const reactor::log_record& r : log->records()) said += reactor::format_json(r);
  EXPECT_NE(said.find("an object is left out"), said.npos);
  EXPECT_NE(said.find("default/a"), said.npos);
  EXPECT_NE(said.find("256 KiB"), said.npos);
}

TEST_F(BudgetTest, AListWithoutEndIsGivenUp) {
  informer_options o = pod_options();
  o.limits.most_pages = 20;
  server.always("GET", list_path, list_of(10, {pod_at("a", 1)}, "again"));
  begin(std::move(o));
  run_for(3s);
  EXPECT_FALSE(pods->is_synced());
  EXPECT_LT(lists(), 30u);
  ASSERT_TRUE(pods->last_error());
  EXPECT_NE(pods->last_error()->message().find("does not end"), std::string::npos);
}

// ---- a view is current only by proof

using InformerLongTexts = informer_fixture;

struct ProofTest : informer_fixture {
  /// `piece` every five seconds, after what is there already.
  answer dripping(answer a, const std::string& piece, int times) {
    for (int i = 0; i < times; ++i) a.piece(piece, 5s);
    return a.stay_open();
  }
  reactor::nanoseconds silence() const { return l.now() - pods->last_contact(); }
};

TEST_F(ProofTest, AListThatDripsProvesNothingAndIsGivenUp) {
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, answer::failure(410, "Expired", "too old"));
  server.always("GET", list_path,
                dripping(answer::stream().piece(R"({"kind":"PodList",)"), " ", 1'000));
  begin(pod_options());
  run_for(40s);
  ASSERT_TRUE(pods->is_synced());
  EXPECT_GT(silence(), 30s) << "bytes of a list say nothing about the view";
  run_for(60s);
  ASSERT_TRUE(pods->last_error());
  EXPECT_NE(pods->last_error()->message().find("too slowly"), std::string::npos)
      << pods->last_error()->message();
}

TEST_F(ProofTest, ALongListMayTakeItsTime) {
  answer slow = answer::stream().piece(
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[)");
  const std::string filler(40'000, ' ');
  for (int i = 0; i < 20; ++i)
    slow.piece((i ? "," : "") + pod_at("p" + std::to_string(i), 1) + filler, 5s);
  slow.piece("]}");
  server.on("GET", list_path, slow);
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options());
  run_for(2min);
  EXPECT_TRUE(pods->is_synced());
  EXPECT_EQ(pods->objects().size(), 20u);
}

TEST_F(ProofTest, InitialEventsThatDripAreGivenUp) {
  server.on("GET", watch_path, dripping(answer::stream(), "\n", 1'000));
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options(true));
  run_for(90s);
  EXPECT_EQ(stored(), "a@1");
}

TEST_F(ProofTest, AStreamThatDripsBlankLinesIsAskedForNewerEvents) {
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, dripping(answer::stream(), "\n", 1'000));
  // The question, which the server answers with what the stream keeps to itself.
  server.always("GET", watch_path, answer::stream().piece(event("ADDED", "b", 11)));
  server_is_at(11);
  begin(pod_options());
  run_for(30s);
  EXPECT_GE(pods->counters().silent, 1u) << "the stream is behind and was given up";
}

TEST_F(ProofTest, OpeningAStreamProvesNothing) {
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, answer::stream().wait(4s).stay_open());
  server.always("GET", watch_path, answer::silence());
  begin(pod_options());
  run_for(5s);
  EXPECT_EQ(pods->state(), informer_state::live);
  EXPECT_GT(silence(), 4s);
}

TEST_F(ProofTest, AnAnswerThatIsNoJsonIsNoProof) {
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path, watch_saying({}));
  server.always("GET", watch_path, answer::stream().piece("ok\n"));
  begin(pod_options());
  run_for(60s);
  EXPECT_GT(pods->counters().probes, 1u);
  EXPECT_GT(silence(), 50s);
}

// ---- texts that are long to read

TEST_F(InformerLongTexts, AreReadInOrder) {
  const std::string filler = R"("annotations":{"x":")" + std::string(200'000, 'x') + "\"},";
  const auto long_event = [&](std::string_view type, const std::string& name, std::uint64_t v) {
    std::string text = pod_at(name, v);
    text.insert(text.find("\"name\""), filler);
    return objects::event_line(type, text);
  };
  server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
  server.on("GET", watch_path,
            watch_saying({event("ADDED", "b", 11) + long_event("ADDED", "c", 12) +
                          event("MODIFIED", "c", 13, "w2") + long_event("MODIFIED", "b", 14) +
                          event("DELETED", "a", 15)}));
  begin(pod_options());
  run_for(1s);
  EXPECT_EQ(stored(), "b@14 c@13");
  EXPECT_EQ(pods->counters().malformed, 0u);
}

TEST_F(InformerLongTexts, AreReadInLists) {
  std::string text = pod_at("b", 2);
  text.insert(text.find("\"name\""),
              R"("annotations":{"x":")" + std::string(200'000, 'x') + "\"},");
  server.on("GET", list_path, list_of(10, {pod_at("a", 1), text, pod_at("c", 3)}));
  server.on("GET", watch_path, watch_saying({}));
  begin(pod_options());
  run_for(1s);
  EXPECT_EQ(stored(), "a@1 b@2 c@3");
}

/// A pod as a user of its namespace may write it, with so many labels, each of so many bytes.
std::string wide_pod(const std::string& name, std::uint64_t version, std::size_t labels,
                     std::size_t bytes = 1, const std::string& ns = "default") {
  objects::pod_spec spec;
  spec.ns = ns;
  spec.name = name;
  spec.version = version;
  spec.labels = R"("app":"web")";
  for (std::size_t i = 0; i < labels; ++i)
    spec.labels += ",\"l" + std::to_string(i) + "\":\"" + std::string(bytes, 'x') + "\"";
  return objects::pod_json(spec);
}

/// Labels, and the bytes of each.
class WideObjects : public InformerLongTexts,
                    public testing::WithParamInterface<std::pair<std::size_t, std::size_t>> {};

/// What a user may write into an object holds up nothing but that object.
TEST_P(WideObjects, AreLeftOutAndTheOthersAreFollowed) {
  const auto [labels, bytes] = GetParam();
  const auto wide = [&, labels = labels, bytes = bytes](const std::string& name, std::uint64_t v) {
    return wide_pod(name, v, labels, bytes);
  };
  const auto line = [&](std::string_view type, const std::string& name, std::uint64_t v) {
    return objects::event_line(type, wide(name, v));
  };
  server.on("GET", list_path, list_of(10, {pod_at("a", 1), wide("b", 2), pod_at("c", 3)}));
  server.on("GET", watch_path,
            watch_saying({line("MODIFIED", "b", 11) + event("MODIFIED", "a", 12, "w2") +
                          line("MODIFIED", "c", 13) + event("MODIFIED", "b", 14) +
                          line("ADDED", "d", 15) + line("DELETED", "d", 16) +
                          line("DELETED", "c", 17) + event("ADDED", "e", 18)}));
  begin(pod_options());
  run_for(1s);
  EXPECT_TRUE(pods->is_synced());
  EXPECT_EQ(stored(), "a@12 b@14 e@18");
  EXPECT_EQ(server.count("GET", list_path), 1u) << "nothing of it was odd";
  EXPECT_EQ(pods->counters().malformed, 0u);
}
INSTANTIATE_TEST_SUITE_P(ByLabels, WideObjects,
                         testing::Values(std::pair{2'500, 1}, std::pair{30'000, 1},
                                         std::pair{1'900, 200}));

/// Where no user of a namespace can have written it, it is refused as a whole.
TEST_F(InformerLongTexts, MoreMembersThanAnybodyReadsAreRefused) {
  server.always("GET", list_path, list_of(10, {wide_pod("a", 1, 30'000, 0, "")}));
  begin(pod_options());
  run_for(1s);
  EXPECT_FALSE(pods->is_synced());
  ASSERT_TRUE(pods->last_error());
  EXPECT_NE(pods->last_error()->message().find("more members"), std::string::npos)
      << pods->last_error()->message();
}

TEST_F(InformerLongTexts, AListWhoseVersionComesLastIsBounded) {
  answer a = answer::stream().piece(R"({"items":[)");
  const std::string one = "{" + std::string(60'000, ' ') + "},";
  for (int i = 0; i < 400; ++i) a.piece(one);
  server.always("GET", list_path, a.stay_open());
  begin(pod_options());
  run_for(1s);
  ASSERT_TRUE(pods->last_error());
  EXPECT_NE(pods->last_error()->message().find("after too many objects"), std::string::npos);
}

}  // namespace
}  // namespace k8s
