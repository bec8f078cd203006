// The flags of every command in one place: they share options, defaults, checks and the sentences
// of wrong usage.
#include "cli/arguments.hpp"

#include "cli/completion.hpp"
#include "helm/tenants/desired/settings.hpp"
#include "simulation/trouble.hpp"
#include "units/program/flags.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

namespace cli {
namespace {

const std::map<std::string, output_format> text_or_machine = {{"text", output_format::text},
                                                              {"wide", output_format::wide},
                                                              {"json", output_format::json},
                                                              {"yaml", output_format::yaml}};

/// A setting that an environment variable, when not empty, overrides: the order the contract gives.
struct overridable {
  CLI::Option* flag;
  std::vector<std::string> variables;  // the first that is not empty wins over the flag
  std::string* value;
};

struct all_arguments {
  std::vector<std::string> known_apis;
  std::vector<overridable> overridables;
  run_arguments run;
  daemon_arguments daemon;
  apiserver_arguments apiserver;
  demo_arguments demo;
  overview_arguments status, plan, explain;
  policy_arguments policy;
  simulate_arguments simulate;
  release_arguments release;
  train_arguments train;
  trustee_arguments trustee;
  secret_converter_arguments converter;
  tenant_arguments tenant;
  rollout_arguments rollout;
  cluster_arguments cluster;
  version_arguments version;
  completion_arguments completion;
  double timeout_seconds = 15;
  std::string config;  // a file with the same settings
};

/// "a,b" as "a, b": a page has to break it between words.
std::string spaced(const std::string& list) {
  std::string out;
  for (const char c : list) out += c == ',' ? std::string(", ") : std::string(1, c);
  return out;
}

void add_output(CLI::App& app, output_format& to, bool wide = false) {
  auto* option = app.add_option_function<std::string>(
      "-o,--output", [&to](const std::string& name) { to = text_or_machine.at(name); },
      wide ? "text, wide, json or yaml" : "text, json or yaml");
  option->check(CLI::IsMember(wide ? std::vector<std::string>{"text", "wide", "json", "yaml"}
                                   : std::vector<std::string>{"text", "json", "yaml"}));
  option->option_text(wide ? "text|wide|json|yaml" : "text|json|yaml");
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

/// Something on both sides of the first '='.
CLI::Validator pair_of(std::string form) {
  return CLI::Validator(
      [form](const std::string& text) {
        const auto equals = text.find('=');
        const bool whole = equals != text.npos && equals > 0 && equals + 1 < text.size();
        return whole ? std::string() : "\"" + text + "\" is not " + form;
      },
      "", "pair");
}

CLI::Validator tenants_setting(const std::string& flag) {
  return CLI::Validator(
      [flag](const std::string& text) { return helm::tenants::problem_with(flag, text); }, "",
      "setting of Tenants");
}

/// Says what it knows where it does not know what it is given.
CLI::Validator known_api(std::vector<std::string> known) {
  return CLI::Validator(
      [known = std::move(known)](const std::string& name) {
        if (std::ranges::find(known, name) != known.end()) return std::string();
        return "there is no API \"" + name + "\"; there is: " + joined(known);
      },
      "", "known API");
}

/// The settings of helm/tenants/desired/settings, which reads and judges them: they stay texts, as
/// they stand in parse_outcome::settings.
void add_tenants(CLI::App& app, fleet_arguments& to) {
  const auto add = [&](const std::string& flag, const std::string& about, const char* text) {
    return app
        .add_option_function<std::vector<std::string>>(
            flag, [](const std::vector<std::string>&) {}, about)
        ->allow_extra_args(false)
        ->option_text(text)
        ->group("Tenants");
  };
  app.add_option("--compat", to.compat,
                 "krypton: defaults, environment and flags with one dash as the original operator "
                 "has them, and its two APIs where --apis names none (docs/migrating/krypton.md)")
      ->check(CLI::IsMember({"krypton"}))
      ->option_text("krypton")
      ->group("Tenants");
  add("--chart-repo",
      "repository of the one chart of all Tenants and KryptonDeployments (default: "
      "https://charts.jetstack.io)",
      "URL");
  add("--chart-name", "its name there (default: cert-manager)", "NAME");
  add("--chart-version", "its version, no range (default: 1.19.1); \"\" = the highest stable one",
      "VERSION");
  add("--chart-values-file", "its values; given again, later files win [$CHART_VALUES_FILE]",
      "FILE");
  add("--tenant-drift", "what is done about objects of a release that are gone (default: report)",
      "off|report|heal")
      ->check(CLI::IsMember({"off", "report", "heal"}));
  add("--max-concurrent-per-cluster", "operations of Helm at once on a cluster (default: 4)", "N")
      ->check(CLI::Range(1, 10'000));
  add("--max-concurrent-helm", "the same on all clusters together (default: 16)", "N")
      ->check(CLI::Range(1, 10'000));
  add("--max-failures",
      "Tenants in Error on clusters of earlier waves (label mesh.openkcm.io/wave of their Secrets) "
      "that still let the next wave change: a number, or a share such as 10% (default: 0)",
      "N|N%")
      ->check(tenants_setting("max-failures"));
  add("--wave-soak", "how long a wave is watched before the next one changes (default: 0s)",
      "DURATION")
      ->check(tenants_setting("wave-soak"));
  app.add_flag_callback(
         "--chart-install-crds", [] {}, "add installCRDs: true to the chart's values")
      ->group("Tenants");
  app.add_flag_function(
         "--self-cluster,!--no-self-cluster", [&to](std::int64_t n) { to.self_cluster = n > 0; },
         "home is one of the clusters, by the Secret self-cluster that is kept there (default: "
         "where tenants is named, but not with --fleet secrets)")
      ->group("Tenants");
  app.add_flag_callback(
         "--allow-secret-lookup", [] {},
         "lookup in the chart reads Secrets of every namespace, not of its release's alone")
      ->group("Tenants");
  app.add_flag_callback(
         "--allow-system-namespaces", [] {},
         "Tenants and KryptonDeployments may be called like namespaces of the system or the fleet: "
         "default, kube-*, openshift-*, --namespace")
      ->group("Tenants");
  add("--notes-namespace",
      "namespace on each cluster in which the service notes what it placed, writable for no user "
      "of a workload namespace (default: bootc-operator)",
      "NAMESPACE");
  add("--records-namespace",
      "namespace on each cluster that keeps the records of all releases (default: each beside its "
      "release, where stock helm looks)",
      "NAMESPACE");
  add("--region-secret-namespaces",
      "namespaces of home, beside --namespace, whose Secrets may lead KryptonDeployments to their "
      "region, which gets the chart's values; with commas",
      "NAMESPACE,…");
  add("--watch-namespaces",
      "namespaces of home whose KryptonDeployments are looked after, with commas; empty or * = all "
      "[$WATCH_NAMESPACES]",
      "NAME,…");
  app.add_flag_callback(
         "--ensure-watch-crds", [] {},
         "make the kind KryptonDeployment at home where it is not there [$ENSURE_WATCH_CRDS]")
      ->group("Tenants");
}

void add_fleet(CLI::App& app, all_arguments& all, fleet_arguments& to, bool secrets) {
  const auto overridden = [&all](CLI::Option* flag, std::vector<std::string> variables,
                                 std::string& value) {
    std::string named;
    for (const std::string& v : variables) named += (named.empty() ? " [$" : ", else $") + v;
    flag->description(flag->get_description() + named + "]");
    all.overridables.push_back({flag, std::move(variables), &value});
  };
  const auto overridden_by = [&](CLI::Option* flag, std::string variable, std::string& value) {
    overridden(flag, {std::move(variable)}, value);
  };
  overridden(
      app.add_option("--kubeconfig,--watch-kubeconfig", to.kubeconfig,
                     "kubeconfig of the home cluster; else $KUBECONFIG, in-cluster, ~/.kube/config")
          ->option_text("FILE"),
      {"WATCH_KUBECONFIG", "WATCH_CLUSTER_KUBECONFIG"}, to.kubeconfig);
  overridden_by(
      app.add_option("--context,--watch-context", to.context, "context of that kubeconfig")
          ->option_text("NAME"),
      "WATCH_CONTEXT", to.context);
  app.add_option_function<std::string>(
         "--fleet",
         [&to](const std::string& name) {
           static const std::map<std::string, fleet_arguments::source> names = {
               {"auto", fleet_arguments::source::automatic},
               {"secrets", fleet_arguments::source::secrets},
               {"self", fleet_arguments::source::self},
               {"contexts", fleet_arguments::source::contexts}};
           to.from = names.at(name);
         },
         "where the clusters come from: kubeconfig Secrets at home, home itself, or every context "
         "of the kubeconfig; "
         "auto = Secrets if there is one, else home itself")
      ->check(CLI::IsMember({"auto", "secrets", "self", "contexts"}))
      ->option_text("auto|secrets|self|contexts");
  overridden_by(app.add_option("--namespace", to.ns, "namespace of the kubeconfig Secrets")
                    ->capture_default_str(),
                "WATCH_NAMESPACE", to.ns);
  overridden_by(app.add_option("--kubeconfig-label", to.kubeconfig_label,
                               "label (value \"true\") of the kubeconfig Secrets")
                    ->capture_default_str(),
                "KUBECONFIG_SECRET_LABEL", to.kubeconfig_label);
  overridden_by(app.add_option("--kubeconfig-key", to.kubeconfig_key, "data key in the Secret")
                    ->capture_default_str(),
                "KUBECONFIG_SECRET_KEY", to.kubeconfig_key);
  if (secrets) {
    overridden_by(app.add_option("--watch-kubeconfig-secret", to.home_secret,
                                 "Secret with the home kubeconfig; preferred source"),
                  "WATCH_KUBECONFIG_SECRET", to.home_secret);
    overridden_by(app.add_option("--watch-kubeconfig-secret-namespace", to.home_secret_ns,
                                 "its namespace (default: --namespace)"),
                  "WATCH_KUBECONFIG_SECRET_NAMESPACE", to.home_secret_ns);
    overridden_by(
        app.add_option("--watch-kubeconfig-secret-key", to.home_secret_key, "its data key")
            ->capture_default_str(),
        "WATCH_KUBECONFIG_SECRET_KEY", to.home_secret_key);
  }
  app.add_option("--policies", to.policies,
                 "policy packs that come before the stock ones: a folder, or a ConfigMap of the "
                 "home cluster as configmap:NAME; given again, the first comes first")
      ->allow_extra_args(false)
      ->option_text("DIR");
  app.add_option("--release-label", to.release_label,
                 "label of a kubeconfig Secret that says which Release its cluster has")
      ->capture_default_str();
  app.add_option("--provider-label", to.provider_label,
                 "label of it that says of which provider the cluster is")
      ->capture_default_str();
  to.apis = all.known_apis;
  app.add_option("--apis", to.apis, "what is moved, of: " + joined(all.known_apis))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(known_api(all.known_apis))
      ->each([&to](const std::string&) { to.apis_named = true; })
      ->option_text("NAME,…")
      ->default_str("those that home serves; tenants run where they are named");
  overridden_by(app.add_option("--trustee-namespaces", to.trustee_namespaces,
                               "where Trustee's instances are looked after (default: everywhere; "
                               "where compose alone is named, what WATCH_NAMESPACES says)")
                    ->option_text("NAMESPACE,…"),
                "TRUSTEE_NAMESPACES", to.trustee_namespaces);
  app.add_flag("--strict-versions", to.strict_versions,
               "make no instance of Trustee of a version that is not in the catalogue, rather than "
               "one of `latest`");
  app.add_flag("--hold-on-mismatch", to.hold_on_mismatch,
               "keep the image of an instance of Trustee while a ConfigMap does not fit the new "
               "release");
  add_tenants(app, to);
  program::add_config(app, all.config);
  program::add_logging(app, to.log_level, to.log_format);
}

void add_ui(CLI::App& app, ui_arguments& to) {
  app.add_option("--ui", to.at,
                 "a page about the fleet for a browser; :PORT is on loopback; 0 = off")
      ->option_text("[ADDRESS]:PORT");
  app.add_option("--ui-token-file", to.token_file,
                 "file with a token (16 characters or more) that the page asks for")
      ->option_text("FILE");
  app.add_option(
         "--ui-host", to.hosts,
         "a name by which the page, /metrics and /clusters are called, beside addresses and "
         "localhost")
      ->allow_extra_args(false)
      ->option_text("NAME");
}

CLI::App* add_overview(CLI::App& app, all_arguments& all, overview_arguments& to,
                       const std::string& name, const std::string& description) {
  CLI::App* command = app.add_subcommand(name, description);
  add_fleet(*command, all, to.fleet, false);
  add_output(*command, to.output, true);
  command->add_option("--cluster", to.cluster, "only this cluster")->option_text("NAME");
  command->add_option("--timeout", all.timeout_seconds, "seconds to wait for the clusters' answers")
      ->capture_default_str();
  to.fleet.log_level = "error";  // what clusters say of themselves is in the table
  return command;
}

void add_simulate(CLI::App& app, simulate_arguments& to) {
  auto* simulate = app.add_subcommand(
      "simulate", "Let policies loose on fleets in virtual time while everything goes wrong");
  simulate
      ->add_option("--policies", to.policies,
                   "folder of policy packs; given again, they are compared side by side")
      ->allow_extra_args(false)
      ->option_text("DIR");
  simulate->add_option("--fleet", to.fleet, "YAML file that describes clusters and faults")
      ->option_text("FILE");
  simulate
      ->add_option("--clusters", to.clusters,
                   "clusters (default: 5; with --fleet only its first ones)")
      ->check(CLI::Range(1, 100));
  simulate
      ->add_option("--nodes", to.nodes,
                   "nodes in each cluster (default: 20; with --fleet at most so many)")
      ->check(CLI::Range(3, 200));
  simulate
      ->add_option("--tenants", to.tenants,
                   "Tenants on each cluster, whose chart moves to another version meanwhile "
                   "(default: 0; with --fleet at most so many)")
      ->check(CLI::Range(0, 20));
  simulate
      ->add_option("--trustees", to.trustees,
                   "instances of Trustee on each cluster, which move to another release meanwhile "
                   "(default: 0; with --fleet at most so many)")
      ->check(CLI::Range(0, 20));
  simulate
      ->add_option("--faults", to.faults,
                   "what goes wrong, of " +
                       spaced(simulation::names_of(simulation::all_troubles())) +
                       ", or none (default: all)")
      ->option_text("NAME,…");
  simulate->add_option("--seeds", to.seeds, "how many runs for each policy")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  simulate->add_option("--seed", to.seed, "the first one")->capture_default_str();
  simulate
      ->add_option("--jobs", to.jobs,
                   "runs side by side, each in a process of its own; the outcome is the same for "
                   "any number (default: one for each processor)")
      ->check(CLI::Range(1, 256));
  auto* report = simulate->add_option_function<std::string>(
      "-o,--output",
      [&to](const std::string& name) {
        to.html = name == "html";
        if (!to.html) to.output = text_or_machine.at(name);
      },
      "text, json, yaml or html");
  report->check(CLI::IsMember(std::vector<std::string>{"text", "json", "yaml", "html"}));
  report->option_text("text|json|yaml|html");
  simulate->footer(
      "Examples:\n  windlass simulate --policies ./mine --seeds 100\n  windlass simulate "
      "--policies ./mine --policies ./other --fleet fleet.yaml -o html");
}

void add_release(CLI::App& app, release_arguments& to) {
  auto* release =
      app.add_subcommand("release", "What a Release of versions means: images, steps, rules");
  release->require_subcommand(1);
  const auto add = [&](const std::string& name, const std::string& description,
                       release_arguments::command what) {
    auto* one = release->add_subcommand(name, description);
    one->callback([&to, what] { to.what = what; });
    one->add_option("--dir", to.dir,
                    "folder of the Releases: PROVIDER/v1.2.3/release.yaml or PROVIDER/v1.2.3.yaml")
        ->required(what != release_arguments::command::check)
        ->option_text("DIR");
    one->add_option("--policies", to.policies,
                    "folder of policy packs that come before the stock ones")
        ->option_text("DIR");
    if (what != release_arguments::command::check) add_output(*one, to.output);
    return one;
  };
  const auto add_rendered = [&](CLI::App* one) {
    one->add_option("--rendered", to.rendered,
                    "folder of what `helm template` prints of the charts, cluster-aws-7.7.3.yaml: "
                    "whether another chart replaces machines")
        ->option_text("DIR");
  };
  const auto add_catalogue = [&](CLI::App* one) {
    one->add_option(
           "--catalogue", to.catalogue,
           "file with the name of an image that was built on each line, or of `train facts`")
        ->option_text("FILE");
  };
  const auto add_available = [&](CLI::App* one) {
    one->add_option("--available", to.available, "YAML file: versions by component and app")
        ->option_text("FILE");
  };
  const auto add_pool = [&](CLI::App* one) {
    add_catalogue(one);
    one->add_option("--channel", to.channel, "the pool's channel of the OS");
    one->add_option("--architecture", to.architecture, "the pool's architecture");
    one->add_option("--suffix", to.suffix, "the pool's suffix of a template");
    one->add_option("--kind", to.kind, "the pool's kind, such as karpenter");
    one->add_option("--value", to.values,
                    "a value of the chart below providerIntegration, where a rule reads no Release")
        ->option_text("NAME=TEXT")
        ->allow_extra_args(false)
        ->check(pair_of("NAME=TEXT"));
  };
  auto* map = add("map", "What the OS image of a Release is called, and where each part comes from",
                  release_arguments::command::map);
  map->add_option("PROVIDER", to.provider, "such as aws")->required();
  map->add_option("VERSION", to.from, "such as 34.5.0")->required();
  add_pool(map);
  map->add_option("--tool", to.tools,
                  "a tool that is baked in, for names that carry a hash of all of them; else those "
                  "of the tables")
      ->option_text("NAME=VERSION")
      ->allow_extra_args(false)
      ->check(pair_of("NAME=VERSION"));
  map->add_option("--image", to.image, "the image that the pool names itself");
  map->add_option("--running", to.running, "the image that a machine reports, to be compared");
  map->footer("Example:\n  windlass release map aws 34.5.0 --dir releases");
  auto* diff =
      add("diff", "What a step from one Release to another changes, and whether it may be done",
          release_arguments::command::diff);
  diff->add_option("PROVIDER", to.provider, "such as aws")->required();
  diff->add_option("FROM", to.from, "the version before")->required();
  diff->add_option("TO", to.to, "the version after")->required();
  add_pool(diff);
  add_rendered(diff);
  diff->footer("Example:\n  windlass release diff aws 34.4.1 34.5.0 --dir releases -o json");
  auto* check = add("check", "Judge each Release against the one before it and what is asked of it",
                    release_arguments::command::check);
  check->add_option("DIR", to.words[0], "the folder, where --dir does not name it");
  check->add_option("PROVIDER", to.words[1], "only of this provider");
  check->add_option("VERSION", to.words[2], "only this one");
  check->callback([&to] {
    to.what = release_arguments::command::check;
    std::array<std::string, 3> words = to.words;
    if (to.dir.empty()) {
      if (words[0].empty()) throw CLI::RequiredError("a folder of Releases");
      to.dir = words[0];
      std::rotate(words.begin(), words.begin() + 1, words.end());
      words[2].clear();
    }
    if (!words[2].empty()) throw CLI::ExtrasError({words[2]});
    to.provider = words[0];
    to.from = words[1];
  });
  check->footer(
      "Example:\n  windlass release check releases aws\n\nEach Release is judged "
      "against the one before it.");
  add_catalogue(check);
  add_rendered(check);
  check->add_flag("--watch", to.watch, "again whenever a Release or a table changes");
  check
      ->add_option_function<std::string>(
          "-o,--output",
          [&to](const std::string& name) {
            using form = release_arguments::report_form;
            to.report = name == "junit"    ? form::junit
                        : name == "github" ? form::github
                                           : form::as_output;
            if (to.report == form::as_output) to.output = text_or_machine.at(name);
          },
          "text, json, yaml, junit (a report of tests) or github (lines for a workflow)")
      ->check(CLI::IsMember({"text", "json", "yaml", "junit", "github"}))
      ->option_text("text|json|yaml|junit|github");
  check->add_flag("--archived", to.archived, "those that are no longer offered, too");
  auto* show = add("show", "A Release as it was read, with the hash that a waiver quotes",
                   release_arguments::command::show);
  show->add_option("PROVIDER", to.provider, "such as aws, or the whole name: aws-34.5.0")
      ->required();
  show->add_option("VERSION", to.from, "such as 34.5.0");
  auto* gate = add("gate", "Whether a Release may become active: diff, suites that passed, stage",
                   release_arguments::command::gate);
  gate->add_option("PROVIDER", to.provider, "such as aws")->required();
  gate->add_option("FROM", to.from, "the version before")->required();
  gate->add_option("TO", to.to, "the version after")->required();
  gate->add_option("--stage", to.stage, "the stage that the draft is in");
  gate->add_option("--to-stage", to.to_stage, "the stage that it shall go to");
  add_pool(gate);
  add_rendered(gate);
  gate->footer(
      "Results of suites are read from suites.yaml in the folder: a list of {suite, hash, "
      "result}; what a major has to wait for, from readiness.yaml: a list of {item, state: "
      "open|closed}.");
  auto* bump =
      add("bump", "What the next Release would be, from the versions and images that there are",
          release_arguments::command::bump);
  bump->add_option("PROVIDER", to.provider, "such as aws")->required();
  bump->add_option("BASE", to.from, "the version that it is made from")->required();
  bump->add_option("--release", to.release_kind,
                   "major, minor or patch; test: a Release to be tried out, of --pick alone")
      ->check(CLI::IsMember({"major", "minor", "patch", "test"}))
      ->capture_default_str();
  add_available(bump);
  add_catalogue(bump);
  bump->add_option("--pick", to.picks,
                   "NAME@VERSION, or NAME@VERSION@@DEP#DEP; nothing else moves then");
  bump->add_option("--stage", to.stage, "the stage that the draft is in");
  bump->add_option("--action", to.action, "what is wanted there: version, pin or refresh");
  bump->add_option("--actor", to.actor, "who wants it, such as release-team");
  bump->add_option("--age-hours", to.age_hours, "how old the draft is that is refreshed");
  bump->add_option("--prefix", to.prefix, "test: what its pre-release begins with, such as e2e");
  bump->add_flag("--prerelease", to.asked, "test: a pre-release whatever is picked");
  bump->add_option("--write", to.into,
                   "folder of Releases that the draft is written to: FOLDER/v1.2.3/release.yaml; a "
                   "file that is there stays")
      ->option_text("DIR");
  auto* images = add("images", "The images that Releases need, offered ones and those to come",
                     release_arguments::command::images);
  images->add_option("PROVIDER", to.provider, "only of this provider");
  add_pool(images);
  add_available(images);
  images->add_flag("--missing", to.missing, "only those that were not built");
  auto* path = add("path", "The steps of a cluster from one version to another",
                   release_arguments::command::path);
  path->add_option("PROVIDER", to.provider, "such as aws")->required();
  path->add_option("FROM", to.from, "the version that it has")->required();
  path->add_option("TO", to.to, "the version that it shall have")->required();
  auto* lifecycle = add("lifecycle", "Which Releases are kept, deprecated or archived",
                        release_arguments::command::lifecycle);
  lifecycle->add_option("PROVIDER", to.provider, "such as aws")->required();
  lifecycle
      ->add_option("--in-use", to.in_use,
                   "file with the name of a Release that a cluster has on each line; without it "
                   "more is kept")
      ->option_text("FILE");
  auto* notes = add("notes", "What a Release brings, for those who take it: as Markdown",
                    release_arguments::command::notes);
  notes->add_option("PROVIDER", to.provider, "such as aws")->required();
  notes->add_option("FROM", to.from, "the version before")->required();
  notes->add_option("TO", to.to, "the version that they are about")->required();
  auto* pin = add("pin", "Hold an item at a version: the edit that it takes in each requests.yaml",
                  release_arguments::command::pin);
  pin->add_option("ITEM", to.item, "NAME@VERSION")->required();
  pin->add_option("--release", to.from, "the version of the Release that is pinned")->required();
  pin->add_option("--until", to.up_to,
                  "the first Release that is free again; without it only the one is held");
  pin->add_option("--provider", to.provider, "only of this provider");
  pin->add_flag("--write", to.write, "make the edit");
  auto* join = add("join", "Whether the providers go on together to the next major or minor",
                   release_arguments::command::join);
  join->add_option("--release", to.release_kind, "major or minor")
      ->check(CLI::IsMember({"major", "minor"}))
      ->capture_default_str();
  join->add_option("--target", to.to, "such as 35.0, instead of what follows");
  auto* retag = add("retag", "Under which name the chart of a Release is published",
                    release_arguments::command::retag);
  retag->add_option("PROVIDER", to.provider, "such as aws")->required();
  retag->add_option("VERSION", to.from, "such as 34.5.0")->required();
  retag->add_option("--commit", to.commit, "of a preview");
  release->footer("Exit codes: 0 allowed, 3 needs approval, 4 denied; 1 failure, 2 wrong usage.");
}

void add_train(CLI::App& app, train_arguments& to) {
  using command = train_arguments::command;
  auto* train =
      app.add_subcommand("train", "What is released together: does it fit, what comes next");
  train->require_subcommand(1);
  const auto add = [&](const std::string& name, const std::string& description, command what) {
    auto* one = train->add_subcommand(name, description);
    one->callback([&to, what] { to.what = what; });
    one->add_option("--policies", to.policies,
                    "folder of policy packs that come before the stock ones")
        ->option_text("DIR");
    return one;
  };
  const auto add_judged = [&](const std::string& name, const std::string& description,
                              command what) {
    auto* one = add(name, description, what);
    one->add_option("FILE", to.file,
                    "the train document, or the name of a train that was released, such as v0.17.0")
        ->required();
    one->add_option("--facts", to.with_facts, "file that `train facts` wrote, as part of FILE")
        ->option_text("FILE");
    if (what != command::diff)
      one->add_option("--former", to.former,
                      "the train before, as a document or by its name: what moved since is seen")
          ->option_text("FILE");
    return one;
  };
  add_output(*add_judged("check", "Whether what is pinned fits together", command::check),
             to.output);
  auto* plan = add_judged("plan", "Which steps are done, ready and blocked", command::plan);
  plan->add_option_function<std::string>(
          "-o,--output",
          [&to](const std::string& name) {
            if (name == "dot") {
              to.form = train_arguments::plan_form::dot;
            } else if (name == "markdown") {
              to.form = train_arguments::plan_form::markdown;
            } else {
              to.output = text_or_machine.at(name);
            }
          },
          "text, json or yaml; markdown: a list to tick off; dot: the steps and projects as a "
          "graph")
      ->check(CLI::IsMember(std::vector<std::string>{"text", "json", "yaml", "markdown", "dot"}))
      ->option_text("text|json|yaml|markdown|dot");
  plan->footer("Example:\n  windlass train plan train.yaml -o dot | dot -Tsvg > train.svg");
  auto* promote =
      add_judged("promote", "Which images get which names, and whether they must be tested again",
                 command::promote);
  add_output(*promote, to.output);
  promote->add_option("--project", to.project, "the project that is released")->required();
  promote->add_option("--tag", to.tag, "its tag")->required();
  auto* place =
      promote
          ->add_option("--registry", to.registry, "where the images are, such as ghcr.io/example")
          ->option_text("HOST/PATH");
  promote
      ->add_flag("--write", to.write,
                 "give the names there, when nothing is denied or has to be tested again")
      ->needs(place);
  promote->add_flag("--plain-http", to.plain_http, "a registry without TLS");
  auto* explain = add_judged(
      "explain", "What each check compared, what proves each step, which rule found what",
      command::explain);
  explain->add_option("WHAT", to.about, "only this check, step, finding or subject");
  add_output(*explain, to.output);
  add_judged("notes", "Release notes as Markdown: what is released together, and what changed",
             command::notes);
  auto* diff = add_judged(
      "diff", "What changed from one train to another, and what is wrong with that", command::diff);
  diff->add_option("OTHER", to.former, "the train to compare with: FILE is the former one")
      ->required();
  add_output(*diff, to.output);
  diff->footer("Example:\n  windlass train diff v0.16.0 v0.17.0");
  auto* facts =
      add("facts",
          "Write what registries and clones say into FILE, each with its source; what is another "
          "one than FILE said is noted; the rest of FILE stays as it is",
          command::facts);
  facts->add_option("FILE", to.file, "the train document, or a file of facts")->required();
  facts->add_option("--registry", to.registry, "where the images are, such as ghcr.io/example")
      ->option_text("HOST/PATH");
  facts->add_option("--image", to.images, "repository below it: all of its tags")
      ->option_text("NAME");
  facts->add_option("--filter", to.filter, "only tags like this, such as v1.*")
      ->capture_default_str();
  facts->add_option("--limit", to.most_tags, "tags of one repository at most")
      ->capture_default_str();
  facts->add_flag("--plain-http", to.plain_http, "a registry without TLS");
  facts
      ->add_option("--clone", to.clones,
                   "a clone of a project: its tags, and at the train's commit of the project what "
                   "it pins and which protocol it speaks")
      ->option_text("PROJECT=FOLDER");
  facts
      ->add_option("--at", to.revisions,
                   "where to read that clone, if not at the candidate or release in FILE")
      ->option_text("PROJECT=REVISION");
  facts->add_option("--range", to.ranges, "how far one is from the other, in that clone")
      ->option_text("PROJECT=FROM..TO");
  auto* match =
      add("match", "Which server fits a client, a bundle or a train, of what was released",
          command::match);
  add_output(*match, to.output);
  match->add_option("FILE", to.file,
                    "a document with `trains`; without one the trains that come with the program");
  match->add_option("--client", to.client, "version or commit of the client (guest-components)");
  match->add_option("--server", to.server, "version or commit of the server (Trustee)");
  match->add_option("--bundle", to.bundle, "version of the bundle (Kata)");
  match->add_option("--train", to.train, "name of the train");
  match->add_option("--protocol", to.protocol,
                    "the protocol that it speaks, where no train has it");
  match->footer("Example:\n  windlass train match --client v0.16.0");
  train->footer(
      "Exit codes: 0 allowed, 3 needs approval or a second test, 4 denied; 1 failure, 2 wrong "
      "usage.");
}

void add_trustee(CLI::App& app, trustee_arguments& to) {
  auto* trustee = app.add_subcommand(
      "trustee", "Trustee's releases and instances: what there is, what a change would do");
  trustee->require_subcommand(1);
  const auto add = [&](const std::string& name, const std::string& description,
                       trustee_arguments::command what) {
    auto* one = trustee->add_subcommand(name, description);
    one->callback([&to, what] { to.what = what; });
    one->add_option("--policies", to.policies,
                    "folder of policy packs that come before the stock ones")
        ->option_text("DIR");
    add_output(*one, to.output);
    return one;
  };
  const auto add_templates = [&](CLI::App* one) {
    one->add_option("--templates", to.templates,
                    "folder with versions.json and the files of each release, instead of "
                    "TRUSTEE_TEMPLATES_DIR or those that the program carries")
        ->option_text("DIR");
  };
  const auto add_place = [&](CLI::App* one) {
    one->add_option("-n,--namespace", to.ns, "namespace of the instance");
    one->add_option("-f,--file", to.file, "objects of a file in place of a cluster's")
        ->option_text("FILE");
    one->add_option("--kubeconfig", to.kubeconfig, "the cluster's")->option_text("FILE");
    one->add_option("--context", to.context, "context of the kubeconfig");
  };
  using command = trustee_arguments::command;
  add_place(add("list", "Instances, what they ask for and what they run", command::list));
  add_templates(add("versions", "Releases of the catalogue, with their images", command::versions));
  auto* verify = add("verify", "Where each file of each release comes from, and what is wrong",
                     command::verify);
  verify->add_option("DIR", to.templates, "folder with versions.json; without it what is in force")
      ->option_text("");
  verify->add_flag("--dedupe", to.dedupe, "files that a release would have without its own copy");
  auto* render =
      add("render", "The objects that an instance becomes; of Secrets no data", command::render);
  auto* diff = add("diff", "What another version would change: images, files, pods, conditions",
                   command::diff);
  for (auto* one : {render, diff}) {
    one->add_option("NAME", to.name, "of the TrusteeConfig")->required();
    add_templates(one);
    add_place(one);
  }
  render->add_option("--version,--to", to.to, "of another version than it asks for");
  diff->add_option("--to", to.to, "such as v0.21.0")->required();
  diff->footer("Example:\n  windlass trustee diff a -n shops --to v0.21.0 -o json");
}

void add_secret_converter(CLI::App& app, secret_converter_arguments& to) {
  auto* converter = app.add_subcommand(
      "secret-converter", "In the pod of a Trustee server: mounted Secrets become its flat files");
  converter
      ->add_option("--secrets", to.secrets,
                   "folder with one folder for each Secret, by its name; without it " + to.secrets)
      ->option_text("DIR");
  converter
      ->add_option("--repository", to.repository,
                   "folder of the server's resources; without it " + to.repository)
      ->option_text("DIR");
}

void add_tenant(CLI::App& app, all_arguments& all) {
  tenant_arguments& to = all.tenant;
  auto* tenant = app.add_subcommand(
      "tenant", "Releases of Tenants: what is there, what an upgrade would change, try again");
  tenant->require_subcommand(1);
  using command = tenant_arguments::command;
  const auto add = [&](const char* name, command what, const char* description) {
    auto* one = tenant->add_subcommand(name, description);
    add_fleet(*one, all, to.fleet, false);
    one->remove_option(one->get_option("--apis"));
    to.fleet.log_level = "error";
    one->add_option("--cluster", to.cluster, "only this cluster")->option_text("NAME");
    one->add_option("--timeout", all.timeout_seconds, "seconds to wait for the clusters' answers")
        ->capture_default_str();
    add_output(*one, to.output, true);
    one->callback([&to, what] { to.what = what; });
    return one;
  };
  const char* const named = "[NAMESPACE/]NAME of the Tenant, on every cluster that has it";
  add("list", command::list, "Every Tenant: its phase, what it has, and what would be done")
      ->footer("Example:\n  windlass tenant list --chart-name demo --chart-version 1.2.0");
  auto* one = add("status", command::status, "One Tenant: its release, conditions, why it waits");
  one->add_option("NAME", to.name, named)->required();
  one->footer("Example:\n  windlass tenant status acme --chart-name demo");
  one = add("diff", command::diff, "The objects that installing or upgrading it would change");
  one->add_option("NAME", to.name, named)->required();
  one->footer(
      "Example:\n  windlass tenant diff acme --chart-name demo --chart-version 1.3.0\n\nThe chart "
      "is rendered with what each cluster has now; nothing is written. Of Secrets no value is "
      "shown.");
  one = add("retry", command::retry, "Try again at once what waits after a failure");
  one->add_option("NAME", to.name, named);
  one->add_flag("--failed", to.failed, "every Tenant whose phase is Error");
  one->add_flag("--upgrade", to.upgrade,
                "forget what is noted of the release, so that it is upgraded once in any case");
  one->add_flag("-y,--yes", to.yes, "do it; without it only shown");
  one->callback([&to] {
    to.what = command::retry;
    if (to.name.empty() != to.failed) throw CLI::RequiredError("either NAME or --failed");
  });
  one->footer("Example:\n  windlass tenant retry --failed --yes");
}

void add_registries(CLI::App& app, all_arguments& all) {
  registry_arguments& to = all.run.registries;
  program::add_interval(app, "--tag-resolution-interval", to.interval,
                        "between two questions what a tag names: 5m, 1h30m", "5m");
  app.add_option("--allow-insecure-registry", to.insecure,
                 "plain HTTP to this registry where it speaks no TLS or cannot be verified; its "
                 "login is sent unprotected")
      ->option_text("HOST[:PORT]")
      ->allow_extra_args(false)
      ->check(CLI::Validator(
          [](const std::string& text) {
            // Of a flag without a value, as the original operator has it, the value would be one of
            // these or the next flag.
            const bool host = !text.empty() && !text.starts_with('-') && text != "true" &&
                              text != "false" &&
                              text.find_first_of("/*@ ") == text.npos;
            return host ? std::string()
                        : "\"" + text + "\" names no registry: each one is named as HOST[:PORT]";
          },
          "", "registry"));
  app.add_option("--registry-mirror", to.mirrors, "ask MIRROR before the registry HOST")
      ->option_text("HOST=MIRROR")
      ->allow_extra_args(false)
      ->check(CLI::Validator(
          [](const std::string& text) {
            const auto equals = text.find('=');
            const bool whole = equals != text.npos && equals > 0 && equals + 1 < text.size() &&
                               text.find('/') == text.npos;
            return whole ? std::string() : "\"" + text + "\" is not HOST=MIRROR, without a path";
          },
          "", "mirror"));
  app.add_option("--allow-token-realm", to.token_realms,
                 "a host that may issue tokens for registries of other domains")
      ->option_text("HOST")
      ->allow_extra_args(false);
  app.add_option("--registry-ca-file", to.ca_file,
                 "certificates that registries are verified with, instead of the system's")
      ->option_text("FILE");
}

void add_rollout(CLI::App& app, all_arguments& all) {
  using command = rollout_arguments::command;
  auto* rollout = app.add_subcommand(
      "rollout", "Look at, pause, resume, begin or approve a pool's rollout on the fleet");
  rollout->require_subcommand(1);
  const auto add = [&](const char* name, command what, const char* description) {
    auto* one = rollout->add_subcommand(name, description);
    add_fleet(*one, all, all.rollout.fleet, false);
    one->add_option("POOL", all.rollout.pool, "name of the pool")->required();
    one->add_option("--cluster", all.rollout.clusters, "only these clusters")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->option_text("NAME,…");
    one->add_option("-l,--selector", all.rollout.selector,
                    "only clusters whose labels match, as in env=prod,tier!=edge")
        ->option_text("SELECTOR");
    one->add_option("--timeout", all.timeout_seconds, "seconds to wait for the clusters' answers")
        ->capture_default_str();
    add_output(*one, all.rollout.output);
    all.rollout.fleet.log_level = "error";
    one->callback([&all, what] { all.rollout.what = what; });
    return one;
  };
  auto* status = add("status", command::status, "How far it is");
  status->add_flag("--watch", all.rollout.watch, "go on until every cluster has it");
  status->footer("Example:\n  windlass rollout status workers --watch");
  const auto writing = [&](CLI::App* one, const std::string& example) {
    one->add_flag("-y,--yes", all.rollout.yes, "do it; without it the change is only shown");
    one->footer("Example:\n  " + example);
  };
  writing(add("pause", command::pause, "No further node starts"),
          "windlass rollout pause workers --cluster prod-eu-1 --yes");
  writing(add("resume", command::resume, "Go on"), "windlass rollout resume workers --yes");
  auto* image = add("set-image", command::set_image, "Ask for another image");
  image->add_option("REF", all.rollout.image, "full reference, with a tag or a digest")->required();
  writing(image,
          "windlass rollout set-image workers registry.example.com/os/node@sha256:… -l env=test");
  auto* approve = add("approve", command::approve,
                      "Let a pool with manual updates move to what its tag names by now");
  approve->add_option("--digest", all.rollout.digest, "this one; else the one that is available")
      ->option_text("sha256:…");
  writing(approve, "windlass rollout approve workers --cluster prod-eu-1 --yes");
}

/// "720h", "30d": at least ten minutes, at most a year.
std::string read_token_life(const std::string& text, reactor::nanoseconds& to) {
  const bool days = text.size() > 1 && text.size() < 5 && text.ends_with('d') &&
                    text.find_first_not_of("0123456789") == text.size() - 1;
  if (days) {
    to = std::chrono::hours(24 * std::stoi(text.substr(0, text.size() - 1)));
  } else if (const auto read = reactor::parse_duration(text)) {
    to = *read;
  } else {
    return "expected a time as in 30d, 720h or 90m";
  }
  if (to < std::chrono::minutes(10) || to > std::chrono::hours(24 * 366))
    return "a token lives ten minutes at least and 366 days at most";
  return {};
}

void add_cluster(CLI::App& app, all_arguments& all) {
  using command = cluster_arguments::command;
  cluster_arguments& to = all.cluster;
  auto* cluster =
      app.add_subcommand("cluster", "Take clusters into the fleet, see them, let them go");
  cluster->require_subcommand(1);
  const auto add = [&](const char* name, command what, const char* description) {
    auto* one = cluster->add_subcommand(name, description);
    add_fleet(*one, all, to.fleet, false);
    to.fleet.log_level = "error";
    one->callback([&to, what] { to.what = what; });
    return one;
  };
  const auto on_member = [&](CLI::App* one) {
    one->add_option("--member-kubeconfig", to.member_kubeconfig,
                    "kubeconfig that has its context (default: home's)")
        ->option_text("FILE");
    one->add_option("--member-namespace", to.member_ns,
                    "namespace of the account and the daemons there")
        ->capture_default_str();
  };
  const auto writing = [&](CLI::App* one) {
    one->add_flag("--dry-run", to.dry_run, "only show what would be written, and ask nothing");
    one->add_flag("-y,--yes", to.yes, "do it without asking");
    add_output(*one, to.output, true);
  };
  auto* one =
      add("add", command::add,
          "Furnish a cluster (kinds, rights, daemons) and put a token of it into a Secret at "
          "home");
  one->add_option("CONTEXT", to.subject, "context of an administrator of that cluster")->required();
  on_member(one);
  one->add_option("--name", to.name, "name in the fleet (default: the context's)");
  one->add_option("--labels", to.labels, "labels that policies and -l choose by")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE,…");
  one->add_option("--server", to.server,
                  "address that the service reaches it at (default: the context's)")
      ->option_text("URL");
  one->add_option(
         "--image", to.image,
         "image of the daemons, as `./dev image` makes it (default: the one that is there)")
      ->option_text("REF");
  one->add_flag("--tenants", to.tenants,
                "also the rights that releases of Tenants take there (docs/tenants.md)");
  one->add_option("--pull-secret", to.pull_secrets,
                  "a Secret in the member's namespace that pools may name as pull secret; may be "
                  "given more than once (default: those that are allowed already)")
      ->allow_extra_args(false)
      ->option_text("NAME …");
  one->add_flag("--no-daemon", to.no_daemon,
                "without the DaemonSet: the nodes run windlass-daemon.service");
  one->add_flag("--take-over", to.take_over,
                "take the place of the original bootc-operator there "
                "(docs/migrating/bootc-operator.md), or the member from another home's fleet");
  one->add_option_function<std::string>(
         "--token-ttl",
         [&to](const std::string& text) {
           if (const std::string wrong = read_token_life(text, to.token_life); !wrong.empty())
             throw CLI::ValidationError("--token-ttl " + text, wrong);
         },
         "life of the token; the service renews it before it ends")
      ->option_text("30d");
  writing(one);
  one->footer(
      "Example:\n  windlass cluster add prod-eu-1 --labels env=prod --image "
      "registry.example.com/windlass:0.1.0");
  one = add("list", command::list, "The clusters of the fleet: state, version, labels, token");
  one->add_option("--timeout", all.timeout_seconds, "seconds to wait for the clusters' answers")
      ->capture_default_str();
  add_output(*one, to.output, true);
  one->footer("Example:\n  windlass cluster list --namespace bootc-operator");
  one = add("remove", command::remove,
            "Take a cluster out of the fleet, and off it what `cluster add` installed");
  one->add_option("NAME", to.subject, "its name in the fleet")->required();
  one->add_option(
      "CONTEXT", to.member_context,
      "context of an administrator there; without one the cluster itself stays as it is");
  on_member(one);
  one->add_flag("--delete-crds,!--keep-crds", to.delete_crds,
                "the kinds as well, once no pool is left; they are kept otherwise");
  writing(one);
  one->footer("Example:\n  windlass cluster remove prod-eu-1 prod-eu-1");
  one = add("check", command::check,
            "What a cluster lacks: version, kinds, daemon, clock, token, and each right");
  one->add_option("NAME", to.subject, "a cluster of the fleet, else a context that may become one")
      ->required();
  on_member(one);
  add_output(*one, to.output, true);
  one->footer("Example:\n  windlass cluster check prod-eu-1");
}

void build(CLI::App& app, all_arguments& all) {
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Print the help of every command");
  app.footer(R"(Try:
  windlass demo                                      watch 20 embedded clusters move to a new image
  windlass run --kubeconfig ~/.kube/config           run the service
  windlass plan --kubeconfig ~/.kube/config          what would happen next, without doing it
  windlass explain worker-3                          why is this one waiting
  windlass help run                                  the flags of a command
Exit codes: 0 success, 1 failure, 2 wrong usage; of `release` and `train` also 3 needs approval, 4 denied.)");

  auto* run =
      app.add_subcommand("run", "Run the service: move the fleet to what its pools ask for");
  add_fleet(*run, all, all.run.fleet, true);
  run->add_option("--metrics-bind-address", all.run.metrics_address, "Prometheus metrics; 0 = off")
      ->capture_default_str();
  run->add_option("--metrics-token-file", all.run.metrics_token_file,
                  "file with a token (16 characters or more) that readers of /metrics show as a "
                  "bearer; read again for each request")
      ->option_text("FILE");
  run->add_option("--health-probe-bind-address", all.run.health_address,
                  "/healthz, /readyz, /clusters; 0 = off")
      ->capture_default_str();
  run->add_flag("--leader-elect", all.run.leader_elect,
                "each API acts only while this replica holds its Lease");
  run->add_flag("--plan", all.run.plan,
                "only say what would be done, as `plan -o json` does, and end");
  add_ui(*run, all.run.ui);
  run->add_option("--record", all.run.record,
                  "keep every question to policies and its answer there, for `policy replay`")
      ->option_text("FILE");
  run->add_option("--operator-namespace", all.run.operator_ns, "namespace of the Leases");
  add_registries(*run, all);
  run->footer(R"(Examples:
  windlass run --kubeconfig ~/.kube/config
      one cluster alone is a fleet of one
  windlass run --kubeconfig home.yaml --namespace fleet --policies ./policies
      every Secret in namespace "fleet" labelled sigs.k8s.io/multicluster-runtime-kubeconfig=true is a cluster
  windlass run --ui :8090
      and http://127.0.0.1:8090 in a browser
Stop with Ctrl-C (twice: at once); SIGHUP reloads the policies.)");

  auto* daemon = app.add_subcommand("daemon", bootc::about_daemon);
  bootc::declare_daemon(*daemon, all.daemon, all.config);
  daemon->footer(
      "Example:\n  NODE_NAME=worker-1 windlass daemon --kubeconfig /etc/kubernetes/kubelet.conf "
      "--host direct");

  auto* apiserver = app.add_subcommand(
      "apiserver", "Serve embedded Kubernetes API servers for trying things out");
  apiserver->add_option("--clusters", all.apiserver.clusters, "how many")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  apiserver->add_option("--dir", all.apiserver.dir, "folder for the kubeconfig (made if absent)")
      ->required()
      ->option_text("DIR");
  apiserver->add_option("--port", all.apiserver.port, "first port; 0 = any free ones")
      ->capture_default_str();
  apiserver->add_flag("--one-port", all.apiserver.one_port,
                      "one port for all, one path prefix each");
  apiserver->add_flag("--tls", all.apiserver.tls, "TLS with a CA made at start");
  apiserver
      ->add_option_function<std::string>(
          "--authorization", [&all](const std::string& how) { all.apiserver.rbac = how == "rbac"; },
          "who may do what: everybody everything, or what Roles and bindings allow")
      ->check(CLI::IsMember({"always-allow", "rbac"}))
      ->option_text("always-allow|rbac");
  apiserver->add_flag("--no-workloads", all.apiserver.no_workloads,
                      "leave Deployments, Jobs and other workloads as they are put; without it "
                      "they are ready a second later");
  apiserver->footer(
      "Example:\n  windlass apiserver --clusters 3 --dir /tmp/fleet &\n  kubectl --kubeconfig "
      "/tmp/fleet/kubeconfig --context cluster-001 get nodes");

  auto* demo =
      app.add_subcommand("demo", "Watch an embedded fleet move to a new image under a Lua policy");
  demo->add_option("--clusters", all.demo.clusters, "clusters")
      ->check(CLI::Range(1, 2'000))
      ->capture_default_str();
  demo->add_option("--nodes", all.demo.nodes,
                   "nodes in each cluster (at least 3, so that drained pods have somewhere to go)")
      ->check(CLI::Range(3, 200))
      ->capture_default_str();
  demo->add_option("--speed", all.demo.speed, "pace of the simulated hosts; 2 = twice as fast")
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str();
  demo->add_flag("--tags", all.demo.tags,
                 "pools follow a tag of a small registry, which moves while the demo runs");
  demo->add_flag("--keep", all.demo.keep, "stay up after the rollout until Ctrl-C");
  demo->add_option("--policies", all.demo.policies,
                   "folder of policy packs; edit them while the demo runs")
      ->option_text("DIR");
  demo->add_option("--record", all.demo.record,
                   "keep every question to policies and its answer there, for `policy replay`")
      ->option_text("FILE");
  demo->add_option(
          "--dir", all.demo.dir,
          "folder for the kubeconfig and the policy to edit (default: a new one under /tmp)")
      ->option_text("DIR");
  demo->add_option("--metrics-bind-address", all.demo.metrics_address,
                   "Prometheus metrics of the fleet; 0 = off")
      ->capture_default_str();
  demo->add_flag("--simulate", all.demo.simulate,
                 "virtual time over in-memory streams: the same trace for the same --seed");
  demo->add_option("--seed", all.demo.seed, "of everything that is drawn at random")
      ->capture_default_str();
  add_ui(*demo, all.demo.ui);
  add_output(*demo, all.demo.output);
  demo->footer(
      "Examples:\n  windlass demo\n  windlass demo --keep --ui :8090                    and "
      "http://127.0.0.1:8090 in a browser\n  windlass demo --keep --policies ./my-policies      "
      "edit a "
      "pack and watch it take effect\n  windlass demo --clusters 3 --nodes 6 -o json       one "
      "JSON object when it ends");

  add_overview(app, all, all.status, "status", "What is happening: every cluster, pool and node")
      ->footer(
          "Examples:\n  windlass status --kubeconfig home.yaml\n  windlass status -o wide "
          "--cluster prod-eu-1");
  auto* plan = add_overview(
      app, all, all.plan, "plan",
      "What would happen next, decided by the planner that `run` uses; writes nothing");
  plan->add_option("--in-force", all.plan.in_force,
                   "the --policies that `run` has; with --policies: what they would change")
      ->allow_extra_args(false)
      ->option_text("DIR");
  plan->footer(
      "Examples:\n  windlass plan --kubeconfig home.yaml\n  windlass plan --policies "
      "./new-policies "
      "--in-force ./policies -o json");
  auto* explain = add_overview(app, all, all.explain, "explain",
                               "Why is this node waiting, and what would release it");
  explain->add_option("UNIT", all.explain.unit, "node, or cluster/node")->required();
  explain->footer("Example:\n  windlass explain prod-eu-1/worker-3");

  add_simulate(app, all.simulate);
  auto* policy = app.add_subcommand("policy", "Work on policy packs");
  policy->require_subcommand(1);
  using policy_does = policy_arguments::command;
  const auto add_policy = [&](policy_does what, const std::string& name,
                              const std::string& description) {
    auto* one = policy->add_subcommand(name, description);
    one->callback([&all, what] { all.policy.what = what; });
    return one;
  };
  auto* policy_new =
      add_policy(policy_does::make, "new", "Write a pack that answers one hook, with its test");
  policy_new->add_option("NAME", all.policy.name, "name of the pack and of its folder")->required();
  policy_new->add_option("--hook", all.policy.hook, "what it shall answer")->capture_default_str();
  policy_new->add_option("--dir", all.policy.dir, "where the folder goes (default: here)");
  auto* policy_check = add_policy(
      policy_does::check, "check",
      "Does a pack load, does it know its hooks and fields, and what does a question cost?");
  auto* policy_test = add_policy(policy_does::test, "test",
                                 "Run a pack's *_test.lua and say which lines they reach");
  auto* policy_explain =
      add_policy(policy_does::explain, "explain",
                 "Which pack answered for a unit, what it was given, and what was not taken");
  policy_explain->add_option("UNIT", all.policy.name, "node, or cluster/node")->required();
  add_fleet(*policy_explain, all, all.policy.fleet, false);
  add_output(*policy_explain, all.policy.output);
  all.policy.fleet.log_level = "error";
  auto* policy_replay =
      add_policy(policy_does::replay, "replay",
                 "Ask other policies what was asked before, and say which answers differ");
  policy_replay->add_option("--record", all.policy.record, "file that `run --record` wrote")
      ->required()
      ->option_text("FILE");
  add_output(*policy_replay, all.policy.output);
  for (auto* one : {policy_check, policy_test, policy_replay})
    one->add_option("DIR", all.policy.dir, "folder of the pack, or of several packs")->required();
  add_output(*policy_check, all.policy.output);
  policy_test->add_flag("--allow-none", all.policy.allow_none,
                        "a pack without tests is no failure");
  policy_test->add_flag("--fail-fast", all.policy.fail_fast,
                        "end with the first test that fails, and count no lines");
  auto* report = policy_test->add_option_function<std::string>(
      "-o,--output",
      [&all](const std::string& name) {
        all.policy.junit = name == "junit";
        if (!all.policy.junit) all.policy.output = text_or_machine.at(name);
      },
      "text, json, yaml or junit");
  report->check(CLI::IsMember(std::vector<std::string>{"text", "json", "yaml", "junit"}));
  report->option_text("text|json|yaml|junit");
  auto* policy_list =
      add_policy(policy_does::list, "list", "The packs in the order they are asked");
  auto* policy_show = add_policy(policy_does::show, "show", "What a pack says about itself");
  policy_show->add_option("NAME", all.policy.name, "name of the pack")->required();
  for (auto* one : {policy_list, policy_show}) {
    one->add_option("--policies", all.policy.dir,
                    "folder of policy packs that come before the stock ones");
    add_output(*one, all.policy.output);
  }
  add_policy(policy_does::types, "types",
             "Print the annotations of hooks for the Lua language server");
  add_policy(policy_does::reference, "reference", "Print the reference of hooks (docs/hooks.md)");
  policy->footer(
      "Examples:\n  windlass policy new mine\n  windlass policy check mine\n  windlass policy test "
      "mine -o junit");

  add_release(app, all.release);
  add_train(app, all.train);
  add_trustee(app, all.trustee);
  add_secret_converter(app, all.converter);
  add_tenant(app, all);
  add_rollout(app, all);
  add_cluster(app, all);

  // Listed here for the help; the chart engine parses what follows it.
  app.add_subcommand("helm",
                     "Render, check, install and find Helm charts with Helm's own commands and "
                     "flags; `windlass helm help` lists them");

  // As `helm`; windlass-bench parses what follows it.
  app.add_subcommand("bench",
                     "Measure this build on this machine: as windlass-bench, which `./dev build` "
                     "makes and no package has; `windlass-bench --help` lists the benches");

  add_output(*app.add_subcommand("version", "Print the version"), all.version.output);
  auto* completion = app.add_subcommand("completion", "Print a completion script");
  completion->add_option("SHELL", all.completion.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->footer("Example:\n  source <(windlass completion bash)");
}

/// Every named setting of a command with where its value came from.
std::vector<setting> settings_of(const CLI::App& command, const all_arguments& all,
                                 const std::map<const CLI::Option*, std::string>& from_environment,
                                 const std::set<std::string>& from_file) {
  std::vector<setting> settings;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty() || option->get_lnames().front() == "help" ||
        option->get_group().empty())
      continue;
    setting one{option->get_lnames().front(), {}, option->count() > 0 ? "flag" : "default"};
    for (const std::string& value : option->results())
      one.value += (one.value.empty() ? "" : ",") + value;
    if (option->count() == 0) one.value = option->get_default_str();
    if (option->count() == 0 && option->get_items_expected_max() == 0) one.value = "false";
    if (from_file.contains(one.name)) one.origin = "file " + all.config;
    if (const auto said = from_environment.find(option); said != from_environment.end())
      for (const overridable& o : all.overridables)
        if (o.flag == option) {
          one.value = *o.value;
          one.origin = "env " + said->second;
        }
    settings.push_back(std::move(one));
  }
  return settings;
}

command chosen(const CLI::App& app, all_arguments& all) {
  const std::string name = app.get_subcommands().front()->get_name();
  const auto seconds = [](double s) {
    return reactor::nanoseconds(static_cast<std::int64_t>(s * 1e9));
  };
  if (name == "run") {
    all.run.fleet.is_service = true;
    return all.run;
  }
  if (name == "daemon") return all.daemon;
  if (name == "apiserver") return all.apiserver;
  if (name == "demo") return all.demo;
  const auto overview = [&](overview_arguments& s, overview_arguments::command what) {
    s.what = what;
    s.timeout = seconds(all.timeout_seconds);
    return s;
  };
  if (name == "status") return overview(all.status, overview_arguments::command::status);
  if (name == "plan") return overview(all.plan, overview_arguments::command::plan);
  if (name == "explain") return overview(all.explain, overview_arguments::command::explain);
  if (name == "policy") return all.policy;
  if (name == "simulate") return all.simulate;
  if (name == "release") return all.release;
  if (name == "train") return all.train;
  if (name == "trustee") return all.trustee;
  if (name == "secret-converter") return all.converter;
  if (name == "tenant") {
    all.tenant.fleet.apis = {"tenants"};
    all.tenant.fleet.apis_named = true;
    all.tenant.timeout = seconds(all.timeout_seconds);
    return all.tenant;
  }
  if (name == "rollout") {
    all.rollout.timeout = seconds(all.timeout_seconds);
    return all.rollout;
  }
  if (name == "cluster") {
    all.cluster.timeout = seconds(all.timeout_seconds);
    return all.cluster;
  }
  if (name == "version") return all.version;
  return all.completion;
}

/// The original has these two and asks nobody whether they are wanted.
void name_apis_of_krypton(command& c) {
  const auto name = [](auto& a) {
    if constexpr (requires { a.fleet.compat; })
      if (a.fleet.compat == "krypton" && !a.fleet.apis_named) {
        a.fleet.apis = {"tenants", "kryptondeployments"};
        a.fleet.apis_named = true;
      }
  };
  std::visit(name, c);
}

using environment_reader = std::function<std::string(std::string_view)>;

/// Settings whose value came from the file of --config; nothing before that file was looked at.
using file_settings = std::optional<std::set<std::string>>;

parse_outcome parse_once(const std::vector<std::string>& arguments,
                         const environment_reader& environment,
                         const std::vector<std::string>& apis, const file_settings& from_file);

parse_outcome usage_error(const std::string& sentence) {
  return {std::nullopt, {}, 2, {}, "windlass: " + sentence + "\n"};
}

/// The command that was given, below those that only group others.
CLI::App& leaf_of(CLI::App& app) {
  CLI::App* at = app.get_subcommands().front();
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

/// Every setting that the file of --config may have, whichever command it is for.
std::set<std::string> settings_in_files(const std::vector<std::string>& apis) {
  CLI::App app("", "windlass");
  all_arguments all;
  all.known_apis = apis;
  build(app, all);
  std::set<std::string> names;
  const auto everything = [](const CLI::App*) { return true; };
  std::vector<const CLI::App*> left = {&app};
  while (!left.empty()) {
    const CLI::App* at = left.back();
    left.pop_back();
    for (const CLI::App* below : at->get_subcommands(everything)) left.push_back(below);
    if (at->get_option_no_throw("--config") == nullptr) continue;
    for (const CLI::Option* option : at->get_options())
      names.insert(option->get_lnames().begin(), option->get_lnames().end());
  }
  return names;
}

/// How many letters must be changed, added or left out to make one of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(
          row[j + 1], std::min({row[j + 1] + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0u : 1u)}));
  }
  return row.back();
}

/// The command that was meant, perhaps.
std::string nearest(const CLI::App& app, const std::string& typed) {
  std::string best;
  std::size_t least = 3;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::size_t d = distance(typed.substr(0, 64), c->get_name());
    if (d < least && d < c->get_name().size()) {
      least = d;
      best = c->get_name();
    }
  }
  return best;
}

/// `windlass frobnicate`, `windlass policy frobnicate`: the word that names no command; nothing
/// when there is none.
std::optional<std::string> unknown_command(CLI::App& app,
                                           const std::vector<std::string>& arguments) {
  CLI::App* at = &app;
  std::string path = "windlass";
  for (const std::string& word : arguments) {
    const auto all = at->get_subcommands([](const CLI::App*) { return true; });
    if (all.empty() || word.starts_with('-')) return std::nullopt;
    const auto next = std::ranges::find(all, word, &CLI::App::get_name);
    if (next == all.end()) {
      const std::string meant = nearest(*at, word);
      return "there is no command \"" + (at == &app ? "" : at->get_name() + " ") + word + "\"" +
             (meant.empty() ? "" : "; did you mean \"" + meant + "\"?") + "; `" + path +
             " --help` lists them";
    }
    path += " " + word;
    at = *next;
  }
  return std::nullopt;
}

bool is_like_krypton(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "--compat=krypton" || words[i] == "-compat=krypton" ||
        ((words[i] == "--compat" || words[i] == "-compat") && i + 1 < words.size() &&
         words[i + 1] == "krypton"))
      return true;
  return false;
}

/// A command line as the original operator takes it: one dash is as good as two, and what says how
/// its log looks says nothing here.
std::vector<std::string> with_two_dashes(const std::vector<std::string>& words) {
  constexpr std::array ignored = {"--zap-devel", "--zap-stacktrace-level", "--zap-time-encoding"};
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    const bool one_dash = word.size() > 2 && word[0] == '-' && word[1] != '-';
    if (one_dash) word.insert(0, "-");
    const std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(ignored, name) == ignored.end()) {
      out.push_back(std::move(word));
    } else if (name == word && name != "--zap-devel") {
      ++i;  // its value
    }
  }
  return out;
}

/// `--version`, `-v` and `help [COMMAND…]` as the commands that they stand for.
std::vector<std::string> spelled_out(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words.front() == "--version" || words.front() == "-v" || words.front() == "-V")
    words.front() = "version";
  if (words.front() == "help") {
    words.erase(words.begin());
    words.push_back("--help");
  }
  if (is_like_krypton(words)) return with_two_dashes(words);
  return words;
}

