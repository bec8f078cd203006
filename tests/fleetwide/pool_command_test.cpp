// `windlass pool` as a person uses it beside a running service: what is shown, what is written.
#include "tests/fleetwide/fleet_pools_fixture.hpp"
#include "tests/fleetwide/object_command_fixture.hpp"

namespace fleetwide::testing {
namespace {

class PoolCommand : public ObjectCommand<FleetPoolsOnClusters> {
protected:
  PoolCommand() : ObjectCommand(cli::pools_for_commands(), "workers") {}
};

TEST_F(PoolCommand, ShowsWhoHasItWhoComesNextAndWhyTheOthersWait) {
  home().put(fleet_pool(old_image, rings));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    ask_for(new_image);
    co_await serve(10s);
    const said_of_objects status = co_await say(verb::status);
    EXPECT_EQ(status.code, 0) << status.complaint;
    EXPECT_NE(status.text.find("default/workers  RollingOut"), std::string::npos) << status.text;
    EXPECT_NE(status.text.find("earlier-wave: waits for c0, c1 of wave canary"), std::string::npos)
        << status.text;
    const said_of_objects plan = co_await say(verb::plan);
    EXPECT_NE(plan.text.find("waits  c2, c3, c4, c5: earlier-wave"), std::string::npos)
        << plan.text;
    const said_of_objects diff = co_await say(verb::diff);
    EXPECT_NE(diff.text.find("+ spec.image.ref: " + new_image), std::string::npos) << diff.text;
    const said_of_objects history = co_await say(verb::history);
    EXPECT_NE(history.text.find("Complete"), std::string::npos) << history.text;
    for (const verb what : std::vector{verb::status, verb::plan, verb::diff, verb::history}) {
      cli::object_arguments a = ask(what);
      const json::value v = co_await document(std::move(a));
      EXPECT_TRUE(v.is_object());
    }
  });
}

TEST_F(PoolCommand, WritesOnlyWithYes) {
  home().put(fleet_pool(old_image, rings));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    ask_for(new_image);
    edit_spec([](json::object& spec) {
      spec["template"].as_object()["metadata"] = json::object{{"labels", {{"new", "yes"}}}};
    });
    co_await serve(60min);
    EXPECT_EQ(who_asks_for(new_image), "c0 c1 c2 c3 c4 c5");
    cli::object_arguments undo = ask(verb::undo);
    said_of_objects out = co_await say(undo);
    EXPECT_NE(out.text.find("go back to revision 1"), std::string::npos) << out.text;
    EXPECT_NE(out.text.find("shown only"), std::string::npos) << out.text;
    co_await serve(5min);
    EXPECT_EQ(who_asks_for(new_image), "c0 c1 c2 c3 c4 c5");
    undo.yes = true;
    out = co_await say(std::move(undo));
    EXPECT_EQ(out.code, 0) << out.complaint;
    co_await serve(60min);
    EXPECT_EQ(who_asks_for(old_image), "c0 c1 c2 c3 c4 c5");
    const auto now = home().get("fleet.windlass.dev", "fleetpools", "default", "workers");
    EXPECT_FALSE(now->at("spec").at("template").at("metadata").as_object().contains("labels"));
    EXPECT_EQ(status().at("history").as_array().size(), 3u);
    EXPECT_EQ(status().at("digest"), status().at("history").at(0).at("digest"))
        << "the content is that of the first revision again";
    cli::object_arguments pause = ask(verb::pause);
    pause.yes = true;
    (void)co_await document(std::move(pause));
    ask_for(new_image);
    co_await serve(10min);
    EXPECT_EQ(who_asks_for(new_image), "");
    cli::object_arguments resume = ask(verb::resume);
    resume.yes = true;
    (void)co_await document(std::move(resume));
    co_await serve(60min);
    EXPECT_EQ(who_asks_for(new_image), "c0 c1 c2 c3 c4 c5");
  });
}

TEST_F(PoolCommand, PlansAFileAsWhatThenHappens) {
  home().put(fleet_pool(old_image, rings));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    moved();
    cli::object_arguments a = ask(verb::plan, "");
    a.file = json::serialize(fleet_pool(new_image, R"({"maxClusters":3})"));
    const json::value plan = co_await document(a);
    std::string first;
    for (const json::value& c : plan.at("fleetPools").at(0).at("clusters").as_array())
      if (c.as_object().contains("next"))
        first += (first.empty() ? "" : " ") + std::string(c.at("cluster").as_string());
    EXPECT_EQ(first, "c0 c1 c2");
    EXPECT_EQ(moved(), "") << "nothing was written";
    edit_spec([](json::object& spec) {
      spec["rollout"] = json::parse(R"({"maxClusters":3})");
      spec["image"].as_object()["ref"] = new_image;
    });
    co_await serve(1s);
    EXPECT_EQ(moved(), first);
  });
}

TEST_F(PoolCommand, AFileForAFleetThatHasNoneYetIsPlannedToo) {
  run([&]() -> awaitable<void> {
    cli::object_arguments a = ask(verb::plan, "");
    a.file = json::serialize(fleet_pool(new_image, rings));
    const json::value plan = co_await document(a);
    EXPECT_EQ(plan.at("fleetPools").as_array().size(), 1u);
    EXPECT_EQ(plan.at("fleetPools").at(0).at("clusters").at(0).at("next"), "revision 1");
    const said_of_objects none = co_await say(verb::status);
    EXPECT_EQ(none.code, 1);
    EXPECT_EQ(none.complaint, "home has no FleetPool \"workers\"");
  });
}

TEST(PoolFile, NamesWhatIsWrongWithAFile) {
  const auto says = [](const std::string& text) {
    const auto read = cli::objects_in(cli::pools_for_commands(), text, "pool.yaml", "default");
    return read ? std::string("nothing") : read.error();
  };
  EXPECT_EQ(says("kind: Pod\n"), "pool.yaml: no FleetPool is in it");
  EXPECT_NE(says("a: [").find("pool.yaml"), std::string::npos);
  EXPECT_EQ(says("kind: FleetPool\nmetadata: {name: a}\nspec: {clusters: {}, template: {spec: "
                 "{nodeSelector: {}}}, image: {ref: r.example/a:1}}\n"),
            "pool.yaml: FleetPool default/a: spec.clusters has neither a selector nor names; "
            "{selector: {}} selects every cluster");
  EXPECT_NE(
      says("kind: FleetPool\nmetadata: {name: a}\nspec: {image: {ref: 7}}\n").find("pool.yaml"),
      std::string::npos);
}

}  // namespace
}  // namespace fleetwide::testing
