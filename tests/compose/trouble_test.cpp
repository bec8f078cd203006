// What goes wrong around compositions: kinds that come and go, refusals, packs that ask for too
// much, two names of one cluster.
#include "compose/same_cluster.hpp"
#include "compose/tables.hpp"
#include "reactor/net/memory_network.hpp"
#include "tests/compose/cluster_fixture.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <algorithm>

namespace {

using namespace compose_test;
class ComposeTrouble : public compose_cluster {
protected:
  /// A pack `p` whose sync is this body of `function(shop, related, children, files)`.
  void use_pack(reactor::temporary_folder& folder, const std::string& body,
                const std::string& composes = {}, const std::string& parent = {}) {
    folder.write("policy.lua",
                 R"lua(return { name = "p", version = "1",
  composes = { parents = { { apiVersion = "example.com/v1", kind = "Shop")lua" +
                     parent + R"lua( } }, children = { { apiVersion = "v1", kind = "ConfigMap" },
    { apiVersion = "v1", kind = "Secret" } } )lua" +
                     composes +
                     " },\n  compose = { sync = function(shop, related, children, files)\n" + body +
                     "\nend } }\n");
    policies_ = folder.path();
  }
  json::object crd(const std::string& plural, const std::string& kind) {
    std::string text = file("docs/compose/crd.yaml");
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"shops", plural},
                                   {"singular: shop", "singular: " + plural + "x"},
                                   {"ShopList", kind + "List"},
                                   {"Shop", kind}})
      for (std::size_t i = text.find(from); i != text.npos; i = text.find(from, i + to.size()))
        text.replace(i, from.size(), to);
    return formats::parse_kubernetes_yaml(text, "crd").value().as_object();
  }
};

constexpr const char* config_map =
    "local function map(name, data) return { object = { apiVersion = 'v1', kind = 'ConfigMap', "
    "metadata = { name = name }, "
    "data = data } } end\n";

TEST_F(ComposeTrouble, APackWorksInTheNamespacesThatItsVariableNames) {
  reactor::temporary_folder folder;
  const auto run = [&, this](const std::string& own, const std::string& shared) {
    make_world();
    for (const char* ns : {"east", "west"}) {
      server().put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
      json::object shop = manifest("docs/compose/shop.yaml");
      shop["metadata"].as_object()["name"] = "blue";
      shop["metadata"].as_object()["namespace"] = ns;
      server().put(std::move(shop));
    }
    folder.write("policy.lua", R"lua(return { name = "p", version = "1",
  composes = { namespaces_from = "SHOP_NAMESPACES", parents = { { apiVersion = "example.com/v1", kind = "Shop" } },
    children = { { apiVersion = "v1", kind = "ConfigMap" } } },
  compose = { sync = function(shop) return { children = { { object = { apiVersion = "v1", kind = "ConfigMap",
    metadata = { name = "made" }, data = { of = shop.name } } } } } end } })lua");
    policies_ = folder.path();
    variables_ = {{"SHOP_NAMESPACES", own}, {"WATCH_NAMESPACES", shared}};
    std::string where, said;
    go([&, this]() -> awaitable<void> {
      co_await serve([&, this](windlass& one) -> awaitable<void> {
        // One that comes later is no other case.
        json::object shop = manifest("docs/compose/shop.yaml");
        shop["metadata"].as_object()["name"] = "late";
        shop["metadata"].as_object()["namespace"] = "west";
        server().put(std::move(shop));
        co_await loop_->sleep_for(10s);
        for (const char* ns : {"default", "east", "west"}) {
          if (server().get("", "configmaps", ns, "made")) where += std::string(ns) + " ";
          for (const char* shop_name : {"blue", "late"}) {
            const auto there = server().get("example.com", "shops", ns, shop_name);
            EXPECT_TRUE(!there || there->contains("status") == (where.find(ns) != where.npos))
                << ns << "/" << shop_name;
          }
        }
        said = co_await one.said();
      });
    });
    return where + said;
  };
  EXPECT_THAT(run("", ""), HasSubstr("default east west "));
  EXPECT_THAT(run("*", "east"), HasSubstr("default east west "));
  const std::string east = run(" east ,default", "west");
  EXPECT_THAT(east, HasSubstr("default east row"));
  EXPECT_THAT(east, Not(HasSubstr("west")));
  EXPECT_THAT(east, HasSubstr("\"compositions\":2"));
  EXPECT_THAT(run("", "west"), HasSubstr("west row"));
  EXPECT_THAT(run("nowhere", ""), HasSubstr("\"compositions\":0"));
}