/// The command line once more, with what the settings file says where no flag does.
parse_outcome parse_with_file(const std::vector<std::string>& arguments, CLI::App& command,
                              const std::string& file, const environment_reader& environment,
                              const std::vector<std::string>& apis) {
  std::size_t words = 0;
  for (const CLI::App* at = &command; at->get_parent() != nullptr; at = at->get_parent()) ++words;
  const program::with_file all = program::with_settings(arguments, words, command, file);
  if (!all.problem.empty()) return usage_error(all.problem);
  // One file serves every command: a setting of another one is no mistake.
  const std::set<std::string> others = settings_in_files(apis);
  for (const std::string& entry : all.left_out)
    if (entry == "config" || entry == "help" || !others.contains(entry))
      return usage_error(file + ": \"" + entry + "\" is not a setting of `windlass " +
                         command.get_name() + "`; its --help lists them");
  return parse_once(all.words, environment, apis, all.taken);
}

parse_outcome parse_once(const std::vector<std::string>& arguments,
                         const environment_reader& environment,
                         const std::vector<std::string>& apis, const file_settings& from_file) {
  CLI::App app("Windlass moves fleets of Kubernetes clusters from one version to the next.",
               "windlass");
  all_arguments all;
  all.known_apis = apis;
  build(app, all);
  if (const auto unknown = unknown_command(app, arguments)) return usage_error(*unknown);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
    CLI::App& command = leaf_of(app);
    if (!all.config.empty() && !from_file)
      return parse_with_file(arguments, command, all.config, environment, apis);
    std::map<const CLI::Option*, std::string> from_environment;
    for (const overridable& o : all.overridables) {
      for (const std::string& variable : o.variables) {
        std::string set = environment(variable);
        if (set.empty()) continue;
        *o.value = std::move(set);
        from_environment[o.flag] = variable;
        break;
      }
    }
    parse_outcome outcome;
    outcome.parsed = chosen(app, all);
    name_apis_of_krypton(*outcome.parsed);
    outcome.settings =
        settings_of(command, all, from_environment, from_file.value_or(std::set<std::string>()));
    return outcome;
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, ignored;
    if (app.exit(e, out, ignored) == 0) return {std::nullopt, {}, 0, out.str(), {}};
    std::string command = "windlass";
    for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
      at = at->get_subcommands().front();
      command += " " + at->get_name();
    }
    const std::string why = command + ": " + e.what();
    return {std::nullopt, {}, 2, {}, why + "; `" + command + " --help` shows what it takes\n"};
  }
}

