// Command lines as a kubectl user types them, on a fleet of three clusters, and what is printed.
#include "cli/commands.hpp"
#include "compose/commands/instance_list.hpp"
#include "compose/commands/trustee_arguments.hpp"
#include "helm/tenants/commands/tenant_arguments.hpp"
#include "helm/tenants/commands/tenant_view.hpp"
#include "policies/commands/pack_list.hpp"
#include "service/commands/overview_command.hpp"
#include "service/commands/rollout/rollout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>

namespace cli {
namespace {

units::plan_row pool(const std::string& name, std::size_t nodes, std::size_t updated) {
  units::plan_row r;
  r.name = name;
  r.target = "sha256:" + std::string(64, 'a');
  r.capacity = 1;
  r.updated = updated;
  for (std::size_t i = 1; i <= nodes; ++i) {
    units::unit u;
    u.name = "worker-" + std::to_string(i);
    u.state = i <= updated ? "UpToDate" : "Pending";
    u.is = i <= updated ? units::standing::done : units::standing::moving;
    r.units.push_back(u);
    if (i > updated) {
      r.holds.push_back({u.name, "slot-full", "every reboot slot of the pool is taken",
                         "a node in a slot is updated and Ready"});
      r.forecast = r.holds;
    }
  }
  return r;
}

fleet_overview fleet() {
  const units::words says{"pool", "pools", "node", "nodes"};
  fleet_overview f;
  f.apis = {{"bootc", {says}}};
  const auto add = [&](std::string name, std::string env, std::string state,
                       std::vector<units::plan_row> rows) {
    cluster_overview c{
        name, "https://" + name, state, state == "Live" ? "" : "connection refused", {}};
    c.apis.push_back({"bootc", says, state, c.last_error, std::move(rows)});
    c.labels = {{"env", env}};
    f.clusters.push_back(std::move(c));
  };
  add("cluster-001", "prod", "Live", {pool("workers", 2, 2), pool("edge", 1, 1)});
  add("cluster-002", "test", "Live", {pool("workers", 3, 1)});
  add("cluster-010", "prod", "Unreachable", {});
  sum_up(f);
  return f;
}

std::vector<listed_instance> instances() {
  listed_instance a{"shops", "front"}, b{"bank", "vault"};
  a.labels = {{"env", "prod"}};
  a.asked = a.runs = "v0.21.0";
  a.ready = "True";
  a.message = "runs what it asks for";
  b.labels = {{"env", "test"}};
  b.asked = "v0.9.9";
  b.ready = "False";
  b.message = "VersionResolved is False";
  return {a, b};
}

std::vector<policies::pack_status> packs() {
  policies::pack_status mine, stock;
  mine.folder = "mine";
  mine.name = "mine";
  mine.version = "7";
  mine.order = 10;
  mine.hooks = {"rollout.plan"};
  stock.folder = "rollout/default";
  stock.name = "default";
  stock.version = "1.2.0";
  stock.stock = true;
  stock.order = 100;
  stock.hooks = {"rollout.plan", "disruption.admit"};
  return {mine, stock};
}

std::vector<tenants_of_cluster> tenants() {
  tenant_row ready, failed;
  ready.cluster = failed.cluster = "cluster-001";
  ready.tenant = "shops/acme";
  ready.phase = "Ready";
  failed.tenant = "bank/vault";
  failed.phase = "Error";
  return {{"cluster-001", "Live", "", {ready, failed}, {{"env", "prod"}}}};
}

struct printed {
  int code;
  std::string out, err;
};

parse_outcome parsed(const std::vector<std::string>& words) {
  static const std::vector<units::api> known = apis();
  return app::parse(program(), words, [](std::string_view) { return std::string(); }, &known);
}

/// What the program does with the words once it has looked at the fleet.
printed said(const std::vector<std::string>& words) {
  const parse_outcome o = parsed(words);
  if (!o) return {o.exit_code, o.out, o.err};
  const auto captured = [](const std::function<int()>& show) -> printed {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = show();
    return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
  };
  if (const auto* t = o.options<trustee_arguments>();
      t && t->what == trustee_arguments::command::list)
    return captured([&] { return show_instances(instances(), t->list, colours::none); });
  if (const auto* p = o.options<policy_arguments>();
      p && p->what == policy_arguments::command::list)
    return captured([&] { return show_packs(packs(), *p); });
  if (const auto* t = o.options<tenant_arguments>();
      t && t->what == tenant_arguments::command::list)
    return captured([&] { return show_tenant_list(tenants(), t->list, colours::none); });
  if (const auto* r = o.options<rollout_arguments>();
      r && r->what == rollout_arguments::command::status)
    return captured([&] {
      command_output out = standard_output();
      return show_rollout(fleet(), *r, out);
    });
  if (words.front() == "release" || words.front() == "train")
    return captured([&] { return dispatch(words); });
  const auto* a = o.options<overview_arguments>();
  if (!a) return {success, {}, {}};
  fleet_overview f = fleet();
  list_request by = a->list;
  if (a->what == overview_arguments::command::explain) by.names.clear();
  return captured([&] {
    const auto chosen = choose(f, by);
    return chosen ? show_overview(f, std::nullopt, *a) : complain(chosen.error());
  });
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'')
      quoted = !quoted;
    else if (c == ' ' && !quoted)
      out.emplace_back();
    else
      out.back() += c;
  }
  const std::string folder = WINDLASS_SOURCE_DIR "/tests/data/releases";
  for (std::string& word : out)
    if (word == "$R") word = folder;
  return out;
}

