#pragma once

#include "bootc/daemon/flags.hpp"
#include "reactor/plain/time.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cli {

enum class output_format { text, wide, json, yaml };

/// Which clusters a command looks at: the home connection and what it finds there.
struct fleet_arguments {
  std::string kubeconfig, context;
  enum class source { automatic, secrets, self, contexts } from = source::automatic;
  std::string ns = "default";  // of the kubeconfig Secrets
  std::string kubeconfig_label = "sigs.k8s.io/multicluster-runtime-kubeconfig";
  std::string kubeconfig_key = "kubeconfig";
  // --watch-kubeconfig-secret…
  std::string home_secret, home_secret_ns, home_secret_key = "kubeconfig";
  std::vector<std::string> policies;  // what comes before the stock packs, the first first
  // Labels of a cluster's Secret: its Release, and of which provider it is.
  std::string release_label = "release.giantswarm.io/version",
              provider_label = "windlass.dev/provider";
  std::vector<std::string> apis;   // names, some of those that were given to parse_arguments
  bool apis_named = false;         // by a person, perhaps all of them
  std::string trustee_namespaces;  // between commas; empty: all
  // Of instances of Trustee: an unknown version is refused; an image waits for files that fit.
  bool strict_versions = false, hold_on_mismatch = false;
  std::optional<bool> self_cluster;  // --self-cluster; none: nobody said
  bool is_service = false;           // `run`: what is wanted is what is said here
  std::string compat;                // whose defaults count, "krypton"; empty: ours
  std::string log_level = "info", log_format = "console";
};

/// The page that a browser opens.
struct ui_arguments {
  std::string at;  // empty = off
  std::string token_file;
  std::vector<std::string> hosts;
};

/// How registries are asked what tags name.
struct registry_arguments {
  reactor::nanoseconds interval = std::chrono::minutes(5);
  std::vector<std::string> insecure;  // "HOST[:PORT]", asked by plain HTTP where TLS fails
  std::vector<std::string> mirrors;   // "HOST=MIRROR"
  std::vector<std::string> token_realms;
  std::string ca_file;
};

struct run_arguments {
  fleet_arguments fleet;
  ui_arguments ui;
  registry_arguments registries;
  std::string metrics_address = ":8080", health_address = ":8081";  // "0" = off
  std::string metrics_token_file;
  bool leader_elect = false;
  // Of the Leases; --operator-namespace, POD_NAMESPACE, the context's, else each API's own.
  std::string operator_ns;
  std::string record;  // a file for every question to policies; empty: none
  bool plan = false;   // only say as JSON what would be done, and write nothing
};

using bootc::daemon_arguments;

struct apiserver_arguments {
  std::size_t clusters = 1;
  std::string dir;  // where the kubeconfig goes
  std::uint16_t port = 0;
  bool one_port = false, tls = false, no_workloads = false, rbac = false;
};

struct demo_arguments {
  std::size_t clusters = 20, nodes = 12;
  double speed = 1;
  bool keep = false, simulate = false;
  bool tags = false;  // the pools name a tag, which moves
  std::string policies, dir, record;
  ui_arguments ui;
  std::string metrics_address = "0";
  std::uint64_t seed = 1;
  output_format output = output_format::text;
};

/// Fleets that exist nowhere, moved in virtual time while things go wrong.
struct simulate_arguments {
  std::vector<std::string> policies;  // folders that are compared; none: the stock packs
  std::string fleet;                  // file; empty: `clusters` × `nodes`
  std::optional<std::size_t> clusters, nodes, tenants, trustees;  // with a file: at most so many
  std::string faults;  // "cut,crashes", "none"; empty: the file's, or all
  std::uint64_t seed = 1, seeds = 10;
  std::size_t jobs = 0;  // processes side by side; 0: as many as there are processors
  bool html = false;     // a report that `output` does not know
  output_format output = output_format::text;
};

