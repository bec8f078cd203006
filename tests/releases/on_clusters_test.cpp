// Releases on a fleet, in virtual time: 30 embedded clusters on three providers, real Releases at
// home. What `plan` says is what happens, unit by unit; what is denied or not known moves nothing;
// who did not opt in is never touched.
#include "bootc/api.hpp"
#include "formats/yaml/yaml.hpp"
#include "reactor/loop.hpp"
#include "releases/api.hpp"
#include "releases/rules/repository.hpp"
#include "simulation/node_world.hpp"
#include "tests/bootc/tags/scripted_tags.hpp"
#include "tests/reactor/temporary_folder.hpp"
#include "tests/simulation/fleet_service.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace json = boost::json;
using reactor::awaitable;

const std::string source = WINDLASS_SOURCE_DIR, repository = "registry.demo.local/os/node:";

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(in) << file;
  return text.str();
}

json::object object_in(const fs::path& file) {
  auto read = formats::parse_kubernetes_yaml(text_of(file), file.string());
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  return read ? read->as_object() : json::object();
}

struct provider {
  const char *name, *folder, *from, *to;
};
constexpr provider providers[] = {{"aws", "capa", "34.4.1", "34.5.0"},
                                  {"azure", "azure", "34.4.0", "34.5.0"},
                                  {"cloud-director", "cloud-director", "34.4.0", "34.5.0"}};

json::object release(const provider& p, const std::string& version) {
  return object_in(source + "/tests/data/releases/" + p.folder + "/v" + version + ".yaml");
}

std::string component(const json::object& release, std::string_view name) {
  for (const json::value& c : release.at("spec").at("components").as_array())
    if (c.at("name") == json::string(name)) return std::string(c.at("version").as_string());
  return {};
}

/// By the contract's pattern, not by ours.
std::string image_of(const json::object& r) {
  return "flatcar-stable-" + component(r, "flatcar") + "-kube-" + component(r, "kubernetes") +
         "-tooling-" + component(r, "os-tooling") + "-gs";
}

std::string digest_of(std::string_view image) {
  return std::string(image.substr(image.find('@') + 1));
}

using rows_by_cluster = std::map<std::string, std::vector<units::plan_row>>;

