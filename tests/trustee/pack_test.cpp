// The pack as the core asks it: real views, its answers read and planned, until nothing is left to
// do.
#include "policies/host/pack.hpp"

#include "formats/yaml/yaml.hpp"
#include "tests/compose/fake_world.hpp"
#include "tests/reactor/run.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <set>

namespace policies::compose {
namespace {

constexpr const char* group = "confidentialcontainers.org/v1alpha1";
constexpr const char* environment =
    R"({"environment": {"OPERATOR_IMAGE_NAME": "registry.example.com/windlass:1"}})";

/// The pack of the sources, loaded once for all tests.
class trustee_pack {
public:
  trustee_pack() {
    auto found = read_packs(std::string(WINDLASS_SOURCE_DIR) + "/policies/trustee");
    EXPECT_TRUE(found);
    if (!found) return;
    reactor::run_task(loop, [&]() -> reactor::awaitable<void> {
      pack_files files = found->front().files;
      auto loaded = co_await pack::load(loop, "trustee", std::move(files));
      EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message());
      if (loaded) it = std::move(*loaded);
    });
    auto data = std::make_shared<data_files>();
    for (const auto& [name, text] : found->front().files)
      if (name.starts_with("data/")) data->text.emplace(name.substr(5), text);
    data->text["settings.json"] = environment;
    files = std::move(data);
  }