struct row {
  const char* line;
  int code;
  const char* has;           // in what is printed, on either stream
  const char* has_not = "";  // nor this
};

TEST(KubectlHabits, EachCommandLineDoesWhatAKubectlUserExpects) {
  const row rows[] = {
      {"status", 0, "CLUSTER      STATE        POOL     TARGET"},
      {"status", 0, "cluster-010  Unreachable  -"},
      {"status workers", 0, "cluster-002", "edge"},
      {"status cluster-002/workers", 0, "cluster-002", "cluster-001"},
      {"status pool/edge", 0, "edge", "cluster-002"},
      {"status pools/cluster-001/edge", 0, "edge", "workers"},
      {"status node/cluster-002/worker-3", 0, "cluster-002", "cluster-001"},
      {"status workers edge", 0, "edge", "cluster-010"},
      {"status wrokers", 1, "no pool \"wrokers\" is found; did you mean \"workers\"?"},
      {"status --cluster cluster-002", 0, "cluster-002", "cluster-001"},
      {"status --cluster cluster-00*", 0, "cluster-001", "cluster-010"},
      {"status --cluster cluster-001,cluster-010", 0, "cluster-010", "cluster-002"},
      {"status --cluster 'cluster-?02'", 0, "cluster-002", "cluster-001"},
      {"status -l env=test", 0, "cluster-002", "cluster-001"},
      {"status -l env!=prod", 0, "cluster-002", "cluster-001"},
      {"status -l 'env in (prod)'", 0, "cluster-001", "cluster-002"},
      {"status --selector env=prod", 0, "cluster-010", "cluster-002"},
      {"status -l ,,", 1, "--selector"},
      {"status --field-selector metadata.name=edge", 0, "edge", "cluster-002"},
      {"status --field-selector state!=Live", 0, "Unreachable", "cluster-001"},
      {"status --field-selector nonsense=1", 1, "field label not supported: nonsense"},
      {"status --field-selector nonsense", 1, "invalid field selector"},
      {"status --no-headers", 0, "cluster-001  Live", "CLUSTER"},
      {"status --no-headers", 0, "cluster-001  Live", "3 clusters"},
      {"status --show-labels", 0, "env=prod"},
      {"status --show-labels", 0, "LABELS"},
      {"status --sort-by .metadata.name --no-headers workers edge", 0, "edge"},
      {"status --sort-by '{.metadata.name}' -o name", 0,
       "cluster/cluster-010\npool/cluster-001/edge\n"},
      {"status --sort-by .nope", 1, "couldn't find any field with path \".nope\""},
      {"status -o name", 0,
       "pool/cluster-001/workers\npool/cluster-001/edge\npool/cluster-002/workers\n"},
      {"status -o=name workers", 0, "pool/cluster-001/workers\npool/cluster-002/workers\n", "edge"},
      {"status -oname workers", 0, "pool/cluster-001/workers\n"},
      {"status --output name workers", 0, "pool/cluster-001/workers\n"},
      {"status --output=name workers", 0, "pool/cluster-001/workers\n"},
      {"status -o wide", 0, "DEGRADED"},
      {"status -o json", 0, "\"kind\": \"FleetStatus\""},
      {"status -o yaml", 0, "kind: FleetStatus"},
      {"status cluster-002/workers -o json", 0, "\"kind\": \"Pool\"", "FleetStatus"},
      {"status cluster-002/workers -o yaml", 0, "kind: Pool"},
      {"status cluster-002/workers -o jsonpath={.metadata.name}", 0, "workers", "\n"},
      {"status -o jsonpath={.items[*].metadata.name}", 0, "workers edge workers cluster-010"},
      {"status -o 'jsonpath={range .items[*]}{.cluster}/{.metadata.name}{\"\\n\"}{end}'", 0,
       "cluster-001/workers\ncluster-001/edge\n"},
      {"status -o 'jsonpath={.items[?(@.metadata.name==\"edge\")].cluster}'", 0, "cluster-001"},
      {"status -o jsonpath={.items[0].metadata.labels.env}", 0, "prod"},
      {"status -o jsonpath={.items[9]}", 1, "array index out of bounds: index 9, length 4"},
      {"status -o jsonpath={.items", 2, "unclosed action"},
      {"status -o jsonpath=", 2, "template format specified but no template given"},
      {"status -o jsonpath-file=/absent", 2, "cannot read the file /absent"},
      {"status -o jsonpath-as-json={.items[0].metadata.name}", 0, "[\n  \"workers\"\n]\n"},
      {"status -o 'go-template={{range .items}}{{.metadata.name}} {{end}}'", 0,
       "workers edge workers cluster-010 "},
      {"status -o 'go-template={{.nope'", 1, "error executing template"},
      {"status -o custom-columns=NAME:.metadata.name,C:.cluster workers", 0,
       "NAME     C\nworkers  cluster-001\nworkers  cluster-002\n"},
      {"status -o custom-columns=NAME:.metadata.name,X:.nope edge", 0, "NAME  X\nedge  <none>\n"},
      {"status -o custom-columns=NAME:metadata.name --no-headers edge", 0, "edge\n", "NAME"},
      {"status -o custom-columns=NAME", 2,
       "unexpected custom-columns spec: NAME, expected <header>:<json-path-expr>"},
      {"status -o xml", 2, "unable to match a printer suitable for the output format \"xml\""},
      {"status -A -n default", 0, "cluster-001"},
      {"status --color always", 0, "\033[32mLive"},
      {"status --color never", 0, "Live", "\033["},
      {"status -v=6 edge", 0, "edge"},
      {"status --watsh", 2, "did you mean \"--watch\"?"},
      {"plan", 0, "cluster-002/workers"},
      {"plan cluster-002/workers", 0, "goes first", "cluster-001"},
      {"plan -o name", 0, "pool/cluster-002/workers"},
      {"plan -l env=test -o jsonpath={.items[*].cluster}", 0, "cluster-002"},
      {"plan nothere", 1, "no pool \"nothere\" is found"},
      {"explain node/worker-3", 0, "every reboot slot of the pool is taken"},
      {"explain cluster-002/worker-3", 0, "slot-full"},
      {"explain worker-3 -o jsonpath={.items[*].hold.code}", 0, "slot-full"},
      {"explain worker-3 -o name", 0, "node/cluster-002/worker-3\n"},
      {"explain worker-2 worker-3 -o name", 0, "node/cluster-001/worker-2\n"},
      {"explain pool/edge", 0, "1 of 1 nodes updated"},
      {"explain wroker-3", 1, "did you mean \"worker-3\"?"},
      {"explain", 2, "UNIT"},
      {"rollout", 0, "set-image"},
      {"status --timeout -1", 2, "\"-1\" is no duration"},
      {"status --timeout=-5s", 2, "\"-5s\" is no duration"},
      {"status --timeout=5s edge", 0, "edge"},
      {"status --timeout soon", 2, "\"soon\" is no duration"},
      {"status -o wides", 2, "unable to match a printer suitable for the output format \"wides\""},
      {"status -o", 2, "--output"},
      {"status deploy/workers", 1, "no pool \"deploy/workers\" is found"},
      {"stauts", 2, "did you mean \"status\"? `windlass --help` lists them"},
      {"get pods", 2, "there is no command \"get\""},
      {"plan -w -o name", 0, "pool/cluster-002/workers\n"},
      {"plan --timeout -1m", 2, "is no duration"},
      {"plan --image workers=r.test:5000/os:1 --allow-insecure-registry r.test:5000", 0,
       "cluster-002/workers"},
      {"plan --image workers=r.test/os:1 --registry-ca-file ca.pem --registry-mirror r.test=m", 0,
       "cluster-002/workers"},
      {"plan --allow-insecure-registry true", 2, "names no registry"},
      {"rollout set-image workers r.test/os:1 --registry-mirror m", 2, "is not HOST=MIRROR"},
      {"explain edge -o wide", 0, "1 of 1 nodes updated"},
      {"explain worker-3 --no-headers", 0, "cluster-002", "CLUSTER"},
      {"rollout status", 2, "POOL is required"},
      {"rollout stauts workers", 2, "did you mean \"status\"? `windlass rollout --help`"},
      {"rollout status workers", 0, "CLUSTER      STATE"},
      {"rollout status workers", 0, "cluster-002", "edge"},
      {"rollout status edge", 0, "edge", "workers"},
      {"rollout status wrokers", 1, "of 3 clusters has \"wrokers\"; did you mean \"workers\"?"},
      {"rollout status workers --cluster cluster-002", 0, "cluster-002", "cluster-001"},
      {"rollout status workers -l env=test --no-headers", 0, "cluster-002", "CLUSTER"},
      {"rollout status workers -w --cluster cluster-00*", 0, "cluster-001", "cluster-010"},
      {"rollout status workers -o name", 0, "pool/cluster-001/workers\npool/cluster-002/workers\n"},
      {"rollout status workers -o wide", 0, "DEGRADED"},
      {"rollout status workers -o jsonpath={.items", 2, "unclosed action"},
      {"rollout status workers -o jsonpath={.items[*].cluster}", 0, "cluster-001 cluster-002"},
      {"rollout status workers -o yml", 2, "unable to match a printer"},
      {"rollout status workers --timeout -5s", 2, "is no duration"},
      {"rollout undo", 2, "POOL is required"},
      {"rollout undo workers --to-revision last", 2, "--to-revision"},
      {"rollout restart workers", 2, "there is no command \"rollout restart\""},
      {"tenant list", 0, "CLUSTER      TENANT      PHASE"},
      {"tenant list -A -o custom-columns=N:.metadata.name", 0, "N\nacme\nvault\n"},
      {"tenant list -n shops --sort-by .metadata.name", 0, "shops/acme", "vault"},
      {"tenant list -n nowhere", 0, "0 releases", "vault"},
      {"tenant list --no-headers", 0, "cluster-001  shops/acme", "PHASE"},
      {"tenant list -l env=test -o name", 0, ""},
      {"tenant list --field-selector phase=Error -o name", 0, "tenant/cluster-001/bank/vault\n"},
      {"tenant list -o wide", 0, "RELEASE"},
      {"tenant list -o jsonpath={.items[*].phase}", 0, "Ready Error"},
      {"tenant list -o table", 2, "unable to match a printer"},
      {"tenant list --timeout -1", 2, "is no duration"},
      {"tenant get acme", 2, "there is no command \"tenant get\""},
      {"tenant status", 2, "NAME is required"},
      {"trustee lst", 2, "did you mean \"list\"?"},
      {"trustee list -w", 2, "-w"},
      {"trustee list -o", 2, "--output"},
      {"trustee list", 0, "NAMESPACE  NAME   ASKS FOR  RUNS     READY"},
      {"trustee list -A", 0, "bank       vault  v0.9.9"},
      {"trustee list -n shops", 0, "front", "vault"},
      {"trustee list --namespace bank --no-headers", 0, "vault", "NAMESPACE"},
      {"trustee list -l env=prod", 0, "front", "vault"},
      {"trustee list front", 0, "front", "vault"},
      {"trustee list shops/front -o name", 0, "trusteeconfig/shops/front\n"},
      {"trustee list fornt", 1, "did you mean \"front\"?"},
      {"trustee list --field-selector ready!=True", 0, "vault", "front"},
      {"trustee list --field-selector nope=1", 1, "field label not supported: nope"},
      {"trustee list --sort-by .metadata.name -o jsonpath={.items[*].metadata.name}", 0,
       "front vault"},
      {"trustee list -o jsonpath={.instances[*].requestedVersion}", 0, "v0.21.0 v0.9.9"},
      {"trustee list -o custom-columns=N:.metadata.name,R:.ready --no-headers", 0,
       "front  True\nvault  False\n"},
      {"trustee list --show-labels", 0, "env=test"},
      {"trustee list -o wide", 0, "VersionResolved is False"},
      {"policy list", 0, "NAME     VERSION  ORDER  HOOKS"},
      {"policy list mine", 0, "mine", "default"},
      {"policy list pack/default -o name", 0, "pack/default\n"},
      {"policy list mien", 1, "did you mean \"mine\"?"},
      {"policy list --no-headers", 0, "default  1.2.0", "VERSION"},
      {"policy list --sort-by .metadata.name -o name", 0, "pack/default\npack/mine\n"},
      {"policy list --field-selector stock=true", 0, "default", "mine"},
      {"policy list -o custom-columns=N:.metadata.name,V:.version", 0,
       "N        V\nmine     7\ndefault  1.2.0\n"},
      {"policy list -o jsonpath={.items[*].metadata.name}", 0, "mine default"},
      {"policy list -o yaml mine", 0, "kind: PolicyPackList", "rollout/default"},
      {"policy list -n x", 2, "-n"},
      {"policy list --show-labels", 2, "--show-labels"},
      {"release check $R aws", 0, "RELEASE     AFTER       LEVEL"},
      {"release check $R aws --no-headers", 0, "aws-34.5.0  aws-34.4.1  minor", "RELEASE"},
      {"release check $R aws -o name", 0, "release/aws-34.4.1\nrelease/aws-34.5.0\nfolder/capa\n"},
      {"release check $R aws -o wide", 0, "DECISION"},
      {"release check $R aws --field-selector metadata.name=aws-34.5.0", 0, "aws-34.5.0",
       "aws-34.1.1"},
      {"release check $R aws --field-selector level=major -o name", 0, "release/aws-34.1.0\n"},
      {"release check $R aws --sort-by .metadata.name --no-headers", 0, "aws-32.3.0  aws-32.2.0"},
      {"release check $R aws --sort-by .nope", 1, "couldn't find any field with path \".nope\""},
      {"release check $R aws -o jsonpath={.items[*].metadata.name}", 0, "aws-34.4.1 aws-34.5.0"},
      {"release check $R aws -o jsonpath={.releases[0].level}", 0, "minor"},
      {"release check $R aws -o custom-columns=R:.metadata.name,D:.decision --no-headers", 0,
       "aws-34.5.0  allow\n"},
      {"release check $R aws -o 'go-template={{range .items}}{{.level}} {{end}}'", 0, "minor "},
      {"release check $R aws 34.5.0", 0, "plan aws-34.4.1 -> aws-34.5.0"},
      {"release check $R aws 34.5.0 -o name", 0, "release/aws-34.5.0\n"},
      {"release check $R aws -o github", 0, ""},
      {"release check $R aws -o xml", 2, "unable to match a printer"},
      {"release check $R -n default", 2, "-n"},
      {"release check $R -l env=prod", 2, "-l"},
      {"release check $R --show-labels", 2, "--show-labels"},
      {"release chekc", 2, "did you mean \"check\"?"},
      {"release images aws --dir $R -o name", 0,
       "image/flatcar-stable-4593.2.4-kube-1.34.10-tooling-1.33.1-gs\n"},
      {"release images aws --dir $R --no-headers", 0, "aws-34.1.0, aws-34.1.1", "BUILT"},
      {"release lifecycle aws --dir $R --field-selector action=keep -o name", 0,
       "release/aws-32.4.0\nrelease/aws-33.4.0\nrelease/aws-34.5.0\n"},
      {"release lifecycle aws --dir $R --no-headers", 0, "aws-32.4.0  active  keep",
       "usage.unknown"},
      {"release join --dir $R -o jsonpath={.items[*].metadata.name}", 0, ""},
      {"release show aws 34.5.0 --dir $R -o name", 0, "release/aws-34.5.0\n"},
      {"release retag aws 34.5.0 --dir $R -o name", 0, "chart/release-aws:34.5.0\n"},
      {"release diff aws 34.4.1 34.5.0 --dir $R -o jsonpath={.decision}", 0, "allow"},
      {"release diff aws 34.4.1 34.5.0 --dir $R -o name", 1, "shows no objects that have names"},
      {"train plan v0.17.0 -o name", 0, "step/kata-pick\nstep/nydus-check\n"},
      {"train plan v0.17.0 --field-selector state=ready --no-headers", 0, "kata-pick  ready",
       "nydus-check"},
      {"train plan v0.17.0 -o jsonpath={.steps[0].id}", 0, "kata-pick"},
      {"train plan v0.17.0 -o markdown", 0, "- [ ] **kata-pick**"},
      {"train match --client v0.16.0 -o name", 0, "train/v0.17.0\n"},
      {"cluster list -l env=prod -o name", 0, ""},
      {"policy list -o jsonpath={.packs[*].name}", 0, ""},
  };
  std::size_t counted = 0;
  for (const row& r : rows)
    for (const char* command :
         {"status", "plan", "explain", "rollout", "tenant", "trustee", "release"})
      counted += split(r.line).front() == command;
  EXPECT_GE(counted, 60u);
  for (const row& r : rows) {
    ::unsetenv("CLICOLOR_FORCE");
    ::unsetenv("NO_COLOR");
    const printed p = said(split(r.line));
    EXPECT_EQ(p.code, r.code) << r.line << "\n" << p.out << p.err;
    EXPECT_NE((p.out + p.err).find(r.has), std::string::npos) << r.line << "\n" << p.out << p.err;
    if (*r.has_not) {
      EXPECT_EQ(p.out.find(r.has_not), std::string::npos) << r.line << "\n" << p.out;
    }
  }
  ::unsetenv("CLICOLOR_FORCE");
  ::unsetenv("NO_COLOR");
}