TEST_F(ComposeTrouble, OneChildThatIsRefusedKeepsNoOtherBackAndIsSaid) {
  reactor::temporary_folder folder;
  use_pack(folder, std::string(config_map) +
                       "return { children = { map('first', { a = 'b' }), map('second', { a = 'b' "
                       "}), { object = { "
                       "apiVersion = 'v1', kind = 'Secret', metadata = { name = 'third' }, data = "
                       "{ a = 'b' } } } } }");
  bool refused = true;
  server().before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (!refused || r.method == "GET" || r.path.find("/configmaps/first") == std::string::npos)
      return std::nullopt;
    k8s::sim::answer a;
    a.status = 422;
    a.body =
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","message":"a word too much","code":422})";
    return a;
  };
  go([&, this]() -> awaitable<void> {
    co_await serve([&, this](windlass& one) -> awaitable<void> {
      EXPECT_EQ(at("configmaps", "second", "/data/a"), "b");
      EXPECT_NE(at("secrets", "third", "/data/a"), "absent");
      EXPECT_EQ(condition("blue", "Composed"), "False WriteFailed");
      EXPECT_THAT(message("blue", "Composed"), HasSubstr("ConfigMap first"));
      EXPECT_THAT(message("blue", "Composed"), HasSubstr("a word too much"));
      // It is tried again, ever more rarely, and the status is written once.
      writes_ = 0;
      co_await loop_->sleep_for(20min);
      EXPECT_EQ(writes_, 0u);
      const std::string said = co_await one.said();
      EXPECT_THAT(said, HasSubstr("write-failed"));
      refused = false;
      co_await loop_->sleep_for(6min);
      EXPECT_EQ(at("configmaps", "first", "/data/a"), "b");
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
    });
    server().before = nullptr;
  });
}

/// A pack that says it is ready whatever there is, with events of its writes.
constexpr const char* talkative =
    "local first = map('first', { a = shop.spec.image }) "
    "first.events = { created = 'FirstCreated', updated = 'FirstUpdated', create_failed = "
    "'FirstCreateFailed', update_failed = { reason = 'FirstUpdateFailed', message = 'it stays' } } "
    "return { children = { first, map('second', { a = shop.spec.image }) }, status = { isReady = "
    "true, image = shop.spec.image }, conditions = { { type = 'Ready', status = 'True', reason = "
    "'Ready' } }, events = { { reason = 'Moved', message = 'to ' .. shop.spec.image }, { type = "
    "'Warning', reason = 'Odd', message = 'it is' } } }";

