// The pack of docs/compose on an embedded cluster, by the service as it ships, in virtual time.
#include "bench/hostile/packs.hpp"
#include "compose/rules/answer.hpp"
#include "formats/base64.hpp"
#include "formats/digest.hpp"
#include "policies/host/pack.hpp"
#include "tests/compose/cluster_fixture.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <filesystem>
#include <iostream>

namespace {

using namespace compose_test;
class ComposeCluster : public compose_cluster {};

TEST_F(ComposeCluster, MakesRepairsAndDeletesWhatAPackAsksFor) {
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass&) -> awaitable<void> {
      EXPECT_EQ(at("configmaps", "blue-shop", "/data/greeting"), "hello");
      EXPECT_EQ(at("deployments", "blue-shop", "/spec/replicas"), "2");
      EXPECT_EQ(at("deployments", "blue-shop", "/metadata/ownerReferences/0/name"), "blue");
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
      EXPECT_EQ(condition("blue", "Ready"), "False RollingOut");
      roll_out("blue-shop");
      co_await loop_->sleep_for(5s);
      EXPECT_EQ(condition("blue", "Ready"), "True RolledOut");
      // Nothing more is written.
      writes_ = 0;
      co_await loop_->sleep_for(10min);
      EXPECT_EQ(writes_, 0u);
      // Drift is repaired.
      const std::string key = at("secrets", "blue-shop", "/data/key");
      server().edit("", "configmaps", "default", "blue-shop",
                    [](json::object& c) { c["data"].as_object()["greeting"] = "edited"; });
      server().erase("apps", "deployments", "default", "blue-shop");
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(at("configmaps", "blue-shop", "/data/greeting"), "hello");
      EXPECT_EQ(at("deployments", "blue-shop", "/spec/replicas"), "2");
      EXPECT_EQ(at("secrets", "blue-shop", "/data/key"), key);
      // A rotated secret restarts the pods that read it.
      const std::string inputs = "/spec/template/metadata/annotations/windlass.dev~1inputs";
      const std::string was = at("deployments", "blue-shop", inputs);
      server().erase("", "secrets", "default", "blue-shop");
      co_await loop_->sleep_for(10s);
      EXPECT_NE(at("secrets", "blue-shop", "/data/key"), key);
      EXPECT_NE(at("deployments", "blue-shop", inputs), was);
      // The parent goes, and with it everything.
      server().handle(
          k8s::sim::make_request("DELETE", "/apis/example.com/v1/namespaces/default/shops/blue"));
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(at("deployments", "blue-shop", ""), "absent");
      EXPECT_EQ(at("secrets", "blue-shop", ""), "absent");
    });
  });
}

TEST_F(ComposeCluster, PlanShowsWhatWouldHappenWithoutASecretsBytes) {
  go([this]() -> awaitable<void> {
    auto looking = a_windlass(units::mode::look);
    co_await looking->start(there());
    co_await loop_->sleep_for(20s);
    writes_ = 0;
    const std::string plan = co_await looking->said();
    for (const char* said :
         {"create ConfigMap blue-shop", "create Secret blue-shop", "shop/Shop", "waits-for-input"})
      EXPECT_THAT(plan, HasSubstr(said));
    EXPECT_EQ(writes_, 0u) << "who looks writes nothing";
    EXPECT_EQ(at("configmaps", "blue-shop", ""), "absent");
    co_await looking->stop();
    co_await serve([](windlass&) -> awaitable<void> { co_return; });
    const std::string token = at("secrets", "blue-shop", "/data/token");
    server().edit("", "configmaps", "default", "blue-shop",
                  [](json::object& c) { c["data"].as_object()["greeting"] = "edited"; });
    server().edit("", "secrets", "default", "blue-shop",
                  [](json::object& c) { c["data"].as_object().erase("key.pub"); });
    auto again = a_windlass(units::mode::look);
    co_await again->start(there());
    co_await loop_->sleep_for(20s);
    const std::string changes = co_await again->said();
    EXPECT_THAT(changes, HasSubstr("change ConfigMap blue-shop"));
    EXPECT_THAT(changes, HasSubstr("data.greeting: \"edited\" → \"hello\""));
    EXPECT_THAT(changes, HasSubstr("data.key.pub: derived"));
    EXPECT_THAT(changes, Not(HasSubstr(token)));
    co_await again->stop();
  });
}