  reactor::result<value> ask(std::shared_ptr<question> q) {
    return ask("compose.sync",
               sync_arguments(q, reactor::wall_time(std::chrono::seconds(1'800'000'000))),
               sync_instructions(*q));
  }
  reactor::result<value> ask(const std::string& hook, std::vector<argument> arguments,
                             std::int64_t budget) {
    reactor::result<value> out = reactor::make_fault(reactor::errc::closed, {});
    const std::clock_t before = std::clock();
    reactor::run_task(loop, [&]() -> reactor::awaitable<void> {
      value kept;
      judge accept = [&kept](const value& v) -> reactor::result<void> {
        kept = v;
        return {};
      };
      auto said = co_await pack::call(it, hook, std::move(arguments), budget, std::move(accept));
      if (!said) {
        out = said.error();
        co_return;
      }
      most_instructions = std::max<std::int64_t>(most_instructions, said->cost.instructions);
      out = std::move(kept);
    });
    const double ms = 1000.0 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    most_ms = std::max(most_ms, ms);
    all_ms += ms;
    ++calls;
    return out;
  }

  reactor::loop loop;
  std::shared_ptr<pack> it;
  std::shared_ptr<const data_files> files;
  std::int64_t most_instructions = 0;
  double most_ms = 0, all_ms = 0;
  int calls = 0;
};

trustee_pack& the_pack() {
  static trustee_pack one;
  return one;
}

/// A namespace with one parent. The pack sees what it asks for.
class instance : public fake_world {
public:
  explicit instance(const value& of) {
    objects.clear();
    auto says = read_declaration(the_pack().it->about());
    EXPECT_TRUE(says) << (says ? "" : says.error().message());
    if (says) about = *says;
    parent = id_of(of);
    put(of);
    for (const char* name : {"https", "token"})
      put(json(std::string(R"({"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/tls",
        "metadata":{"name":")") +
               name + R"(","namespace":"shops"},
        "digests":{"tls.key":"sha256:1","tls.crt":"sha256:2"}})"));
  }

  sync_answer answer() {
    auto q = std::make_shared<question>();
    q->parent = std::make_shared<object>(see(parent));
    q->files = the_pack().files;
    auto asked = the_pack().ask("compose.related", related_arguments(q), unit_instructions);
    if (!asked) throw std::runtime_error(asked.error().message());
    const auto wanted = read_related(*asked, about, *q->parent).value();
    for (const auto& [id, o] : objects) {
      if (id == parent) continue;
      auto seen = std::make_shared<object>(see(id));
      if (seen->controller_uid == q->parent->uid) q->children.emplace(key_of(id, parent.ns), seen);
      if (std::any_of(wanted.begin(), wanted.end(),
                      [&](const related_query& one) { return one.matches(id, seen->labels); }))
        q->related.emplace(key_of(id, parent.ns), std::move(seen));
    }
    auto said = the_pack().ask(q);
    if (!said) throw std::runtime_error(said.error().message());
    auto taken = read(*said);
    if (!taken) throw std::runtime_error(taken.error().message());
    return std::move(*taken);
  }

  /// How many passes it takes until one writes nothing; 9: too many.
  int settle_by_itself() {
    for (int passes = 1; passes < 9; ++passes) {
      last = plan_sync(look(), answer());
      if (last.actions.empty()) return passes;
      carry_out(last);
    }
    return 9;
  }

  std::string condition(const std::string& type) const {
    const object seen = see(parent);
    const value* c = condition_of(seen, type);
    return c == nullptr ? "none"
                        : *c->find("status")->if_string() + "/" + *c->find("reason")->if_string();
  }
  std::size_t count(const std::string& kind) const {
    return static_cast<std::size_t>(std::count_if(
        objects.begin(), objects.end(), [&](const auto& o) { return o.first.kind.kind == kind; }));
  }

  sync_plan last;
};

value trustee_config(const std::string& spec) {
  return json(
      std::string(R"({"apiVersion":")") + group +
      R"(","kind":"TrusteeConfig","metadata":{"name":"t","namespace":"shops","generation":1},"spec":)" +
      spec + "}");
}

const std::vector<std::string>& versions() {
  static const std::vector<std::string> all = {
      "v0.10.0", "v0.10.1", "v0.11.0", "v0.12.0", "v0.13.0", "v0.14.0", "v0.15.0", "v0.16.0",
      "v0.17.0", "v0.18.0", "v0.19.0", "v0.20.0", "v0.21.0", "v0.22.0", "latest"};
  return all;
}

enum class profile { permissive, restricted };
std::string spec_of(const std::string& version, profile which) {
  return R"({"version":")" + version + "\"" +
         (which == profile::restricted
              ? R"(,"profileType":"Restricted","httpsSpec":{"tlsSecretName":"https"},
           "attestationTokenVerificationSpec":{"tlsSecretName":"token"})"
              : "") +
         "}";
}

/// The servers of what an instance became, in a namespace of their own.
instance servers_of(const instance& config) {
  value kbs = config.objects.at({{group, "KbsConfig"}, "shops", "t-kbs-config"});
  instance out(kbs);
  for (const auto& [id, o] : config.objects)
    if (id.kind.kind == "ConfigMap" || id.kind.kind == "Secret") out.objects[id] = o;
  return out;
}

TEST(TrusteePack, EveryReleaseBecomesObjectsThatTheCoreTakesAndSettles) {
  for (const std::string& version : versions()) {
    for (const profile which : {profile::permissive, profile::restricted}) {
      SCOPED_TRACE(version + (which == profile::restricted ? " Restricted" : " Permissive"));
      instance config(trustee_config(spec_of(version, which)));
      EXPECT_LE(config.settle_by_itself(), 4);
      EXPECT_THAT(config.violations, testing::IsEmpty());
      EXPECT_THAT(config.last.holds, testing::IsEmpty());
      EXPECT_EQ(config.condition("InputsValid"), "True/Valid");
      EXPECT_EQ(config.condition("ConfigUpToDate"), "True/Current");
      ASSERT_EQ(config.count("KbsConfig"), 1u);
      instance servers = servers_of(config);
      EXPECT_LE(servers.settle_by_itself(), 4);
      EXPECT_THAT(servers.violations, testing::IsEmpty());
      EXPECT_THAT(servers.last.holds, testing::IsEmpty());
      EXPECT_EQ(servers.count("Deployment"), 1u);
      EXPECT_EQ(servers.count("Service"), 1u);
    }
  }
  const trustee_pack& p = the_pack();
  std::printf(
      "## trustee pack: a question takes %.2f ms of CPU (at most %.2f), %lld instructions at "
      "most\n",
      p.all_ms / p.calls, p.most_ms, static_cast<long long>(p.most_instructions));
}

TEST(TrusteePack, AChangedVersionWritesWhatItSaysAndSettlesAgain) {
  for (std::size_t i = 0; i < versions().size(); i += 2) {
    const std::string& from = versions()[i];
    const std::string& to = versions()[versions().size() - 1 - i];
    for (const char* policy : {"Preserve", "ReplaceIfUnmodified"}) {
      SCOPED_TRACE(from + " to " + to + " with " + policy);
      instance config(trustee_config(spec_of(from, profile::permissive)));
      config.settle_by_itself();
      config.edit(config.parent,
                  R"({"spec":{"version":")" + to + R"(","configUpdatePolicy":")" + policy + "\"}}");
      EXPECT_LE(config.settle_by_itself(), 5);
      EXPECT_THAT(config.violations, testing::IsEmpty());
      EXPECT_THAT(config.last.holds, testing::IsEmpty());
      const object_name kbs{{group, "KbsConfig"}, "shops", "t-kbs-config"};
      EXPECT_EQ(config.text(kbs, {"metadata", "annotations",
                                  "trustee-operator.confidentialcontainers.org/version"}),
                to);
    }
  }
}