TEST_F(ComposeTrouble, AFailedWriteOfAnyKindIsToldAndKeepsNothingElseBack) {
  for (const int http : {400, 403, 409, 422, 429, 500, 503, 504, 0}) {
    SCOPED_TRACE(http);
    make_world();
    reactor::temporary_folder folder;
    use_pack(folder, std::string(config_map) + talkative, "", ", reporter = 'shop-controller'");
    bool fails = true;
    server().before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (!fails || r.method == "GET" || r.path.find("/configmaps/first") == std::string::npos)
        return std::nullopt;
      k8s::sim::answer a;
      a.status = http;
      a.drop = http == 0;
      a.body =
          R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"X","message":"expected list, got map","code":)" +
          std::to_string(http) + "}";
      return a;
    };
    const std::string words = http == 0 ? "" : "expected list, got map";
    go([&, this]() -> awaitable<void> {
      co_await serve([&, this](windlass&) -> awaitable<void> {
        co_await loop_->sleep_for(3min);
        EXPECT_EQ(at("configmaps", "first", ""), "absent");
        EXPECT_NE(at("configmaps", "second", "/data/a"), "absent");
        EXPECT_EQ(condition("blue", "Composed"), "False WriteFailed");
        EXPECT_THAT(message("blue", "Composed"), HasSubstr("ConfigMap first: create: "));
        EXPECT_THAT(message("blue", "Composed"), HasSubstr(words));
        EXPECT_EQ(condition("blue", "Ready"), "False ChildMissing");
        EXPECT_THAT(message("blue", "Ready"), HasSubstr("ConfigMap first"));
        EXPECT_EQ(at("shops", "blue", "/status/isReady"), "false");
        EXPECT_NE(at("shops", "blue", "/status/image"), "nothing");
        EXPECT_EQ(told("FirstCreated"), "") << "it was not";
        EXPECT_EQ(told("Moved"), "") << "it speaks of writes";
        EXPECT_THAT(told("FirstCreateFailed"), HasSubstr("Warning ConfigMap first: create: "));
        EXPECT_THAT(told("FirstCreateFailed"), HasSubstr(words));
        EXPECT_EQ(told("Odd"), "Warning it is");
        EXPECT_EQ(told("Odd", "reportingComponent"), "Warning shop-controller");
        EXPECT_EQ(told("Held"), "") << "the pack has an event of its own";
        fails = false;
        co_await loop_->sleep_for(6min);
        EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
        EXPECT_EQ(condition("blue", "Ready"), "True Ready");
        EXPECT_EQ(at("shops", "blue", "/status/isReady"), "true");
        EXPECT_EQ(told("FirstCreated"), "Normal ConfigMap first is created");
        EXPECT_THAT(told("Moved"), HasSubstr("Normal to "));
        EXPECT_EQ(told("FirstUpdated"), "");
        fails = true;
        server().edit("example.com", "shops", "default", "blue",
                      [](json::object& shop) { shop["spec"].as_object()["image"] = "new"; });
        co_await loop_->sleep_for(3min);
        EXPECT_EQ(at("configmaps", "second", "/data/a"), "new");
        EXPECT_THAT(message("blue", "Composed"), HasSubstr("ConfigMap first: change: "));
        EXPECT_EQ(condition("blue", "Ready"), "True Ready") << "the child is there";
        EXPECT_THAT(told("FirstUpdateFailed"),
                    HasSubstr("Warning it stays: ConfigMap first: change: "));
        EXPECT_EQ(told("FirstUpdated"), "");
        fails = false;
        co_await loop_->sleep_for(6min);
        EXPECT_THAT(told("FirstUpdated"), HasSubstr("ConfigMap first is changed: data.a: "));
      });
      server().before = nullptr;
    });
  }
}

TEST_F(ComposeTrouble, AnEmptyListReachesTheServerAsOneHoweverThePackSaysIt) {
  const char* ways[] = {"list()",
                        "json.decode('[]')",
                        "yaml.decode('env: []').env",
                        "{}",
                        "copy(yaml.decode('env: []')).env",
                        "fill(yaml.decode('env: []'), {}).env"};
  for (const char* way : ways) {
    SCOPED_TRACE(way);
    make_world();
    reactor::temporary_folder folder;
    std::string body =
        "return { children = { { object = { apiVersion = 'apps/v1', kind = 'Deployment', metadata "
        "= { name = 'd' }, spec = { selector = { matchLabels = { a = 'b' } }, template = { "
        "metadata "
        "= { labels = { a = 'b' } }, spec = { containers = { { name = 'c', image = 'i', env = ";
    body += std::string(way) + ", resources = {} } } } } } } } } }";
    folder.write("policy.lua",
                 R"lua(return { name = "p", version = "1",
  composes = { parents = { { apiVersion = "example.com/v1", kind = "Shop" } }, children = { { apiVersion = "apps/v1", kind = "Deployment" } } },
  compose = { sync = function()
)lua" + body + "\nend } }\n");
    policies_ = folder.path();
    go([&, this]() -> awaitable<void> {
      co_await serve([&, this](windlass&) -> awaitable<void> {
        EXPECT_EQ(condition("blue", "Composed"), "True AsAsked") << message("blue", "Composed");
        EXPECT_EQ(at("deployments", "d", "/spec/template/spec/containers/0/image"), "i");
        writes_ = 0;
        co_await loop_->sleep_for(10min);
        EXPECT_EQ(writes_, 0u);
        co_return;
      });
    });
  }
}