TEST_F(ComposeCluster, AParentThatIsNotReadyIsNoDoneOneAlthoughAllIsThereThatItsPackAsksFor) {
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass& service) -> awaitable<void> {
      co_await loop_->sleep_for(20s);
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
      EXPECT_TRUE(condition("blue", "Ready").starts_with("False")) << condition("blue", "Ready");
      std::vector<units::cluster_controller*> parts;
      service.each([&](units::cluster_controller& p) { parts.push_back(&p); });
      EXPECT_EQ(parts.size(), 1u);
      std::vector<units::plan_row> rows = co_await parts.front()->overview();
      EXPECT_EQ(rows.size(), 1u);
      EXPECT_EQ(rows.front().updated, 0u);
      EXPECT_FALSE(rows.front().is_done());
      EXPECT_EQ(rows.front().problems.size(), 1u);
      if (rows.front().problems.size() == 1) {
        EXPECT_EQ(rows.front().problems.front().unit, "default/blue");
        EXPECT_EQ(rows.front().problems.front().condition, "Ready");
        EXPECT_EQ(rows.front().problems.front().message, message("blue", "Ready"));
      }
      roll_out("blue-shop");
      co_await loop_->sleep_for(20s);
      rows = co_await parts.front()->overview();
      EXPECT_EQ(rows.front().updated, 1u);
      EXPECT_TRUE(rows.front().is_done());
    });
  });
}

/// Every way in which a write can be the last: the process ends behind it, or its answer is lost.
TEST_F(ComposeCluster, ConvergesWhenKilledAfterEveryWriteOrWhenItsAnswerIsLost) {
  enum class fate { killed, lost_answer, refused };
  for (const fate f : {fate::killed, fate::lost_answer, fate::refused}) {
    for (std::size_t n = 1; n <= 6; ++n) {
      make_world();
      std::set<std::string> keys;
      go([&]() -> awaitable<void> {
        std::size_t seen = 0;
        const auto is_write = [](const k8s::sim::request& r) {
          if (r.method == "GET") return false;
          for (const char* of : {"/shops", "/configmaps", "/secrets", "/deployments"})
            if (r.path.find(of) != std::string::npos) return true;
          return false;
        };
        on_write = [&](const k8s::sim::written& w) {
          if (w.plural != "secrets" || w.ns != "default" || !w.after || w.name != "blue-shop")
            return;
          if (w.type == k8s::sim::write_type::deleted) return;
          keys.insert(json::serialize(w.after->at("data").at("key")));
        };
        server().before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
          if (!is_write(r)) return std::nullopt;
          ++seen;
          k8s::sim::answer gone;
          gone.drop = true;
          if (f == fate::killed && seen > n) return gone;
          if (f == fate::refused && seen == n) {
            k8s::sim::answer a;
            a.status = 500;
            a.body = "{}";
            return a;
          }
          return std::nullopt;
        };
        server().after = [&](const k8s::sim::request& r, k8s::sim::answer& a) {
          if (f == fate::lost_answer && is_write(r) && seen == n) a.drop = true;
        };
        if (f == fate::killed) {
          co_await serve([](windlass&) -> awaitable<void> { co_return; });
          server().before = nullptr;
        }
        co_await serve([this](windlass&) -> awaitable<void> {
          co_await loop_->sleep_for(60s);
          EXPECT_EQ(at("deployments", "blue-shop", "/spec/replicas"), "2");
          EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
        });
        server().before = nullptr;
        server().after = nullptr;
        on_write = nullptr;
        EXPECT_EQ(keys.size(), 1u) << "a key pair is made once";
      });
    }
  }
}

TEST_F(ComposeCluster, AnObjectOfSomebodyElseIsAHoldAndIsLeftAlone) {
  server().put({{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata", {{"name", "blue-shop"}, {"namespace", "default"}}},
                {"data", {{"greeting", "mine"}}}});
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass&) -> awaitable<void> {
      EXPECT_EQ(at("configmaps", "blue-shop", "/data/greeting"), "mine");
      EXPECT_EQ(condition("blue", "Composed"), "False Conflict");
      server().erase("", "configmaps", "default", "blue-shop");
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
    });
  });
}