/// status, plan and explain.
struct overview_arguments {
  fleet_arguments fleet;
  output_format output = output_format::text;
  enum class command { status, plan, explain } what = command::status;
  std::string unit;  // explain: [cluster/]node
  std::vector<std::string>
      in_force;         // plan: what --policies is compared with; none: the stock packs
  std::string cluster;  // only this one
  reactor::nanoseconds timeout = std::chrono::seconds(15);
};

struct policy_arguments {
  enum class command {
    test,
    check,
    make,
    list,
    show,
    types,
    reference,
    replay,
    explain
  } what = command::test;
  // test, check: of a pack or several; list, show: packs that come before the stock ones, may be
  // empty
  std::string dir;
  std::string name;                   // make: of the new pack, also its folder; show: of the pack
  std::string hook = "rollout.plan";  // make: what it shall answer
  std::string record;                 // replay: a file of `run --record`
  fleet_arguments fleet;              // explain; `name` is [cluster/]unit there
  bool allow_none = false;            // test: no test is no failure
  bool fail_fast = false;             // test: the first that fails ends it
  bool junit = false;                 // test: the report of JUnit, which `output` does not know
  output_format output = output_format::text;
};

/// rollout status|pause|resume|set-image|approve: what a person would edit, on every cluster that
/// has the pool.
struct rollout_arguments {
  enum class command { status, pause, resume, set_image, approve } what = command::status;
  fleet_arguments fleet;
  std::string pool, image;
  std::string digest;                 // approve: empty = what waits for approval
  std::vector<std::string> clusters;  // by name; none = all
  std::string selector;               // of cluster labels: "env=prod,tier!=edge"
  bool yes = false, watch = false;
  reactor::nanoseconds timeout = std::chrono::seconds(15);
  output_format output = output_format::text;
};

/// cluster add|list|remove|check: who is in the fleet.
struct cluster_arguments {
  enum class command { add, list, remove, check } what = command::list;
  fleet_arguments fleet;          // home
  std::string subject;            // add: a context; remove: a name; check: either
  std::string member_context;     // remove: where to take away what was installed; may be empty
  std::string member_kubeconfig;  // the file of those contexts; empty = home's
  std::string name, server, image, member_ns = "bootc-operator";
  std::vector<std::string> labels;        // KEY=VALUE
  std::vector<std::string> pull_secrets;  // add: names that pools may use
  reactor::nanoseconds token_life = std::chrono::hours(24 * 30);
  bool no_daemon = false;
  bool tenants = false;    // add: with the rights that releases of Tenants take
  bool take_over = false;  // add: from the original bootc-operator
  bool delete_crds = false;
  bool dry_run = false;
  bool yes = false;
  reactor::nanoseconds timeout = std::chrono::seconds(15);
  output_format output = output_format::text;
};

struct release_arguments {
  enum class command {
    map,
    diff,
    check,
    show,
    gate,
    path,
    lifecycle,
    bump,
    images,
    notes,
    pin,
    join,
    retag
  } what = command::map;
  std::string dir;                   // of the Releases
  std::string policies;              // a folder of packs that comes before the stock ones
  std::string provider, from;        // check: may be empty
  std::string to;                    // diff
  std::string catalogue;             // a file with the name of an image on each line
  std::string rendered;              // diff, gate, check: a folder of what charts render
  std::array<std::string, 3> words;  // check: DIR where `dir` is empty, PROVIDER, VERSION
  std::string kind, architecture, channel, suffix, image, running;  // of the pool
  std::vector<std::string> values, tools;                           // map, diff: NAME=TEXT
  bool archived = false;                                            // check: these too
  std::string in_use;           // lifecycle: a file with the name of a Release on each line
  std::string stage, to_stage;  // gate, bump: of the draft
  std::string release_kind = "minor", available, action, actor;  // bump
  std::vector<std::string> picks;                                // bump: NAME@VERSION[@@DEP#DEP]
  bool missing = false;                                          // images: only what was not built
  bool watch = false;                                            // check: again after each change
  enum class report_form { as_output, junit, github } report = report_form::as_output;  // check
  double age_hours = -1;       // bump: of the draft
  std::string prefix, commit;  // bump of a test Release; retag of a preview
  bool asked = false;          // bump: a test Release has a pre-release in any case
  std::string item, up_to;     // pin: NAME@VERSION, the first Release that is free again
  bool write = false;          // pin: into the files
  std::string into;            // bump: a folder of Releases that the draft is written to
  output_format output = output_format::text;
};