/// A name that is none comes from the user: the rest of the object goes on, and the pack tells it.
TEST_F(ComposeTrouble, ANameOfAUserThatIsNoneKeepsNothingElseBack) {
  reactor::temporary_folder folder;
  folder.write("policy.lua",
               R"lua(return { name = "p", version = "1",
  composes = { parents = { { apiVersion = "example.com/v1", kind = "Shop" } }, children = { { apiVersion = "v1", kind = "ConfigMap" } } },
  compose = { related = function(shop) return { objects = { { apiVersion = "v1", kind = "ConfigMap", name = shop.spec.image } } } end,
    sync = function(shop, related)
      local problem = k8s.name_problem(shop.spec.image)
      return { children = { { object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "made" } } } },
        conditions = { { type = "Ready", status = problem and "False" or "True", reason = problem and "Named" or "Fine",
          message = problem and "spec.image: " .. problem or "" } } }
    end } })lua");
  policies_ = folder.path();
  server().edit("example.com", "shops", "default", "blue",
                [](json::object& shop) { shop["spec"].as_object()["image"] = "myImage"; });
  go([&, this]() -> awaitable<void> {
    co_await serve([&, this](windlass&) -> awaitable<void> {
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
      EXPECT_EQ(condition("blue", "Ready"), "False Named");
      EXPECT_THAT(message("blue", "Ready"), HasSubstr("spec.image: 'myImage' is no name"));
      EXPECT_NE(at("configmaps", "made", ""), "absent");
      co_return;
    });
  });
}

TEST_F(ComposeTrouble, AKindThatGoesAndComesBackTakesNothingWithIt) {
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass& one) -> awaitable<void> {
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
      server().erase("example.com", "shops", "default", "blue");
      server().erase("apiextensions.k8s.io", "customresourcedefinitions", "", "shops.example.com");
      co_await loop_->sleep_for(3min);
      EXPECT_TRUE(one.fleet.clusters().front()->is_live());
      server().put(manifest("docs/compose/crd.yaml"));
      put_shop("green");
      co_await loop_->sleep_for(6min);
      EXPECT_EQ(at("configmaps", "green-shop", "/data/greeting"), "hello");
    });
  });
}

TEST_F(ComposeTrouble, AChildsKindThatIsNotServedIsAConditionUntilItIs) {
  reactor::temporary_folder folder;
  use_pack(folder,
           "return { children = { { object = { apiVersion = 'example.com/v1', kind = 'Lamp', "
           "metadata = { name = 'l' }, "
           "spec = { image = 'i' } } } } }",
           ", related = { { apiVersion = 'example.com/v1', kind = 'Lamp' } }");
  std::string pack = file("docs/compose/shop/policy.lua");
  {
    std::ifstream in(folder / "policy.lua");
    pack.assign(std::istreambuf_iterator<char>(in), {});
    const std::string map = "{ apiVersion = \"v1\", kind = \"ConfigMap\" }";
    pack.replace(pack.find(map), map.size(),
                 "{ apiVersion = \"example.com/v1\", kind = \"Lamp\" }");
    folder.write("policy.lua", pack);
  }
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass&) -> awaitable<void> {
      EXPECT_EQ(condition("blue", "Composed"), "False MissingKind");
      EXPECT_THAT(message("blue", "Composed"), HasSubstr("Lamp example.com/v1"));
      server().put(crd("lamps", "Lamp"));
      co_await loop_->sleep_for(3min);
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
      EXPECT_TRUE(server().get("example.com", "lamps", "default", "l").has_value());
    });
  });
}