TEST_F(ComposeCluster, AHoldSaysWhenItsPackIsAskedAgain) {
  reactor::temporary_folder folder;
  std::string pack = file("docs/compose/shop/policy.lua");
  pack.insert(pack.find("status = { observedGeneration"), "look_again = 3600, ");
  folder.write("policy.lua", pack);
  folder.write("data/deployment.yaml", file("docs/compose/shop/data/deployment.yaml"));
  policies_ = folder.path();
  server().put({{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata", {{"name", "blue-shop"}, {"namespace", "default"}}}});
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass& one) -> awaitable<void> {
      std::vector<units::cluster_controller*> parts;
      one.each([&](units::cluster_controller& p) { parts.push_back(&p); });
      EXPECT_EQ(parts.size(), 1u);
      const std::vector<units::plan_row> rows = co_await parts.front()->overview();
      EXPECT_EQ(rows.size(), 1u);
      EXPECT_FALSE(rows.empty() || rows.front().holds.empty());
      if (rows.empty() || rows.front().holds.empty()) co_return;
      EXPECT_EQ(rows.front().holds.front().code, "conflict");
      EXPECT_EQ(rows.front().holds.front().asked_again,
                reactor::format_rfc3339(loop_->wall() + 1h));
    });
  });
}

TEST_F(ComposeCluster, AWriteThatIsForbiddenIsSaidInTheStatusAndHealsAlone) {
  bool forbidden = true;
  server().access().authorize = [&](const std::string&, const k8s::sim::request& r) {
    return !(forbidden && r.method != "GET" && r.path.find("/deployments") != std::string::npos);
  };
  go([&, this]() -> awaitable<void> {
    co_await serve([&, this](windlass&) -> awaitable<void> {
      EXPECT_EQ(condition("blue", "Composed"), "False WriteFailed");
      EXPECT_EQ(at("configmaps", "blue-shop", "/data/greeting"), "hello");
      forbidden = false;
      co_await loop_->sleep_for(2min);
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
    });
  });
}

TEST_F(ComposeCluster, AClusterThatIsAwayLosesNothing) {
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass&) -> awaitable<void> {
      const std::string key = at("secrets", "blue-shop", "/data/key");
      server().before = [](const k8s::sim::request&) -> std::optional<k8s::sim::answer> {
        k8s::sim::answer gone;
        gone.drop = true;
        return gone;
      };
      server().restart();
      put_shop("blue", 5);
      server().edit("", "configmaps", "default", "blue-shop",
                    [](json::object& c) { c["data"].as_object()["greeting"] = "edited"; });
      co_await loop_->sleep_for(1min);
      server().before = nullptr;
      co_await loop_->sleep_for(3min);
      EXPECT_EQ(at("deployments", "blue-shop", "/spec/replicas"), "5");
      EXPECT_EQ(at("configmaps", "blue-shop", "/data/greeting"), "hello");
      EXPECT_EQ(at("secrets", "blue-shop", "/data/key"), key);
    });
  });
}

TEST_F(ComposeCluster, StartsWhenItsKindIsServed) {
  server().erase("example.com", "shops", "default", "blue");
  server().erase("apiextensions.k8s.io", "customresourcedefinitions", "", "shops.example.com");
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass&) -> awaitable<void> {
      server().put(manifest("docs/compose/crd.yaml"));
      put_shop("blue");
      co_await loop_->sleep_for(90s);
      EXPECT_EQ(at("configmaps", "blue-shop", "/data/greeting"), "hello");
    });
  });
}