TEST(TrusteePack, AnEditedConfigurationKeepsItsBytes) {
  instance config(trustee_config(spec_of("v0.18.0", profile::permissive)));
  config.settle_by_itself();
  const object_name map{{"v1", "ConfigMap"}, "shops", "t-kbs-config"};
  config.edit(map, R"({"data":{"kbs-config.toml":"# mine\n"}})");
  config.edit(config.parent,
              R"({"spec":{"version":"v0.21.0","configUpdatePolicy":"ReplaceIfUnmodified"}})");
  config.settle_by_itself();
  EXPECT_EQ(config.text(map, {"data", "kbs-config.toml"}), "# mine\n");
  EXPECT_EQ(config.condition("ConfigUpToDate"), "False/TemplateVersionMismatch");
}

TEST(TrusteePack, ADeathAfterAnyWriteMakesKeysOnce) {
  for (std::size_t writes = 0; writes < 12; ++writes) {
    SCOPED_TRACE(writes);
    instance config(trustee_config(spec_of("v0.21.0", profile::restricted)));
    config.carry_out(plan_sync(config.look(), config.answer()), writes);
    EXPECT_LE(config.settle_by_itself(), 5);
    EXPECT_THAT(config.violations, testing::IsEmpty());  // among them: nothing is generated again
  }
}

TEST(TrusteePack, ItLooksAtWhatItsObjectsNameAndAtNothingElse) {
  auto q = std::make_shared<question>();
  const instance config(trustee_config(spec_of("latest", profile::restricted)));
  q->parent = std::make_shared<object>(config.see(config.parent));
  const auto said = the_pack().ask("compose.related", related_arguments(q), unit_instructions);
  ASSERT_TRUE(said) << said.error().message();
  const auto read = read_related(*said, config.about, *q->parent);
  ASSERT_TRUE(read) << read.error().message();
  std::vector<std::string> names;
  for (const related_query& one : *read) names.push_back(one.kind.kind + "/" + one.name);
  EXPECT_THAT(names, testing::ElementsAre("Secret/attestation-status", "KbsConfig/t-kbs-config",
                                          "Secret/https", "Secret/token"));
}

TEST(TrusteePack, APodWaitsForItsInputsAndSaysWhich) {
  instance config(trustee_config(spec_of("latest", profile::permissive)));
  config.settle_by_itself();
  instance servers = servers_of(config);
  servers.objects.erase({{"v1", "Secret"}, "shops", "t-auth-secret"});
  servers.settle_by_itself();
  EXPECT_EQ(servers.count("Deployment"), 0u);
  EXPECT_EQ(servers.condition("Ready"), "False/InputMissing");
}

/// What deploy/ grants is what the pack declares: a kind that may not be listed holds every object.
TEST(TrusteePack, ItsClusterRoleMayReadEveryKindThatItDeclares) {
  const std::string path = "deploy/chart/templates/trustee.yaml";
  std::ifstream in(std::string(WINDLASS_SOURCE_DIR) + "/" + path);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  // The rules of the first role have nothing of a template in them.
  const std::size_t begin = text.find("\nrules:");
  ASSERT_NE(begin, text.npos);
  const auto role =
      formats::parse_kubernetes_yaml(text.substr(begin, text.find("\n{{-", begin) - begin), path);
  ASSERT_TRUE(role) << role.error().message();
  const auto has = [](const boost::json::value& list, const std::string& word) {
    const auto& all = list.as_array();
    return std::find(all.begin(), all.end(), boost::json::value(word)) != all.end();
  };
  const declaration about = instance(trustee_config("{}")).about;
  for (const auto* kinds : {&about.parents, &about.children, &about.related})
    for (const kind_name& k : *kinds) {
      const auto slash = k.api_version.find('/');
      const std::string of_group = slash == std::string::npos ? "" : k.api_version.substr(0, slash);
      std::string plural = k.kind;
      std::transform(plural.begin(), plural.end(), plural.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      plural = plural.ends_with("y") ? plural.substr(0, plural.size() - 1) + "ies" : plural + "s";
      std::set<std::string> verbs;
      for (const auto& rule : role->at("rules").as_array())
        if (has(rule.at("apiGroups"), of_group) && has(rule.at("resources"), plural))
          for (const auto& verb : rule.at("verbs").as_array())
            verbs.insert(std::string(verb.as_string()));
      EXPECT_THAT(verbs, testing::IsSupersetOf({"get", "list", "watch"}))
          << plural << " " << of_group;
      if (about.is_child(k)) {
        EXPECT_THAT(verbs, testing::IsSupersetOf({"create", "patch", "delete"})) << plural;
      }
    }
}

}  // namespace
}  // namespace policies::compose