class ReleasesOnClusters : public testing::Test {
protected:
  explicit ReleasesOnClusters(std::size_t of_each = 10, std::size_t nodes = 2) {
    simulation::node_world_options o;
    o.mishaps = false;
    for (const provider& p : providers)
      for (std::size_t i = 0; i < of_each; ++i) {
        simulation::fleet_cluster c;
        c.name = std::string(p.name) + "-" + std::to_string(i);
        c.nodes = nodes;
        c.max_unavailable = "1";
        c.labels["windlass.dev/provider"] = p.name;
        c.labels["release.giantswarm.io/version"] = p.from;
        o.fleet.push_back(std::move(c));
      }
    world_ = std::make_unique<simulation::node_world>(loop_, std::move(o));
    world_->home_api().put(
        {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "kube-system"}}}});
    world_->home_api().put(object_in(source + "/deploy/crds/releases.yaml"));
    for (const provider& p : providers)
      for (const std::string version : {p.from, p.to}) offer(release(p, version), version == p.to);
    // The rules of the program, with where an image of such a name is fetched.
    for (const auto& file : fs::directory_iterator(source + "/policies/releases/default")) {
      const std::string name = file.path().filename().string();
      std::string text = text_of(file.path());
      if (name.ends_with("_test.lua")) continue;
      if (name == "providers.lua")
        for (std::size_t at = 0; (at = text.find("name = current", at)) != std::string::npos;
             at += 80)
          text.insert(at, "ref = \"" + repository + "{image}\",\n        ");
      folder_.write("ours/" + name, text);
    }
    for (std::size_t i = 0; i < world_->pools().size(); ++i) {
      simulation::pool_cluster& c = *world_->pools()[i];
      const provider& p = providers[i / of_each];
      c.set_image(repository + image_of(release(p, p.from)));
      annotate(c, "windlass.dev/release", "cluster");
      c.on_write = [this, &c](const k8s::sim::written& w) {
        if (w.plural == "bootcnodepools" && w.before && w.before->at("spec") != w.after->at("spec"))
          ++specs_written_[c.name()];
      };
    }
    world_->home_api().on_write = [this](const k8s::sim::written& w) {
      if (w.plural == "releases") ++releases_written_;
    };
  }
  ~ReleasesOnClusters() override { EXPECT_EQ(loop_.live(), reactor::live_counts()); }

  void offer(json::object r, bool is_new) {
    tags_.now[repository + image_of(r)] =
        digest_of(is_new ? simulation::new_image : simulation::old_image);
    world_->home_api().put(std::move(r));
  }
  static void annotate(simulation::pool_cluster& c, const char* key, const char* value) {
    c.api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [&](json::object& pool) {
      json::value& all = pool["metadata"].as_object()["annotations"];
      if (!all.is_object()) all.emplace_object();
      all.get_object()[key] = value;
    });
  }
  void label(const std::string& cluster, const char* key, const std::string& value) {
    world_->home_api().edit("", "secrets", "default", cluster, [&](json::object& secret) {
      secret["metadata"].as_object()["labels"].as_object()[key] = value;
    });
  }
  void ask_everybody_for_the_new_one() {
    for (std::size_t i = 0; i < world_->pools().size(); ++i)
      label(world_->pools()[i]->name(), "release.giantswarm.io/version",
            providers[i * std::size(providers) / world_->pools().size()].to);
  }
  simulation::pool_cluster& cluster(const std::string& name) {
    for (simulation::pool_cluster* c : world_->pools())
      if (c->name() == name) return *c;
    ADD_FAILURE() << name;
    return *world_->pools().front();
  }
  std::string ref_of(const std::string& name) {
    const auto pool = cluster(name).api().get("node.bootc.dev", "bootcnodepools", "", "workers");
    return pool ? std::string(pool->at("spec").at("image").at("ref").as_string()) : std::string();
  }
  /// "False NeedsApproval nodes.roll-in-patch"
  std::string condition(const std::string& name, std::string_view type) {
    const auto r = world_->home_api().get("release.giantswarm.io", "releases", "", name);
    const json::value* status = r ? r->if_contains("status") : nullptr;
    if (!status) return "none";
    for (const json::value& c : status->at("conditions").as_array())
      if (c.at("type") == json::string(type))
        return std::string(c.at("status").as_string()) + " " +
               std::string(c.at("reason").as_string()) + " " +
               std::string(c.at("message").as_string());
    return "none";
  }
  /// Events of either form, whose fields differ.
  std::string events_at_home(const std::string& reason) {
    std::string texts;
    for (const json::object& e : world_->home_api().list("events.k8s.io", "events"))
      if (e.at("reason") == json::string(reason)) texts += json::serialize(e) + "\n";
    return texts;
  }

  std::unique_ptr<simulation::fleet_service> service(units::mode does) {
    bootc::settings nodes;
    nodes.tags = &tags_;
    std::vector<units::api> apis;
    apis.push_back(bootc::api(std::move(nodes)));
    apis.push_back(releases::api());
    return std::make_unique<simulation::fleet_service>(
        loop_, world_->home(), std::move(apis), does, folder_.path(),
        reactor::logger([this] { return loop_.wall(); }, lines_), brake_);
  }
  void run(std::function<awaitable<void>()> story) {
    reactor::task_group tasks(loop_);
    tasks.start("story", [this, story]() -> awaitable<void> {
      auto up = world_->start();
      EXPECT_TRUE(up);
      co_await story();
      co_await world_->stop();
    });
    loop_.run();
    EXPECT_TRUE(world_->violations().empty()) << world_->violations().front();
    world_.reset();
  }
  /// What a service does within that time.
  awaitable<void> serve(reactor::nanoseconds time) {
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(time);
    co_await w->stop();
  }
  awaitable<rows_by_cluster> plan() {
    auto looking = service(units::mode::look);
    co_await looking->start();
    rows_by_cluster all = co_await looking->overview("releases");
    co_await looking->stop();
    co_return all;
  }
  static std::map<std::string, units::unit> units_of(const rows_by_cluster& all) {
    std::map<std::string, units::unit> found;
    for (const auto& [cluster, rows] : all)
      for (const units::plan_row& r : rows)
        for (const units::unit& u : r.units) found.emplace(cluster, u);
    return found;
  }
  static std::map<std::string, units::hold> holds_of(const rows_by_cluster& all) {
    std::map<std::string, units::hold> found;
    for (const auto& [cluster, rows] : all)
      for (const units::plan_row& r : rows)
        for (const units::hold& h : r.holds) found.emplace(cluster, h);
    return found;
  }
  static std::string detail(const units::unit& u, std::string_view key) {
    for (const units::detail& d : u.details)
      if (d.key == key) return std::get<std::string>(d.value);
    return {};
  }
  std::size_t specs_written() const {
    std::size_t n = 0;
    for (const auto& [name, times] : specs_written_) n += times;
    return n;
  }

  reactor::loop loop_{reactor::loop::mode::simulated, 15};
  reactor::temporary_folder folder_;
  bootc::testing::scripted_tags tags_{loop_};
  std::unique_ptr<simulation::node_world> world_;
  units::brake brake_;
  std::map<std::string, std::size_t> specs_written_;
  std::size_t releases_written_ = 0;
  std::shared_ptr<reactor::log_capture> lines_ = std::make_shared<reactor::log_capture>();
};