TEST_F(ComposeTrouble, SeveralKindsOfParentsAreOnePacksAffair) {
  reactor::temporary_folder folder;
  use_pack(folder, std::string(config_map) +
                       "return { children = { map(shop.kind:lower() .. '-' .. shop.name, { of = "
                       "shop.kind }) }, status = { of = "
                       "shop.kind } }");
  std::string pack;
  {
    std::ifstream in(folder / "policy.lua");
    pack.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::string shops = "{ apiVersion = \"example.com/v1\", kind = \"Shop\" }";
  pack.replace(pack.find(shops), shops.size(),
               shops + ", { apiVersion = \"example.com/v1\", kind = \"Stall\" }");
  folder.write("policy.lua", pack);
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass& one) -> awaitable<void> {
      // The kind that is served works without the other.
      EXPECT_EQ(at("configmaps", "shop-blue", "/data/of"), "Shop");
      server().put(crd("stalls", "Stall"));
      server().put({{"apiVersion", "example.com/v1"},
                    {"kind", "Stall"},
                    {"metadata", {{"name", "blue"}, {"namespace", "default"}}},
                    {"spec", {{"image", "i"}}}});
      co_await loop_->sleep_for(3min);
      EXPECT_EQ(at("configmaps", "stall-blue", "/data/of"), "Stall");
      const std::string said = co_await one.said();
      EXPECT_THAT(said, HasSubstr("p/Shop"));
      EXPECT_THAT(said, HasSubstr("p/Stall"));
    });
  });
}

TEST_F(ComposeTrouble, APackThatThereIsNotIsAConditionOfWhoNamesIt) {
  server().edit("example.com", "shops", "default", "blue", [](json::object& shop) {
    shop["metadata"].as_object()["annotations"] = {{"windlass.dev/policy", "nobody"}};
  });
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass&) -> awaitable<void> {
      EXPECT_EQ(condition("blue", "Composed"), "False Policy");
      EXPECT_EQ(at("configmaps", "blue-shop", ""), "absent");
      server().edit("example.com", "shops", "default", "blue", [](json::object& shop) {
        shop["metadata"].as_object()["annotations"] = {{"windlass.dev/policy", "shop"}};
      });
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
    });
  });
}

TEST_F(ComposeTrouble, AnswersThatAskForTooMuchOrForStrangersChangeNothing) {
  struct wrong {
    const char *body, *says;
  };
  const std::string first = config_map;
  for (const auto& [body, says] : {
           wrong{"local all = {} for i = 1, 10000 do all[i] = map('m' .. i, {}) end return { "
                 "children = all }",
                 "are more than 500"},
           wrong{"return { children = { { object = { apiVersion = 'v1', kind = 'Node', metadata = "
                 "{ name = 'n' } } } } }",
                 "v1 Node is not among composes.children"},
           wrong{"return { children = { map('No Name', {}) } }",
                 "'No Name' is no name of an object"},
           wrong{"return { children = { map('a', {}), map('a', {}) } }", "is there twice"},
           wrong{"local m = map('a', {}) m.object.metadata.namespace = 'kube-system' return { "
                 "children = { m } }",
                 "lie in its namespace"},
           wrong{"local m = map('a', {}) m.object.metadata.ownerReferences = {} return { children "
                 "= { m } }",
                 "only name, namespace, labels and annotations"},
       }) {
    make_world();
    reactor::temporary_folder folder;
    use_pack(folder, first + "if shop.spec.replicas == 9 then " + body +
                         " end return { children = { map('kept', { a = 'b' }) } }");
    go([&, this]() -> awaitable<void> {
      co_await serve([&, this](windlass&) -> awaitable<void> {
        EXPECT_EQ(at("configmaps", "kept", "/data/a"), "b");
        server().edit("example.com", "shops", "default", "blue",
                      [](json::object& shop) { shop["spec"].as_object()["replicas"] = 9; });
        co_await loop_->sleep_for(10s);
        EXPECT_EQ(condition("blue", "Composed"), "False PolicyFault") << body;
        EXPECT_THAT(message("blue", "Composed"), HasSubstr(says));
        EXPECT_EQ(at("configmaps", "kept", "/data/a"), "b");
        EXPECT_EQ(at("configmaps", "a", ""), "absent");
      });
    });
  }
}

