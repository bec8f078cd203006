#include "compose/pack_data.hpp"

#include "tests/compose/cluster_fixture.hpp"
#include "tests/reactor/temporary_folder.hpp"

namespace compose {
namespace {

using namespace std::chrono_literals;
using compose_test::file;
using reactor::awaitable;

/// The example pack, whose one file of data lies in a folder that the environment names.
class PackData : public testing::Test {
protected:
  PackData() {
    std::string lua = file("docs/compose/shop/policy.lua");
    lua.replace(lua.find("data = \"data\""), 13, "data_from = \"SHOP_TEMPLATES_DIR\"");
    packs_folder_.write("policy.lua", lua);
    put("one");
  }
  void put(const std::string& text) { folder_.write("deployment.yaml", text); }
  void go(std::function<awaitable<void>()> body) {
    reactor::task_group tasks(loop_);
    tasks.start("test", [&, this]() -> awaitable<void> {
      compose_test::windlass_options o;
      o.policies = packs_folder_.path();
      o.packs_are_tested = true;
      policies::host packs(loop_, compose_test::pack_options(o));
      auto loaded = co_await packs.load();
      EXPECT_TRUE(loaded.has_value());
      policies::subject by_name;
      by_name.pack = "shop";
      auto found = packs.select("compose.sync", by_name);
      EXPECT_TRUE(found.has_value());
      pack_ = *found;
      co_await body();
      pack_.reset();
      co_await packs.stop();
    });
    loop_.run();
  }
  awaitable<std::string> text(pack_data::wants w) {
    const auto about = policies::compose::read_declaration(pack_->about());
    auto files = co_await data_.of(*about, pack_, w);
    co_return files->text.at("deployment.yaml");
  }

  reactor::temporary_folder packs_folder_, folder_;
  reactor::loop loop_;  // in real time: a simulated one reads at once
  pack_data data_{loop_, [this](const std::string& name) {
                    return name == "SHOP_TEMPLATES_DIR" ? folder_.path() : std::string();
                  }};
  std::shared_ptr<const policies::pack> pack_;
};

TEST_F(PackData, WhoFollowsHearsWhatAnotherIsReadingWhoIsInHurryWhatWasReadBefore) {
  std::map<std::string, std::string> heard;
  go([&, this]() -> awaitable<void> {
    EXPECT_EQ(co_await text(pack_data::wants::at_once), "one");
    put("two");
    EXPECT_EQ(co_await text(pack_data::wants::newest), "one") << "read within the last second";
    co_await loop_.sleep_for(1100ms);
    reactor::task_group side(loop_);
    const auto hear = [&](std::string who, pack_data::wants w) {
      side.start(who,
                 [&heard, who, w, this]() -> awaitable<void> { heard[who] = co_await text(w); });
    };
    hear("reader", pack_data::wants::newest);
    hear("follower", pack_data::wants::newest);
    hear("in hurry", pack_data::wants::at_once);
    co_await side.join();
  });
  EXPECT_EQ(heard, (std::map<std::string, std::string>{
                       {"reader", "two"}, {"follower", "two"}, {"in hurry", "one"}}));
}

TEST_F(PackData, TellsImagesAndChoicesOfTheEnvironmentAndNoOtherValue) {
  const std::map<std::string, std::string> process{{"KBS_IMAGE_NAME", "kbs:v1"},
                                                   {"AS_IMAGE_NAME", ""},
                                                   {"STRICT", "true"},
                                                   {"HOLD", "false"},
                                                   {"AWS_SECRET_ACCESS_KEY", "geheim"}};
  pack_data told(loop_, [&](const std::string& name) {
    const auto found = process.find(name);
    return found == process.end() ? std::string() : found->second;
  });
  std::map<std::string, std::string> heard;
  go([&, this]() -> awaitable<void> {
    auto about = policies::compose::read_declaration(pack_->about());
    about->environment.clear();
    for (const auto& [name, value] : process) about->environment.push_back(name);
    about->environment.emplace_back("NOBODY_SET_IT");
    const auto files = co_await told.of(*about, pack_, pack_data::wants::at_once);
    heard.insert(files->environment.begin(), files->environment.end());
  });
  EXPECT_EQ(heard, (std::map<std::string, std::string>{
                       {"HOLD", "false"}, {"KBS_IMAGE_NAME", "kbs:v1"}, {"STRICT", "true"}}));
}

TEST_F(PackData, WhoeverReadsForAllMayLeaveInTheMiddle) {
  std::string heard;
  go([&, this]() -> awaitable<void> {
    reactor::task_group side(loop_);
    const auto first = side.start(
        "first", [this]() -> awaitable<void> { (void)co_await text(pack_data::wants::at_once); });
    side.start("second", [&heard, this]() -> awaitable<void> {
      heard = co_await text(pack_data::wants::at_once);
    });
    side.cancel(first);
    co_await side.join();
  });
  EXPECT_EQ(heard, "one");
}

}  // namespace
}  // namespace compose