/// A pack that looks at everything that it is given for what stands in the Secrets of its
/// namespace, and copies them.
constexpr const char* curious = R"lua(
local function sync(shop, related, children, files)
  local found, texts, seen = 0, 0, {}
  local function walk(v, depth)
    local t = type(v)
    if t == "string" then
      texts = texts + 1
      if string.find(v, "c4n" .. "4ry", 1, true) or string.find(v, "YzRu" .. "NHJ5", 1, true) then found = found + 1 end
    elseif t == "table" and depth < 8 then
      for k, x in pairs(v) do walk(k, depth + 1) walk(x, depth + 1) end
    end
  end
  walk(shop, 1) walk(related, 1) walk(children, 1) walk(files, 1)
  log("found " .. found)
  return {
    children = { { object = { apiVersion = "v1", kind = "Secret", metadata = { name = "copy" },
      data = { k = { copy = { secret = "source", key = "k" } } } } } },
    status = { found = found, looked = texts > 20, digests = related["Secret/source"] and copy(related["Secret/source"].digests) },
    events = { { reason = "Looked", message = "found " .. found } },
  }
end
return { name = "curious", version = "1",
  composes = { parents = { { apiVersion = "example.com/v1", kind = "Shop" } }, children = { { apiVersion = "v1", kind = "Secret" } } },
  compose = { sync = sync, related = function() return { objects = { { apiVersion = "v1", kind = "Secret", name = "source" } } } end } }
)lua";

TEST_F(ComposeCluster, NoByteOfASecretIsSeenByAPolicyOrSaidAnywhere) {
  reactor::temporary_folder folder, records;
  folder.write("policy.lua", curious);
  policies_ = folder.path();
  record_ = records / "record";
  const auto log = std::make_shared<reactor::log_capture>();
  log_ = reactor::logger([this] { return loop_->wall(); }, log, reactor::log_level::debug);
  const auto put_source = [this](const std::string& bytes) {
    server().put({{"apiVersion", "v1"},
                  {"kind", "Secret"},
                  {"metadata", {{"name", "source"}, {"namespace", "default"}}},
                  {"data", {{"k", formats::encode_base64(bytes)}}}});
  };
  put_source("c4n4ry-one");
  std::string sent;
  std::string said;
  go([&, this]() -> awaitable<void> {
    server().before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.method != "GET" && r.path.find("/secrets") == std::string::npos) sent += r.body;
      return std::nullopt;
    };
    co_await serve([&, this](windlass& one) -> awaitable<void> {
      EXPECT_EQ(at("secrets", "copy", "/data/k"), formats::encode_base64("c4n4ry-one"));
      put_source("c4n4ry-two");
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(at("secrets", "copy", "/data/k"), formats::encode_base64("c4n4ry-two"));
      EXPECT_EQ(at("shops", "blue", "/status/found"), "0");
      EXPECT_EQ(at("shops", "blue", "/status/looked"), "true");
      said += co_await one.said();
      said += one.metrics.text() + json::serialize(json::value(*get("shops", "blue")));
      server().edit("", "secrets", "default", "copy",
                    [](json::object& c) { c["data"].as_object()["k"] = "YzRuNHJ5LXRoZWlycw=="; });
    });
  });
  for (const reactor::log_record& r : log->records()) said += reactor::format_json(r);
  std::ifstream record(record_);
  const std::string recorded{std::istreambuf_iterator<char>(record), {}};
  EXPECT_THAT(recorded, HasSubstr("compose.related"));
  EXPECT_THAT(recorded, HasSubstr("compose.sync"));
  EXPECT_THAT(recorded, HasSubstr(formats::digest_of("c4n4ry-two")));
  said += recorded;
  EXPECT_THAT(sent, HasSubstr("Looked"));
  for (const char* byte : {"c4n4ry", "YzRuNHJ5"}) {
    EXPECT_THAT(sent, Not(HasSubstr(byte)));
    EXPECT_THAT(said, Not(HasSubstr(byte)));
  }
}

