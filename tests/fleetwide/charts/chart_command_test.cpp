// `windlass chart` as a person uses it beside a running service.
#include "tests/fleetwide/charts/fleet_charts_fixture.hpp"
#include "tests/fleetwide/object_command_fixture.hpp"

namespace fleetwide::testing {
namespace {

class ChartCommand : public ObjectCommand<FleetChartsOnClusters> {
protected:
  ChartCommand() : ObjectCommand(cli::charts_for_commands(), "app") {}
};

TEST_F(ChartCommand, ShowsWhoHasItWhoComesNextAndWhyTheOthersWait) {
  home().put(fleet_chart("1.0.0", rings));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    ask_for("1.1.0");
    co_await serve(10s);
    const said_of_objects status = co_await say(verb::status);
    EXPECT_EQ(status.code, 0) << status.complaint;
    EXPECT_NE(status.text.find("default/app  RollingOut"), std::string::npos) << status.text;
    const said_of_objects plan = co_await say(verb::plan);
    EXPECT_NE(plan.text.find("waits  c2, c3, c4, c5: wave-soak: wave canary"), std::string::npos)
        << plan.text;
    const said_of_objects diff = co_await say(verb::diff);
    EXPECT_NE(diff.text.find("+ chart.version: 1.1.0"), std::string::npos) << diff.text;
    const said_of_objects history = co_await say(verb::history);
    EXPECT_NE(history.text.find("Complete"), std::string::npos) << history.text;
    for (const verb what :
         std::vector{verb::status, verb::plan, verb::diff, verb::history, verb::values}) {
      cli::object_arguments a = ask(what);
      const json::value v = co_await document(std::move(a));
      EXPECT_TRUE(v.is_object());
    }
  });
}

TEST_F(ChartCommand, ValuesAreShownAsAClusterGetsThemWithoutSecrets) {
  put_config("levels", "eu.yaml", "level: warn\nother: 1\n");
  put_secret("token", "values.yaml", "level: secret\n");
  home().put(fleet_chart("1.0.0", R"({"maxClusters":6})",
                         R"(,"values":{"more":[1,2]},"valuesFrom":[)"
                         R"({"kind":"ConfigMap","name":"levels","key":"{region}.yaml"},)"
                         R"({"kind":"Secret","name":"token"}])"));
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    EXPECT_EQ(who_has("1.0.0 secret"), "c0 c2 c4");
    cli::object_arguments a = ask(verb::values);
    a.list.clusters = {"c0", "c1"};
    const said_of_objects out = co_await say(std::move(a));
    EXPECT_EQ(out.bytes,
              "# default/app on c0\nlevel: warn\nmore:\n- 1\n- 2\nother: 1\n"
              "# and Secret token, key values.yaml\n"
              "# default/app on c1\n# ConfigMap levels has no key us.yaml\n"
              "# and Secret token, key values.yaml\n");
  });
}

TEST_F(ChartCommand, WritesOnlyWithYes) {
  home().put(fleet_chart("1.0.0", rings, R"(,"values":{"level":"first"})"));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    edit_spec([](json::object& spec) {
      spec["chart"].as_object()["version"] = ">= 1.1.0 < 2.0.0";
      spec["values"] = json::object{{"level", "second"}, {"more", true}};
    });
    co_await serve(40min);
    EXPECT_EQ(who_has("1.1.0 second"), "c0 c1 c2 c3 c4 c5");
    cli::object_arguments undo = ask(verb::undo);
    said_of_objects out = co_await say(undo);
    EXPECT_NE(out.text.find("go back to revision 1"), std::string::npos) << out.text;
    EXPECT_NE(out.text.find("shown only"), std::string::npos) << out.text;
    undo.yes = true;
    out = co_await say(std::move(undo));
    EXPECT_EQ(out.code, 0) << out.complaint;
    co_await serve(40min);
    EXPECT_EQ(who_has("1.0.0 first"), "c0 c1 c2 c3 c4 c5");
    EXPECT_EQ(status().at("digest"), status().at("history").at(0).at("digest"))
        << "the content is that of the first revision again";
    cli::object_arguments pause = ask(verb::pause);
    pause.yes = true;
    (void)co_await document(std::move(pause));
    ask_for("1.1.0");
    co_await serve(10min);
    EXPECT_EQ(who_has("1.1.0 first"), "");
    cli::object_arguments resume = ask(verb::resume);
    resume.yes = true;
    (void)co_await document(std::move(resume));
    co_await serve(40min);
    EXPECT_EQ(who_has("1.1.0 first"), "c0 c1 c2 c3 c4 c5");
  });
}

TEST_F(ChartCommand, AFileIsPlannedAsWhatThenHappens) {
  home().put(fleet_chart("1.0.0", rings));
  run([&]() -> awaitable<void> {
    co_await serve(20min);
    moved();
    cli::object_arguments a = ask(verb::plan, "");
    a.file = json::serialize(fleet_chart("1.1.0", R"({"maxClusters":3})"));
    const json::value plan = co_await document(a);
    std::string first;
    for (const json::value& c : plan.at("fleetCharts").at(0).at("clusters").as_array())
      if (c.as_object().contains("next"))
        first += (first.empty() ? "" : " ") + std::string(c.at("cluster").as_string());
    EXPECT_EQ(first, "c0 c1 c2");
    EXPECT_EQ(moved(), "") << "nothing was written";
    edit_spec([](json::object& spec) {
      spec["rollout"] = json::parse(R"({"maxClusters":3})");
      spec["chart"].as_object()["version"] = "1.1.0";
    });
    co_await serve(2s);
    EXPECT_TRUE(moved().starts_with(first));
  });
}

}  // namespace
}  // namespace fleetwide::testing