TEST(KubectlHabits, ACheckOfHomeTakesTheNamespaceOfTheInstall) {
  for (const char* line : {"check -n windlass", "check --namespace windlass",
                           "check --pre -n windlass --fleet-namespace fleet"}) {
    const parse_outcome o = parsed(split(line));
    EXPECT_TRUE(o) << line << "\n" << o.err;
  }
}

TEST(KubectlHabits, NoLineOfAPipeIsBroken) {
  fleet_overview f = fleet();
  f.clusters[1].apis[0].last_error = std::string(150, 'x') + " and " + std::string(150, 'y');
  const std::string text = status_text(f, extent::usual, colours::none, any_width).text();
  EXPECT_NE(text.find(f.clusters[1].apis[0].last_error), std::string::npos) << text;
}

/// So many clusters at rest, but for one whose nodes wait.
fleet_overview three_hundred(bool all_at_rest) {
  fleet_overview f = fleet();
  const cluster_overview rests = f.clusters[0];
  cluster_overview waits = f.clusters[1];
  f.clusters.clear();
  for (int i = 100; i < 400; ++i) {
    f.clusters.push_back(!all_at_rest && i == 377 ? waits : rests);
    f.clusters.back().name = "cluster-" + std::to_string(i);
  }
  sum_up(f);
  return f;
}