TEST_F(ComposeCluster, APolicyThatFailsChangesNothingAndHealsWhenItIsMended) {
  reactor::temporary_folder folder;
  const std::string good = file("docs/compose/shop/policy.lua");
  folder.write("policy.lua", good);
  folder.write("data/deployment.yaml", file("docs/compose/shop/data/deployment.yaml"));
  policies_ = folder.path();
  go([&, this]() -> awaitable<void> {
    co_await serve([&, this](windlass& one) -> awaitable<void> {
      std::string broken = good;
      broken.replace(broken.find("local name ="), 0, "error('no idea') ");
      folder.write("policy.lua", broken);
      co_await one.packs.reload();
      writes_ = 0;
      co_await loop_->sleep_for(2min);
      EXPECT_EQ(condition("blue", "Composed"), "False PolicyFault");
      EXPECT_EQ(writes_, 1u) << "the condition";
      EXPECT_EQ(at("configmaps", "blue-shop", "/data/greeting"), "hello");
      folder.write("policy.lua", good);
      co_await one.packs.reload();
      co_await loop_->sleep_for(2min);
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
    });
  });
}

TEST_F(ComposeCluster, DataThatCannotBeReadIsAConditionAndTheLastGoodStays) {
  reactor::temporary_folder folder, data;
  std::string pack = file("docs/compose/shop/policy.lua");
  pack.replace(pack.find("data = \"data\""), 13, "data_from = \"SHOP_TEMPLATES_DIR\"");
  folder.write("policy.lua", pack);
  policies_ = folder.path();
  data_folder_ = data.path();
  data.write("deployment.yaml", file("docs/compose/shop/data/deployment.yaml"));
  go([&, this]() -> awaitable<void> {
    co_await serve([&, this](windlass&) -> awaitable<void> {
      EXPECT_EQ(condition("blue", "DataLoaded"), "True Loaded");
      data.write("huge", std::string(300 * 1024, 'x'));
      co_await loop_->sleep_for(30s);
      EXPECT_EQ(condition("blue", "DataLoaded"), "False Broken");
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
      std::filesystem::remove(data / "huge");
      std::string changed = file("docs/compose/shop/data/deployment.yaml");
      changed.replace(changed.find("/etc/shop"), 9, "/etc/new!");
      data.write("deployment.yaml", changed);
      co_await loop_->sleep_for(30s);
      EXPECT_EQ(condition("blue", "DataLoaded"), "True Loaded");
      EXPECT_EQ(at("deployments", "blue-shop",
                   "/spec/template/spec/containers/0/volumeMounts/0/mountPath"),
                "/etc/new!");
    });
  });
}

TEST_F(ComposeCluster, DataThatItsPackRefusesNeverTakesThePlaceOfGoodOnes) {
  reactor::temporary_folder folder, data;
  std::string pack = file("docs/compose/shop/policy.lua");
  pack.replace(pack.find("data = \"data\""), 13, "data_from = \"SHOP_TEMPLATES_DIR\"");
  pack.replace(pack.find("{ sync = sync }"), 15, R"lua({ sync = sync, data = function(files)
    local text = files.text["deployment.yaml"] or ""
    if text:find("loop") then while true do end end
    return { problem = text:find("/etc/bad!", 1, true) and "deployment.yaml: line 7: no such path" or nil }
  end })lua");
  folder.write("policy.lua", pack);
  policies_ = folder.path();
  data_folder_ = data.path();
  const std::string good = file("docs/compose/shop/data/deployment.yaml");
  const auto with = [&](const std::string& place) {
    std::string text = good;
    text.replace(text.find("/etc/shop"), 9, place);
    data.write("deployment.yaml", text);
  };
  data.write("deployment.yaml", good);
  const auto mounted_at = [this](const std::string& deployment) {
    return at("deployments", deployment,
              "/spec/template/spec/containers/0/volumeMounts/0/mountPath");
  };
  go([&, this]() -> awaitable<void> {
    co_await serve([&, this](windlass&) -> awaitable<void> {
      EXPECT_EQ(condition("blue", "DataLoaded"), "True Loaded");
      with("/etc/bad!");
      co_await loop_->sleep_for(30s);
      EXPECT_EQ(condition("blue", "DataLoaded"), "False Broken");
      EXPECT_THAT(message("blue", "DataLoaded"),
                  HasSubstr("deployment.yaml: line 7: no such path"));
      EXPECT_EQ(mounted_at("blue-shop"), "/etc/shop");
      put_shop("red");
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(mounted_at("red-shop"), "/etc/shop") << "who is new gets the last good ones, too";
      // A pack that cannot say it takes nothing.
      with("/etc/loop");
      co_await loop_->sleep_for(30s);
      EXPECT_EQ(condition("blue", "DataLoaded"), "False Broken");
      EXPECT_THAT(message("blue", "DataLoaded"), HasSubstr("compose.data"));
      EXPECT_EQ(mounted_at("blue-shop"), "/etc/shop");
      with("/etc/new!");
      co_await loop_->sleep_for(30s);
      EXPECT_EQ(condition("blue", "DataLoaded"), "True Loaded");
      EXPECT_EQ(mounted_at("blue-shop"), "/etc/new!");
      EXPECT_EQ(mounted_at("red-shop"), "/etc/new!");
    });
  });
}