TEST_F(ComposeTrouble, AChildThatOwnsItsParentIsLeftAlone) {
  reactor::temporary_folder folder;
  use_pack(folder,
           std::string(config_map) + "return { children = { map('mother', { a = 'b' }) } }");
  const json::object mother =
      server().put({{"apiVersion", "v1"},
                    {"kind", "ConfigMap"},
                    {"metadata", {{"name", "mother"}, {"namespace", "default"}}},
                    {"data", {{"a", "theirs"}}}});
  server().edit("example.com", "shops", "default", "blue", [&](json::object& shop) {
    shop["metadata"].as_object()["ownerReferences"] =
        json::array{json::object{{"apiVersion", "v1"},
                                 {"kind", "ConfigMap"},
                                 {"name", "mother"},
                                 {"uid", mother.at("metadata").at("uid")}}};
  });
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass&) -> awaitable<void> {
      EXPECT_EQ(at("configmaps", "mother", "/data/a"), "theirs");
      EXPECT_EQ(condition("blue", "Composed"), "False Conflict");
      EXPECT_THAT(message("blue", "Composed"), HasSubstr("owns its own parent"));
      co_return;
    });
  });
}

TEST_F(ComposeTrouble, AnObjectThatAppearsBetweenOurReadAndOurWriteIsNotTakenOver) {
  bool appeared = false;
  server().before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    if (appeared || r.method != "PATCH" ||
        r.path.find("/configmaps/blue-shop") == std::string::npos)
      return std::nullopt;
    appeared = true;
    server().put({{"apiVersion", "v1"},
                  {"kind", "ConfigMap"},
                  {"metadata", {{"name", "blue-shop"}, {"namespace", "default"}}},
                  {"data", {{"another", "field"}}}});
    return std::nullopt;
  };
  go([&, this]() -> awaitable<void> {
    co_await serve([&, this](windlass&) -> awaitable<void> {
      co_await loop_->sleep_for(1min);
      EXPECT_TRUE(appeared);
      EXPECT_EQ(at("configmaps", "blue-shop", "/data"), "{\"another\":\"field\"}");
      EXPECT_EQ(at("configmaps", "blue-shop", "/metadata/ownerReferences"), "nothing");
      EXPECT_EQ(condition("blue", "Composed"), "False Conflict");
    });
    server().before = nullptr;
  });
}

TEST_F(ComposeTrouble, WhatAHalfOpenStreamDidNotTellIsLearntBeforeAnythingIsWritten) {
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass&) -> awaitable<void> {
      const std::string key = at("secrets", "blue-shop", "/data/key");
      auto& net = reactor::memory_network::of(*loop_);
      net.set_reach("cluster", reactor::memory_network::reach::blackhole);
      server().edit("", "configmaps", "default", "blue-shop", [](json::object& c) {
        c["data"].as_object()["greeting"] = "edited";
        c["data"].as_object()["theirs"] = "stays";
      });
      co_await loop_->sleep_for(5s);
      net.set_reach("cluster", reactor::memory_network::reach::open);
      put_shop("blue", 5);
      co_await loop_->sleep_for(3min);
      EXPECT_EQ(at("configmaps", "blue-shop", "/data/greeting"), "hello");
      EXPECT_EQ(at("configmaps", "blue-shop", "/data/theirs"), "stays");
      EXPECT_EQ(at("deployments", "blue-shop", "/spec/replicas"), "5");
      EXPECT_EQ(at("secrets", "blue-shop", "/data/key"), key);
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
    });
  });
}

TEST_F(ComposeTrouble, ASourceThatVanishesLeavesTheCopyAndSaysNothingUntrue) {
  reactor::temporary_folder folder;
  use_pack(folder,
           "return { children = { { object = { apiVersion = 'v1', kind = 'Secret', metadata = { "
           "name = 'copy' }, data = { k = { "
           "copy = { secret = 'source', key = 'k' } } } } } } }");
  go([this]() -> awaitable<void> {
    co_await serve([this](windlass&) -> awaitable<void> {
      EXPECT_EQ(condition("blue", "Composed"), "False WaitsForSource");
      EXPECT_EQ(at("secrets", "copy", ""), "absent");
      server().put({{"apiVersion", "v1"},
                    {"kind", "Secret"},
                    {"metadata", {{"name", "source"}, {"namespace", "default"}}},
                    {"data", {{"k", "b25l"}}}});
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(at("secrets", "copy", "/data/k"), "b25l");
      EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
      server().erase("", "secrets", "default", "source");
      co_await loop_->sleep_for(2min);
      EXPECT_EQ(at("secrets", "copy", "/data/k"), "b25l");
    });
  });
}