TEST(KubectlHabits, APlanOfThreeHundredClustersAtRestIsOneLine) {
  const std::string text = plan_text(three_hundred(true), extent::usual, colours::none).text();
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  EXPECT_TRUE(text.starts_with("Nothing to do. 300 clusters")) << text;
  const std::string one = plan_text(three_hundred(false), extent::usual, colours::none, 80).text();
  EXPECT_NE(one.find("cluster-377/workers"), std::string::npos) << one;
  EXPECT_NE(one.find("598 others have nothing to do"), std::string::npos) << one;
}

TEST(KubectlHabits, TheStatusOfThreeHundredClustersFitsAScreenAndBeginsWithTheTroubled) {
  const std::string text =
      status_text(three_hundred(false), extent::usual, colours::none, 80, {}, 12).text();
  EXPECT_LE(std::ranges::count(text, '\n'), 24) << text;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
    EXPECT_LE(end - begin, 80u) << text;
  for (const char* word : {"300 clusters", "CLUSTER", "POOL", "UPDATED", "HELD", "cluster-377",
                           "1/3", "slot-full", "and 587 more", "-o wide"})
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  EXPECT_LT(text.find("cluster-377"), text.find("cluster-100")) << text;
}

TEST(KubectlHabits, ANarrowScreenLosesColumnsAndNoWord) {
  const fleet_overview f = fleet();
  for (const std::size_t columns : {80u, 60u, 45u}) {
    const std::string text = status_text(f, extent::usual, colours::none, columns).text();
    for (const char* word : {"cluster-001", "cluster-010", "workers", "UPDATED"})
      EXPECT_NE(text.find(word), std::string::npos) << columns << "\n" << text;
  }
}

}  // namespace
}  // namespace cli