TEST_F(ComposeCluster, OfTwoParentsThatAskForOneChildTheOlderHasIt) {
  reactor::temporary_folder folder;
  folder.write("policy.lua", R"lua(
return { name = "one", version = "1",
  composes = { parents = { { apiVersion = "example.com/v1", kind = "Shop" } }, children = { { apiVersion = "v1", kind = "ConfigMap" } } },
  compose = { sync = function(shop)
    return { children = { { object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "shared" }, data = { of = shop.name } } } } }
  end } }
)lua");
  policies_ = folder.path();
  go([&, this]() -> awaitable<void> {
    co_await serve([&, this](windlass&) -> awaitable<void> {
      co_await loop_->sleep_for(5s);
      put_shop("amber");  // younger, and first by name
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(at("configmaps", "shared", "/data/of"), "blue");
      EXPECT_THAT(condition("amber", "Composed"), HasSubstr("False C"));
      server().handle(
          k8s::sim::make_request("DELETE", "/apis/example.com/v1/namespaces/default/shops/blue"));
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(at("configmaps", "shared", "/data/of"), "amber");
      EXPECT_EQ(condition("amber", "Composed"), "True AsAsked");
    });
  });
}

TEST(HostileComposePacks, GetTheirVerdictAndNoAnswerOfTheirsIsTaken) {
  std::size_t asked = 0, taken = 0;
  for (const bench::hostile::pack& p : bench::hostile::packs()) {
    std::string source = p.policy;
    const std::string_view before = "rollout = {plan = ";
    const auto at = source.find(before);
    if (at == std::string::npos) continue;
    source.replace(
        at, before.size(),
        "composes = {parents = {{apiVersion = 'example.com/v1', kind = 'Shop'}}, children = "
        "{{apiVersion = 'v1', kind = 'ConfigMap'}}}, compose = {sync = ");
    reactor::loop l(reactor::loop::mode::simulated, 1);
    reactor::task_group tasks(l);
    tasks.start("ask", [&]() -> awaitable<void> {
      policies::pack_files files{{"policy.lua", source}};
      policies::sandbox_limits limits;
      limits.hooks = std::make_shared<const policies::hook_list>(
          policies::hook_list{policies::compose::sync_hook()});
      auto loaded = co_await policies::pack::load(l, "hostile", std::move(files), limits);
      if (!loaded || !(*loaded)->has("compose.sync")) co_return;
      ++asked;
      const auto q = policies::compose::typical_question();
      auto about = policies::compose::read_declaration((*loaded)->about());
      EXPECT_TRUE(about) << p.name;
      policies::judge accept = [q, &about](const policies::value& v) -> reactor::result<void> {
        auto read = policies::compose::read_answer(v, *about, *q->parent);
        if (!read) return read.error();
        // It is not what was asked: at best it says that there should be nothing.
        EXPECT_TRUE(read->children.empty());
        return {};
      };
      auto arguments = policies::compose::sync_arguments(q, l.wall());
      auto said = co_await policies::pack::call(*loaded, "compose.sync", std::move(arguments),
                                                policies::unit_instructions, accept);
      taken += said && said->accepted ? 1 : 0;
    });
    l.run();
    EXPECT_TRUE(tasks.empty()) << p.name;
  }
  EXPECT_GT(asked, 100u);
  std::cout << "## compose: " << asked << " hostile packs asked, " << taken << " answers taken\n";
}

}  // namespace