/// Two of each provider, so that one comes after the other.
class ReleasesOnPairs : public ReleasesOnClusters {
protected:
  ReleasesOnPairs() : ReleasesOnClusters(2, 2) {}
};

/// Fewer of them, where it does not take thirty.
class ReleasesOnAFewClusters : public ReleasesOnClusters {
protected:
  ReleasesOnAFewClusters() : ReleasesOnClusters(1, 2) {}
};

TEST_F(ReleasesOnClusters, WhatPlanSaidIsWhatHappensToEachOfThirtyClusters) {
  // Some of them are not like the others: two majors behind, a Release that is not there, one that
  // nobody opted in.
  const provider& aws = providers[0];
  offer(release(aws, "32.4.0"), false);
  cluster("aws-3").set_image(repository + image_of(release(aws, "32.4.0")));
  annotate(cluster("aws-5"), "windlass.dev/release", "no");
  const std::string untouched = ref_of("aws-5");
  specs_written_.clear();  // what a person wrote so far
  run([&]() -> awaitable<void> {
    co_await serve(3min);
    EXPECT_EQ(specs_written(), 0u) << "everybody has what the labels say";
    EXPECT_EQ(world_->hosts_on(simulation::old_image), world_->node_count());
    ask_everybody_for_the_new_one();
    label("azure-2", "release.giantswarm.io/version", "34.9.0");

    const rows_by_cluster before = co_await plan();
    EXPECT_EQ(specs_written(), 0u) << "who looks writes nothing";
    const auto said = units_of(before);
    const auto holds = holds_of(before);
    EXPECT_EQ(said.size(), 29u);
    EXPECT_EQ(holds.size(), 2u);
    const auto skip = holds.find("aws-3"), unknown = holds.find("azure-2");
    EXPECT_TRUE(skip != holds.end() && skip->second.code == "release-denied" &&
                skip->second.sentence.find("k8s.minor-skip") != std::string::npos)
        << (skip == holds.end() ? "" : skip->second.sentence);
    EXPECT_TRUE(unknown != holds.end() && unknown->second.code == "release-unknown");
    const std::string step =
        image_of(release(aws, aws.from)) + " → " + image_of(release(aws, aws.to)) + ", rolls nodes";
    EXPECT_EQ(said.contains("aws-0") ? detail(said.at("aws-0"), "step") : "", step);

    co_await serve(20min);
    for (const auto& [name, unit] : said) {
      const bool moves = unit.state == "Due";
      EXPECT_EQ(moves, !holds.contains(name)) << name << " " << unit.state;
      EXPECT_EQ(ref_of(name), detail(unit, moves ? "targetRef" : "ref")) << name;
      EXPECT_EQ(specs_written_[name], moves ? 1u : 0u) << name;
      const auto progress = cluster(name).pool_progress();
      EXPECT_EQ(progress.updated, moves ? 2u : 0u) << name;
      EXPECT_EQ(progress.up_to_date, "AllUpdated") << name << ": " << progress.message;
    }
    EXPECT_EQ(ref_of("aws-5"), untouched);
    EXPECT_EQ(specs_written_["aws-5"], 0u);
    EXPECT_EQ(world_->hosts_on(simulation::new_image), 27u * 2);

    const rows_by_cluster after = co_await plan();
    std::size_t arrived = 0;
    for (const auto& [name, unit] : units_of(after)) arrived += unit.state == "Arrived";
    EXPECT_EQ(arrived, 27u);
    EXPECT_EQ(holds_of(after).size(), 2u) << "who waited still waits, for the same reason";
    const std::size_t written = specs_written(), at_home = releases_written_;
    const std::uint64_t all = world_->writes();
    co_await serve(20min);
    EXPECT_EQ(specs_written(), written) << "a settled fleet costs no writes";
    EXPECT_EQ(releases_written_, at_home);
    std::printf(
        "## 30 clusters on 3 providers: 27 moved, 2 held, 1 left alone; %llu writes in a "
        "settled time\n",
        static_cast<unsigned long long>(world_->writes() - all));
  });
}