/// "text|json|yaml" as the values that it lists; nothing for any other text.
std::vector<std::string> split_at_bars(const std::string& text) {
  if (text.find('|') == text.npos) return {};
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace

parse_outcome parse_arguments(const std::vector<std::string>& arguments,
                              const environment_reader& environment,
                              const std::vector<std::string>& apis) {
  return parse_once(spelled_out(arguments), environment, apis, std::nullopt);
}

std::vector<completed_command> own_commands() {
  CLI::App app("", "windlass");
  all_arguments all;
  build(app, all);
  std::vector<completed_command> words;
  const auto everything = [](const CLI::App*) { return true; };
  const auto walk = [&](auto&& self, const CLI::App& at, const std::string& name) -> void {
    completed_command one;
    one.name = name;
    one.about = at.get_description();
    for (const CLI::App* below : at.get_subcommands(everything))
      one.words.push_back(below->get_name());
    for (const CLI::Option* option : at.get_options()) {
      if (option->get_group().empty()) continue;
      const std::vector<std::string> values = split_at_bars(option->get_option_text());
      for (const std::string& flag : option->get_lnames()) {
        const auto& briefs = option->get_snames();
        one.flags.push_back({flag, option->get_description(), briefs.empty() ? '\0' : briefs[0][0],
                             option->get_items_expected_max() > 0, values});
      }
      if (option->get_lnames().empty() && option->get_snames().empty())
        for (const char* shell : {"bash", "zsh", "fish"})
          if (name == "completion") one.words.emplace_back(shell);
    }
    words.push_back(std::move(one));
    for (const CLI::App* below : at.get_subcommands(everything))
      self(self, *below, (name.empty() ? "" : name + " ") + below->get_name());
  };
  walk(walk, app, "");
  return words;
}

}  // namespace cli