struct train_arguments {
  enum class command {
    check,
    plan,
    promote,
    match,
    facts,
    diff,
    explain,
    notes
  } what = command::check;
  /// plan: the steps as a table, a list to tick off or a graph; as_output: what `output` says.
  enum class plan_form { as_output, dot, markdown } form = plan_form::as_output;
  std::string file;      // the train document, or the name of a train that comes with the program
  std::string former;    // the train before; what moved since is seen
  std::string about;     // explain: a check, step, finding or subject; empty: all
  std::string policies;  // a folder of packs that comes before the stock ones
  std::string project, tag;                             // promote
  bool write = false;                                   // promote: give the names, in `registry`
  std::string client, server, bundle, train, protocol;  // match
  std::vector<std::string> with_facts;  // files of facts that belong to the document
  // facts: what is looked at; FILE is what is written
  std::string registry, filter = "*";
  std::vector<std::string> images, clones, ranges;  // NAME; PROJECT=FOLDER; PROJECT=FROM..TO
  std::vector<std::string> revisions;               // PROJECT=REVISION at which a clone is read
  std::size_t most_tags = 1'000;
  bool plain_http = false;
  output_format output = output_format::text;
};

struct trustee_arguments {
  enum class command { list, versions, render, diff, verify } what = command::list;
  std::string name, ns;             // of an instance; list: empty = all namespaces
  std::string to;                   // diff, render: the version; empty: what the instance says
  std::string kubeconfig, context;  // where the instance is
  std::string file;                 // objects of a file in place of a cluster's
  std::string templates;            // a folder with versions.json; empty = TRUSTEE_TEMPLATES_DIR
  std::string policies;             // a folder of packs that comes before the stock ones
  bool dedupe = false;              // verify
  output_format output = output_format::text;
};

/// Where the pod of a Trustee server has its Secrets, and where it looks for them.
struct secret_converter_arguments {
  std::string secrets = "/tmp/kbs-secrets",
              repository = "/opt/confidential-containers/storage/repository";
};

/// tenant list|status|diff|retry: the releases of Tenants on the clusters.
struct tenant_arguments {
  enum class command { list, status, diff, retry } what = command::list;
  fleet_arguments fleet;
  std::string name;      // [NAMESPACE/]NAME; list, retry: empty = all
  std::string cluster;   // only this one
  bool failed = false;   // retry: all whose phase is Error
  bool upgrade = false;  // retry: also those that are as they shall be
  bool yes = false;
  reactor::nanoseconds timeout = std::chrono::seconds(15);
  output_format output = output_format::text;
};

struct version_arguments {
  output_format output = output_format::text;
};

struct completion_arguments {
  std::string shell;
};

using command =
    std::variant<run_arguments, daemon_arguments, apiserver_arguments, demo_arguments,
                 overview_arguments, policy_arguments, release_arguments, train_arguments,
                 version_arguments, completion_arguments, rollout_arguments, simulate_arguments,
                 cluster_arguments, trustee_arguments, tenant_arguments,
                 secret_converter_arguments>;

/// What a value of the command line is in the end, and who said so.
struct setting {
  // origin: "flag", "default", "env WATCH_NAMESPACE", "file settings.yaml"
  std::string name, value, origin;
};
/// The command line as a command, or the text to print and the exit code: 0 after --help, 2 for a
/// usage error.
struct parse_outcome {
  std::optional<command> parsed;
  std::vector<setting> settings;  // for the start-up line
  int exit_code = 0;
  std::string out, err;
};
/// `apis` are the names that --apis knows; all of them unless it says otherwise.
parse_outcome parse_arguments(const std::vector<std::string>& arguments,
                              const std::function<std::string(std::string_view)>& environment,
                              const std::vector<std::string>& apis);

}  // namespace cli