TEST_F(ReleasesOnAFewClusters, TheBrakeKeepsEveryPoolFromItsReleaseUntilItIsOff) {
  specs_written_.clear();
  brake_.set(units::read_brake({{"state", "on"}, {"only", "releases"}}, {"releases"}));
  run([&]() -> awaitable<void> {
    ask_everybody_for_the_new_one();
    co_await serve(5min);
    EXPECT_EQ(specs_written(), 0u);
    const rows_by_cluster planned = co_await plan();
    const auto holds = holds_of(planned);
    EXPECT_EQ(holds.size(), 3u);
    for (const auto& [cluster, hold] : holds) EXPECT_EQ(hold.code, "braked") << cluster;
    brake_.set(units::brake_order());
    co_await serve(20min);
    EXPECT_EQ(specs_written(), 3u);
    EXPECT_EQ(world_->hosts_on(simulation::new_image), world_->node_count());
  });
}

TEST_F(ReleasesOnAFewClusters, AReleaseWithOneErrorMovesNothingUntilItIsMended) {
  const provider& aws = providers[0];
  json::object bad = release(aws, aws.to);
  json::array& components = bad.at("spec").at("components").as_array();
  components.push_back(components.front());  // component.duplicate
  world_->home_api().put(bad);
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    const std::string refused = condition("aws-34.5.0", "Allowed");
    EXPECT_TRUE(refused.starts_with("False Denied component.duplicate")) << refused;
    EXPECT_TRUE(condition("aws-34.4.1", "Allowed").starts_with("True Clean"));
    EXPECT_NE(events_at_home("ReleaseNotAllowed").find("Denied: component.duplicate"),
              std::string::npos)
        << events_at_home("ReleaseNotAllowed");
    ask_everybody_for_the_new_one();
    co_await serve(10min);
    EXPECT_EQ(specs_written_["aws-0"], 0u);
    EXPECT_EQ(specs_written_["azure-0"], 1u) << "the others have one of their own";
    EXPECT_EQ(world_->hosts_on(simulation::new_image), 4u);
    const rows_by_cluster held = co_await plan();
    const auto holds = holds_of(held);
    EXPECT_TRUE(holds.contains("aws-0") && holds.at("aws-0").code == "release-denied" &&
                holds.at("aws-0").sentence.find("component.duplicate") != std::string::npos);

    const std::size_t written = releases_written_;
    co_await serve(10min);
    EXPECT_EQ(releases_written_, written) << "conditions are written when they change";
    json::object good = release(aws, aws.to);
    good["status"] =
        world_->home_api().get("release.giantswarm.io", "releases", "", "aws-34.5.0")->at("status");
    world_->home_api().put(good);
    co_await serve(10min);
    EXPECT_TRUE(condition("aws-34.5.0", "Allowed").starts_with("True Clean"));
    EXPECT_EQ(condition("aws-34.5.0", "Mapped"), "True Named " + image_of(good) + " (rule T1)");
    EXPECT_EQ(specs_written_["aws-0"], 1u);
    EXPECT_EQ(world_->hosts_on(simulation::new_image), 6u);
  });
}