/// Home alone is a member of its own fleet, and is there twice.
TEST_F(ComposeTrouble, AClusterOfTwoNamesHasOneWhoWrites) {
  std::size_t tried = 0;
  go([&, this]() -> awaitable<void> {
    server().before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      tried += r.method == "POST" && r.path.ends_with("/secrets") ? 1 : 0;
      return std::nullopt;
    };
    auto one = a_windlass();
    k8s::cluster_options h;
    h.name = "home";
    k8s::cluster home(*loop_, there(), std::move(h), log_);
    co_await one->start(there());
    one->start_at_home(home);
    home.start();
    co_await loop_->sleep_for(1min);
    EXPECT_EQ(tried, 1u) << "the other does not even try";
    EXPECT_EQ(condition("blue", "Composed"), "True AsAsked");
    EXPECT_TRUE(home.find("compose")->is_live());
    // Without the member, home works.
    co_await one->fleet.withdraw("compose");
    server().erase("", "configmaps", "default", "blue-shop");
    co_await loop_->sleep_for(1min);
    EXPECT_EQ(at("configmaps", "blue-shop", "/data/greeting"), "hello");
    co_await home.stop();
    co_await one->stop();
    server().before = nullptr;
  });
}

TEST(SameCluster, MembersComeBeforeHomeAndThenTheNameDecides) {
  // Which of them are one is the fleet's to say.
  reactor::loop l(reactor::loop::mode::simulated, 1);
  std::map<std::string, std::unique_ptr<k8s::cluster>> clusters;
  std::map<const k8s::cluster*, std::string> server;
  std::set<const k8s::cluster*> refused;
  compose::same_cluster all(
      [&](const k8s::cluster& a, const k8s::cluster& b) { return server.at(&a) == server.at(&b); },
      [&](const k8s::cluster& c) { return !refused.contains(&c); });
  int woken = 0;
  const auto who = [&](const char* of, compose::same_cluster::place at, const char* name) {
    auto& c = clusters[name];
    k8s::cluster_options o;
    o.name = name;
    k8s::connection to;
    to.server = std::string("http://") + name + ":6443";
    c = std::make_unique<k8s::cluster>(l, std::move(to), std::move(o));
    server[c.get()] = of;
    return std::make_unique<compose::same_cluster::seat>(
        all, compose::same_cluster::who{c.get(), at, name, [&] { ++woken; }});
  };
  using enum compose::same_cluster::place;
  auto at_home = who("1", home, "a");
  EXPECT_TRUE(at_home->works());
  auto late = who("1", member, "c");
  EXPECT_FALSE(at_home->works());
  EXPECT_TRUE(late->works());
  EXPECT_EQ(woken, 1);
  auto early = who("1", member, "b"), other = who("2", member, "d");
  EXPECT_FALSE(late->works());
  EXPECT_TRUE(early->works() && other->works());
  refused.insert(clusters["b"].get());
  EXPECT_TRUE(late->works());
  EXPECT_FALSE(early->works());
  refused.insert(clusters["c"].get());
  EXPECT_TRUE(at_home->works()) << "its credentials are those that work";
  EXPECT_FALSE(early->works() || late->works());
  refused.insert(clusters["a"].get());
  EXPECT_TRUE(early->works()) << "of those that cannot act, one is named";
  EXPECT_FALSE(late->works() || at_home->works());
  refused.clear();
  early.reset();
  late.reset();
  EXPECT_TRUE(at_home->works());
  EXPECT_EQ(woken, 1 + 2 + 2 + 1);
  at_home.reset();
  other.reset();
}

TEST(ComposeTables, EachHoldOfThePlannerHasItsCondition) {
  for (const std::string_view code : policies::compose::hold_code::all) {
    if (code == "paused") continue;  // nothing is written then
    std::string reason;
    bool capital = true;
    for (const char c : code) {
      if (c != '-') reason += capital ? static_cast<char>(c - 'a' + 'A') : c;
      capital = c == '-';
    }
    EXPECT_TRUE(std::ranges::any_of(compose::conditions, [&](const units::condition_kind& k) {
      return k.type == "Composed" && k.reason == reason;
    })) << reason;
  }
}

}  // namespace