TEST_F(ReleasesOnAFewClusters, AHoldSaysWhenItsPolicyIsAskedAgain) {
  folder_.write("night/policy.lua",
                "return { name = 'night', version = '1', order = 1, versions = { resolve = "
                "function() return { reason = 'not before the night', look_again = 3600 } end } }");
  run([&]() -> awaitable<void> {
    const rows_by_cluster all = co_await plan();
    const auto holds = holds_of(all);
    EXPECT_EQ(holds.size(), 3u);
    for (const auto& [cluster, h] : holds) {
      const auto at = reactor::parse_rfc3339(h.asked_again);
      EXPECT_TRUE(at) << cluster << ": " << h.sentence << " " << h.asked_again;
      if (!at) continue;
      EXPECT_GT(*at, loop_.wall());
      EXPECT_LE(*at, loop_.wall() + 1h);
    }
  });
}

TEST_F(ReleasesOnAFewClusters, AReleaseIsMendedWhileTheServiceRuns) {
  const provider& aws = providers[0];
  json::object bad = release(aws, aws.to);
  json::array& components = bad.at("spec").at("components").as_array();
  components.push_back(components.front());
  world_->home_api().put(bad);
  run([&]() -> awaitable<void> {
    ask_everybody_for_the_new_one();
    auto windlass = service(units::mode::act);
    co_await windlass->start();
    co_await loop_.sleep_for(5min);
    EXPECT_EQ(specs_written_["aws-0"], 0u);
    std::vector<units::plan_row> home = co_await windlass->overview_of_home("releases");
    EXPECT_EQ(home.size(), 1u) << "of those that are well nothing is said";
    if (home.size() == 1) {
      EXPECT_EQ(home.front().name, "aws-34.5.0");
      EXPECT_FALSE(home.front().is_done());
      const auto& problems = home.front().problems;
      const auto denied = std::ranges::find(problems, "Denied", &units::row_problem::reason);
      EXPECT_TRUE(denied != problems.end() && denied->message.starts_with("component.duplicate"));
    }
    world_->home_api().put(release(aws, aws.to));
    co_await loop_.sleep_for(1min);
    EXPECT_EQ(specs_written_["aws-0"], 1u);
    const json::object good = release(aws, aws.to);
    const auto pool = cluster("aws-0").api().get("node.bootc.dev", "bootcnodepools", "", "workers");
    EXPECT_EQ(pool->at("metadata").at("annotations").at("windlass.dev/release-kubernetes"),
              json::string(component(good, "kubernetes") + " " + repository + image_of(good)))
        << "what the version skew is judged by";
    home = co_await windlass->overview_of_home("releases");
    EXPECT_TRUE(home.empty());
    co_await windlass->stop();
  });
}

TEST_F(ReleasesOnAFewClusters, ConsentAtHomeLetsAStepThatRollsInAPatchGoAhead) {
  // vsphere has done so in earnest (28.0.0 to 28.0.1); here it is aws.
  const provider& aws = providers[0];
  json::object patch = release(aws, aws.to);
  patch["metadata"].as_object()["name"] = "aws-34.4.2";
  auto document = policies::releases::read_document(json::serialize(patch), "aws-34.4.2");
  ASSERT_TRUE(document);
  offer(patch, true);
  run([&]() -> awaitable<void> {
    label("aws-0", "release.giantswarm.io/version", "aws-34.4.2");
    auto windlass = service(units::mode::act);
    co_await windlass->start();
    co_await loop_.sleep_for(5min);
    EXPECT_EQ(specs_written_["aws-0"], 0u);
    const rows_by_cluster waiting = co_await plan();
    const auto holds = holds_of(waiting);
    EXPECT_TRUE(holds.contains("aws-0"));
    if (!holds.contains("aws-0")) co_return;
    // What consent has to quote stands where a person reads that it is asked for.
    EXPECT_NE(holds.at("aws-0").released_by.find(document->hash), std::string::npos);
    EXPECT_EQ(detail(units_of(waiting)["aws-0"], "content"), document->hash);
    const auto agree = [&](const std::string& text) {
      json::object data;
      data["waivers.yaml"] = text;
      world_->home_api().put(
          {{"apiVersion", "v1"},
           {"kind", "ConfigMap"},
           {"metadata", {{"name", "windlass-releases"}, {"namespace", "default"}}},
           {"data", std::move(data)}});
    };
    // Consent that cannot count is told where a person reads that it is asked for.
    const std::vector<std::pair<std::string, std::string>> lost = {
        {"- {rule: a, subject: b, release: aws-34.4, hash: c}\n",
         "waivers[1]: it counts for nothing: there is no Release 'aws-34.4'; is it 'aws-34.4.1'?"},
        {"- {rule: a}\n", "waivers[1].subject: subject is missing"}};
    for (const auto& [text, says] : lost) {
      agree(text);
      co_await loop_.sleep_for(1min);
      const rows_by_cluster told = co_await plan();
      EXPECT_NE(holds_of(told)["aws-0"].released_by.find(says), std::string::npos)
          << holds_of(told)["aws-0"].released_by;
    }
    std::string waivers;
    for (const char* rule : {"level.too-high", "nodes.roll-in-patch"})
      waivers +=
          std::string("- {rule: ") + rule + ", subject: " +
          (std::string(rule) == "level.too-high" ? "component/os-tooling" : "release/aws-34.4.2") +
          ", release: aws-34.4.2, hash: " + document->hash +
          ", reason: a hole must be closed, by: anna}\n";
    agree(waivers);
    co_await loop_.sleep_for(1min);
    const rows_by_cluster later = co_await plan();
    const auto left = holds_of(later);
    EXPECT_EQ(specs_written_["aws-0"], 1u)
        << (left.contains("aws-0") ? left.at("aws-0").sentence : "no hold") << "; "
        << detail(units_of(later)["aws-0"], "findings");
    co_await windlass->stop();
  });
}

TEST_F(ReleasesOnAFewClusters, NoStepIsJudgedFromAReleaseThatNodesHaveNotReachedYet) {
  // 32 → 33 is under way when 34 is asked for: from 32 that is a minor too many.
  const provider& aws = providers[0];
  offer(release(aws, "32.4.0"), false);
  offer(release(aws, "33.4.0"), true);
  cluster("aws-0").set_image(repository + image_of(release(aws, "32.4.0")));
  run([&]() -> awaitable<void> {
    label("aws-0", "release.giantswarm.io/version", "33.4.0");
    auto windlass = service(units::mode::act);
    co_await windlass->start();
    co_await loop_.sleep_for(2s);
    for (int i = 0; i < 60 && specs_written_["aws-0"] == 0; ++i) co_await loop_.sleep_for(1s);
    EXPECT_EQ(ref_of("aws-0"), repository + image_of(release(aws, "33.4.0")));
    label("aws-0", "release.giantswarm.io/version", "34.4.1");
    co_await loop_.sleep_for(2s);
    EXPECT_EQ(ref_of("aws-0"), repository + image_of(release(aws, "33.4.0")))
        << "nodes still run 32";
    co_await loop_.sleep_for(1h);
    EXPECT_EQ(ref_of("aws-0"), repository + image_of(release(aws, "34.4.1")))
        << "every node ran 33 in between";
    co_await windlass->stop();
  });
}

TEST_F(ReleasesOnPairs, AnImageThatIsPushedAgainMovesNothingWithoutConsent) {
  const provider& aws = providers[0];
  const std::string name = repository + image_of(release(aws, aws.to)),
                    allowed = digest_of(simulation::new_image),
                    other = digest_of(simulation::old_image);
  run([&]() -> awaitable<void> {
    auto windlass = service(units::mode::act);
    co_await windlass->start();
    label("aws-0", "release.giantswarm.io/version", aws.to);
    co_await loop_.sleep_for(30min);
    EXPECT_EQ(world_->hosts_on(simulation::new_image), 2u);
    tags_.now[name] = other;
    co_await loop_.sleep_for(30min);
    EXPECT_EQ(world_->hosts_on(simulation::new_image), 2u) << "nothing moves on its own";

    // A cluster that comes later gets what the first one got, and not what the name is by now.
    label("aws-1", "release.giantswarm.io/version", aws.to);
    co_await loop_.sleep_for(30min);
    EXPECT_EQ(world_->hosts_on(simulation::new_image), 4u);
    const rows_by_cluster all = co_await plan();
    const auto holds = holds_of(all);
    EXPECT_EQ(holds.size(), 2u);
    for (const char* cluster : {"aws-0", "aws-1"}) {
      const auto held = holds.find(cluster);
      EXPECT_TRUE(held != holds.end() && held->second.code == "release-image-moved" &&
                  held->second.sentence.find(other) != std::string::npos &&
                  held->second.sentence.find(allowed) != std::string::npos)
          << cluster << ": " << (held == holds.end() ? "no hold" : held->second.sentence);
    }
    EXPECT_EQ(units_of(all)["aws-0"].state, "Held");

    annotate(cluster("aws-0"), "bootc.dev/approve-digest", other.c_str());
    co_await loop_.sleep_for(30min);
    EXPECT_EQ(world_->hosts_on(simulation::new_image), 2u) << "who consents moves, alone";
    const rows_by_cluster after = co_await plan();
    EXPECT_FALSE(holds_of(after).contains("aws-0"));
    EXPECT_TRUE(holds_of(after).contains("aws-1"));
    // The name is the former image again: there is nothing left to consent to.
    tags_.now[name] = allowed;
    co_await loop_.sleep_for(30min);
    const rows_by_cluster back = co_await plan();
    EXPECT_FALSE(holds_of(back).contains("aws-1"));
    co_await windlass->stop();
  });
}

TEST_F(ReleasesOnAFewClusters, SayTheSameOnAKindWithoutConditionsAndOnce) {
  // The kind as its own project has it: a server drops what the schema does not know.
  json::object kind = object_in(source + "/deploy/crds/releases.yaml");
  json::object& status = kind.at("spec")
                             .at("versions")
                             .at(0)
                             .at("schema")
                             .at("openAPIV3Schema")
                             .at("properties")
                             .at("status")
                             .as_object();
  status["properties"].as_object().erase("conditions");
  status["required"] = json::array{"inUse", "ready"};
  world_->home_api().put(kind);
  const provider& aws = providers[0];
  json::object bad = release(aws, aws.to);
  json::array& components = bad.at("spec").at("components").as_array();
  components.push_back(components.front());
  world_->home_api().put(bad);
  const auto status_of = [&](const char* name) {
    return world_->home_api().get("release.giantswarm.io", "releases", "", name)->at("status");
  };
  const auto told = [&] {
    std::size_t n = 0;
    for (const json::object& e : world_->home_api().list("events.k8s.io", "events"))
      n += e.at("reason") == "ReleaseNotAllowed" || e.at("reason") == "ReleaseAllowed";
    return n;
  };
  run([&]() -> awaitable<void> {
    co_await serve(5min);
    const json::value in_use = json::parse(R"({"ready":true,"inUse":true})");
    EXPECT_EQ(status_of("aws-34.4.1"), in_use) << json::serialize(status_of("aws-34.4.1"));
    EXPECT_EQ(status_of("aws-34.5.0"), json::parse(R"({"ready":true,"inUse":false})"));
    const auto denied =
        world_->home_api().get("release.giantswarm.io", "releases", "", "aws-34.5.0");
    const std::string kept(
        denied->at("metadata").at("annotations").at("windlass.dev/release-conditions").as_string());
    EXPECT_NE(kept.find("component.duplicate"), std::string::npos) << kept;
    const std::size_t events = told(), written = releases_written_;
    EXPECT_EQ(events, 6u) << "each of six Releases once";
    co_await serve(5min);
    co_await serve(5min);
    EXPECT_EQ(told(), events) << "another start tells nothing again";
    EXPECT_EQ(releases_written_, written);

    // The kind gets the field: the annotation gives way.
    world_->home_api().put(object_in(source + "/deploy/crds/releases.yaml"));
    co_await serve(5min);
    EXPECT_TRUE(condition("aws-34.5.0", "Allowed").starts_with("False Denied component.duplicate"));
    const auto now = world_->home_api().get("release.giantswarm.io", "releases", "", "aws-34.5.0");
    const json::value* notes = now->at("metadata").as_object().if_contains("annotations");
    EXPECT_TRUE(!notes || !notes->as_object().contains("windlass.dev/release-conditions"));
    EXPECT_EQ(told(), events);
  });
}

}  // namespace
