// docs/reference/limits.md: rows that are made from constants of the program, and rows by hand
// whose every figure is looked up in the source that says it.
#include "app/stop_guard.hpp"
#include "bootc/kinds/node_pool.hpp"
#include "bootc/pool/pool_status.hpp"
#include "formats/json/values.hpp"
#include "helm/apart/child.hpp"
#include "helm/apart/kept_renders.hpp"
#include "helm/charts/chart.hpp"
#include "helm/objects/cluster_objects.hpp"
#include "helm/schema/validator.hpp"
#include "helm/template/executor.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/fleet/fleet.hpp"
#include "k8s/informer/proof_pace.hpp"
#include "k8s/informer/watch_state.hpp"
#include "policies/host/record/record.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/net/dial_turns.hpp"
#include "service/page/access.hpp"
#include "service/page/board.hpp"
#include "service/page/history.hpp"
#include "service/page/site.hpp"
#include "service/page/timeline.hpp"
#include "service/page/wrong_tokens.hpp"
#include "service/ui/fleet_timeline.hpp"
#include "tests/deploy/files.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using deploy_files::bytes_of;
using deploy_files::root;

/// "20,000"
std::string number(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}
/// "50 million"
std::string millions(std::uint64_t n) {
  EXPECT_EQ(n % 1'000'000, 0u) << n;
  return number(n / 1'000'000) + " million";
}
/// "16 KiB", "64 MiB", "1 GiB"
std::string bytes(std::uint64_t n) {
  const char* unit = " KiB";
  EXPECT_EQ(n % 1024, 0u) << n;
  n /= 1024;
  for (const char* next : {" MiB", " GiB"}) {
    if (n % 1024 != 0) break;
    n /= 1024;
    unit = next;
  }
  return number(n) + unit;
}
/// "0.5 ms", "30 s", "5 min", "12 h"
std::string duration(std::chrono::nanoseconds d) {
  using namespace std::chrono;
  const auto in = [&](nanoseconds unit, const char* name) {
    const double n = static_cast<double>(d.count()) / static_cast<double>(unit.count());
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, n).ptr;
    return std::string(text, end) + " " + name;
  };
  if (d < 1s) return in(1ms, "ms");
  if (d < 2min || d % 1min != 0s) return in(1s, "s");
  return d < 2h || d % 1h != 0s ? in(1min, "min") : in(1h, "h");
}

/// Row by row: its first cell, and its second one.
std::vector<std::pair<std::string, std::string>> rows_of_constants() {
  using namespace bootc;
  using page = web::site;
  using loop_slice = reactor::loop_slice;
  using discovery = k8s::discovery;
  const helm::render_limits render;
  const helm::chart_limits chart, &here = helm::service_chart_limits;
  return {
      {"discovery", number(discovery::most_api_versions) + " API versions, " +
                        number(discovery::most_resources) +
                        " resources; one for each cluster, read again after " +
                        duration(discovery::longest_life) +
                        " and after changes of ours to kinds; the version after 1 min"},
      {"a list", number(k8s::watch_limits{}.most_pages) +
                     " pages; a page 60 s and then a second for 4 KiB; 16 MiB before its version"},
      {"one turn of the loop for bytes that are ready",
       duration(loop_slice::longest) + ", " + bytes(loop_slice::most_bytes) + " or " +
           number(loop_slice::most_steps) + " steps, then everybody else"},
      {"connections that are made at once", number(reactor::dial_turns::most_at_once) +
                                                ", in turn by peer; one that takes longer than " +
                                                duration(reactor::dial_turns::longest_place) +
                                                " counts no more"},
      {"questions that prove views of attended clusters",
       number(static_cast<std::uint64_t>(k8s::proof_pace::usual_per_second)) +
           " a second for all clusters together, and for each as often as at rest"},
      {"names in a sentence or condition; what a cluster says in one",
       "the first " + number(most_named) + " and how many more; 1 KiB"},
      {"the page",
       number(page::most_readers) +
           " readers, dropped after 10 s in which they take nothing of a "
           "piece of " +
           bytes(web::board::piece_bytes) + "; " + number(page::most_documents) +
           " documents and " + number(web::wrong_tokens::most_waiting) +
           " wrong tokens at once, each answered after 0.5 s; looks at 16 clusters side by side; " +
           number(web::progress_history::most_points) + " points of a rollout, " +
           number(web::progress_history::most_targets) + " targets; a timeline of " +
           number(web::timeline::most_entries / 2) + " Events, " +
           number(web::timeline::most_entries / 2) + " other entries and " +
           bytes(web::timeline::most_bytes) + ", texts of " + bytes(web::timeline::longest_text) +
           ", " + number(cli::fleet_timeline::most_found) + " entries an answer, reads " +
           number(cli::fleet_timeline::most_reads) + " objects of rows at once while " +
           number(cli::fleet_timeline::most_waiting) + " wait; " +
           number(web::doorkeeper::most_sessions) + " sessions of " +
           duration(web::doorkeeper::session_lasts)},
      {"a server that is silent under one of its names",
       "another name of it acts after " + duration(k8s::fleet::outage)},
      {"codes in `status.held` of a pool", "those of the tables and " + number(most_policy_words) +
                                               " words of its policy, else all of them as "
                                               "`policy`"},
      {"`status.policyHolds` of a pool",
       number(most_policy_waits) + " reasons, else those of one code together, else all; " +
           number(most_waiting_names) + " names each; a node without a name there has all of them"},
      {"a record of questions; one of them",
       bytes(policies::recorder::most_bytes) + " in two files; 8 MiB"},
      {"a child process for charts; its job",
       bytes(helm::apart::child_memory_bytes) + " beyond its start, " +
           bytes(helm::apart::child_cache_bytes) +
           " of prepared charts; 5 s of processor time, 60 s by the clock, " +
           bytes(helm::apart::longest_job_bytes) + " in, 32 MiB out; one job at a time"},
      {"renders that are kept for clusters with the same input",
       bytes(helm::apart::kept_renders::most_bytes) +
           " packed, the least recently used go first; one of " +
           bytes(helm::apart::kept_renders::most_bytes_of_one) + " packed, " +
           bytes(helm::apart::kept_renders::most_unpacked_bytes) + " before that"},
      {"a chart in the service",
       bytes(here.unpacked_bytes) + " and " + number(here.files) +
           " files with all archives in it, " + std::to_string(here.nesting) +
           " of them inside one another; " + bytes(here.memory_bytes) + " of memory and " +
           millions(here.steps) +
           " steps to load it, as much for a render, 64 MiB made by templates"},
      {"a packed chart", bytes(chart.file_bytes) + " a file, " + bytes(chart.unpacked_bytes) +
                             " and " + number(chart.files) +
                             " files in all, with the archives in it, " +
                             std::to_string(chart.nesting) +
                             " of them inside one another, counted while it is unpacked"},
      {"a render", bytes(render.output_bytes) + " made by templates and functions, " +
                       bytes(render.memory_bytes) + " held, " + millions(render.actions) +
                       " actions, " + millions(render.walk_steps) + " steps, " +
                       number(static_cast<std::uint64_t>(render.include_depth)) +
                       " includes deep, " + duration(render.time)},
      {"a check against a schema",
       millions(helm::schemas::check_steps_limit) + " steps; no file or address outside the chart"},
      {"a post-renderer; a container's log",
       "5 min, 256 MiB; its first " + bytes(helm::objects::log_bytes_limit)},
      {"shutdown",
       duration(app::stop_guard::longest) + " after the first SIGTERM, at once after the second"},
  };
}

/// A figure of a row that is written by hand, and the text of the source that says it; without a
/// source: a figure that is no limit of ours.
struct written_figure {
  const char *figure, *file = "", *source = "";
};

const std::map<std::string, std::vector<written_figure>>& rows_by_hand() {
  static const std::map<std::string, std::vector<written_figure>> rows = {
      {"one event line / HTTP head / JSON answer",
       {{"4 MiB", "k8s/informer/watch_state.hpp", "line_limit_bytes = 4 * 1024 * 1024"},
        {"64 KiB", "reactor/http/client.hpp", "header_limit_bytes = 64 * 1024"},
        {"4 MiB", "k8s/client/client.cpp", "object_limit_bytes = 4 * 1024 * 1024"},
        {"16 MiB", "k8s/client/client.cpp", "page_limit_bytes = 16 * 1024 * 1024"},
        {"200,000", "formats/json/values.hpp", "most_json_values = 200'000"}}},
      {"connections to one server; servers that registries lead to",
       {{"64 for", "reactor/http/client.hpp", "max_connections = 64"},
        {"2,000", "reactor/http/client.hpp", "max_streams = 2'000"},
        {"64 are", "registry/web.cpp", "most_servers = 64"}}},
      {"an object that becomes a view",
       {{"20,000", "k8s/client/wire.hpp", "most_steps = 20'000"},
        {"2,000", "k8s/informer/meta.cpp", "most_members = 2'000"},
        {"256 KiB", "k8s/informer/meta.cpp", "map_limit_bytes = 256 * 1024"}}},
      {"views of a collection / of a cluster",
       {{"200,000", "k8s/informer/view_budget.hpp", "most_objects = 200'000"},
        {"256 MiB", "k8s/informer/view_budget.hpp", "most_bytes = 256 * 1024 * 1024"},
        {"512 MiB", "k8s/informer/view_budget.hpp", "most_bytes = 512 * 1024 * 1024"},
        {"150,000"},
        {"5,000"}}},
      {"Nodes, and BootcNodes, of a cluster; its pools",
       {{"10,000", "bootc/bootc_cluster.cpp", "most_nodes = 10'000"},
        {"1,000", "bootc/bootc_cluster.cpp", "most_pools = 1'000"},
        {"1 ms"},
        {"20 ms", "bootc/pool/reconciler/node_pool_reconciler.cpp", "pace_of_node = 20ms"},
        {"5 s", "bootc/pool/reconciler/node_pool_reconciler.cpp", "longest_pace = 5s"}}},
      {"pods of a node that is drained", {{"2,500", "bootc/pool/drains.cpp", "most_pods = 2'500"}}},
      {"connect, response; half-open stream, restored storage, lagging replica",
       {{"5 s", "reactor/http/client.hpp", "connect_timeout = 5s"},
        {"30 s", "reactor/http/client.hpp", "response_timeout = 30s"},
        {"20 s", "k8s/informer/watch_state.hpp", "the 20 s and 17 min after which"},
        {"3 min", "k8s/informer/watch_state.hpp", "rest_silence = 90s"},
        {"17 min", "k8s/informer/watch_state.hpp", "attended{8s, 1s}, unattended{15min, 75s}"}}},
      {"a peer ahead of the others, on all its connections",
       {{"1/50", "reactor/allowance.hpp", "one_of = 50"},
        {"0.5 ms", "reactor/allowance.hpp", "at_once = 500us"},
        {"20 ms", "reactor/loop_slice.hpp", "most_ahead = 20ms"}}},
      {"an answer's interim answers; chunks and gzip beside their data",
       {{"32;", "reactor/http/wire.hpp", "most_interim_answers = 32"},
        {"16 KiB", "reactor/http/wire.cpp", "overhead_of_all_chunks = 16 * 1024"},
        {"32 KiB", "reactor/http/gzip.cpp", "most_empty_bytes = 32 * 1024"}}},
      {"TLS",
       {{"1.3"},
        {"1.2", "reactor/net/tls_context.cpp", "TLS1_2_VERSION) != 1"},
        {"8,192", "reactor/net/tls_context.cpp", "most_rsa_bits = 8192"},
        {"4,096", "reactor/net/tls_context.cpp", "most_own_rsa_bits = 4096"},
        {"10 cert", "reactor/net/tls.cpp", "most_shown_certificates = 10"},
        {"16 KiB", "reactor/net/tls_context.cpp", "most_chain_bytes = 16 * 1024"}}},
      {"a listener",
       {{"5 s", "service/page/site.cpp", "header_timeout = 5s"},
        {"10 s", "service/page/site.cpp", "write_timeout = 10s"}}},
      {"a member's token",
       {{"10 min", "k8s/fleet/member_token.hpp", "shortest_token_life = std::chrono::minutes(10)"},
        {"366 days", "k8s/fleet/member_token.hpp",
         "longest_token_life = std::chrono::hours(24 * 366)"},
        {"30 days", "helm/members/addition.hpp", "token_life = std::chrono::hours(24 * 30)"},
        {"60 to 80 %", "k8s/fleet/member_token.cpp",
         "life / 1000 * (600 + static_cast<std::int64_t>(h % 200))"},
        {"1 min", "k8s/fleet/fleet.hpp", "renewal_retry{60s, 1h, 2, 0.2}"},
        {"1 h", "k8s/fleet/fleet.hpp", "renewal_retry{60s, 1h, 2, 0.2}"}}},
      {"requests to one API server",
       {{"400 a second", "k8s/pace/pace.hpp", "first = 400;"},
        {"400 at once", "k8s/client/client.cpp", "burst = 400"},
        {"400 again"},
        {"3,200", "k8s/pace/pace.hpp", "most = 3'200"},
        {"1,600", "k8s/pace/pace.hpp", "most_unguarded = 1'600"},
        {"429"},
        {"0.25 s", "k8s/pace/pace.cpp", "always_good = 250ms"},
        {"1 and 100", "k8s/pace/pace.hpp", "least_slow = 100"},
        {"429"}}},
      {"reconnect backoff",
       {{"0.8 s", "k8s/informer/watch_state.hpp", "backoff_first = 800ms"},
        {"30 s", "k8s/informer/watch_state.hpp", "backoff_most = 30s"},
        {"1 s", "k8s/fleet/cluster.hpp", "retry{1s, 60s, 2, 0.2}"},
        {"60 s", "k8s/fleet/cluster.hpp", "retry{1s, 60s, 2, 0.2}"},
        {"20 %", "k8s/fleet/cluster.hpp", "retry{1s, 60s, 2, 0.2}"}}},
      {"questions about tags",
       {{"16 in all", "bootc/tags/tag_watcher.hpp", "at_once = 16"},
        {"1 MiB", "registry/manifest.hpp", "named_manifest_bytes_limit = 1u << 20"},
        {"50,000", "registry/manifest.hpp", "manifest_values_limit = 50'000"},
        {"120 s", "registry/web.hpp", "download_timeout = std::chrono::seconds(120)"},
        {"500 bytes", "registry/session.cpp", "message_bytes = 500"}}},
      {"which Kubernetes an image carries",
       {{"16 at a time", "bootc/tags/image_versions.cpp", "most_questions = 16"},
        {"10 minutes", "bootc/tags/image_versions.cpp", "asked_again_after = 10min"},
        {"1 MiB", "registry/tag_reader.cpp", "config_bytes_limit = 1u << 20"},
        {"50,000", "registry/tag_reader.cpp", "config_values_limit = 50'000"},
        {"4,096", "bootc/tags/image_versions.cpp", "most_images = 4'096"}}},
      {"an OCI registry with charts",
       {{"100,000", "registry/client.cpp", "tags_limit = 100'000"},
        {"4 MiB", "registry/client.cpp", "tags_bytes_limit = 4u << 20"},
        {"100,000"},
        {"4 MiB", "helm/sources/chart_registry.cpp", "config_bytes_limit = 4u << 20"},
        {"50,000", "helm/sources/chart_registry.cpp", "config_values_limit = 50'000"}}},
      {"series of metrics",
       {{"100,000", "reactor/metrics.cpp", "max_series = 100'000"},
        {"4,000", "app/api/row_figures.hpp", "most_rows = 4'000"}}},
      {"a policy call",
       {{"200,000", "policies/host/pack.hpp", "unit_instructions = 200'000"},
        {"64 MiB", "policies/host/sandbox.hpp", "heap_bytes = 64 * 1024 * 1024"},
        {"1 MiB", "policies/host/state.hpp", "max_block_bytes = 1024 * 1024"},
        {"5 s", "policies/host/sandbox.hpp", "processor_time = std::chrono::seconds(5)"},
        {"60 s", "policies/host/sandbox.hpp", "wall_time = std::chrono::seconds(60)"},
        {"2 ms", "reactor/loop.hpp", "a_stall = std::chrono::milliseconds(2)"}}},
      {"what a pool's `windlass.dev/guard-objects` names",
       {{"8 objects", "bootc/pool/guard/guarded.cpp", "most_objects = 8"},
        {"5 s", "bootc/pool/guard/guarded.cpp", "answer_within = 5s"},
        {"5 s"}}},
      {"signals that a pack declares; that are fetched",
       {{"16,", "policies/host/signals/declaration.hpp", "most = 16,"},
        {"2,048", "policies/host/signals/declaration.hpp", "query_bytes = 2'048"},
        {"5 s", "policies/host/signals/declaration.hpp", "least_every = std::chrono::seconds(5)"},
        {"1,000", "signals/keeper.hpp", "most_series = 1'000"},
        {"8 at", "signals/keeper.hpp", "most_at_once = 8"},
        {"64 KiB", "signals/answer.hpp", "most_answer_bytes = 64 * 1024"},
        {"10 s", "signals/keeper.hpp", "longest_question = std::chrono::seconds(10)"},
        {"30 min", "signals/keeper.hpp", "forgotten_after = std::chrono::minutes(30)"}}},
      {"packs in a ConfigMap",
       {{"64", "service/config_map_packs.cpp", "most_packs = 64"},
        {"10 s", "service/config_map_packs.cpp", "first_answer = 10s"}}},
      {"a pack's log; a TOML, JSON or YAML text it reads or writes",
       {{"20 lines", "policies/host/host.cpp", "log_burst = 20"},
        {"64 KiB", "policies/host/data_library.cpp", "most_toml_bytes = 64 * 1024"}}},
      {"a fleet file; its clusters",
       {{"64 KiB", "simulation/fleet_file.cpp", "most_bytes = 64 * 1024"},
        {"100 of", "simulation/fleet_file.cpp", "most_clusters = 100"},
        {"3 to", "simulation/fleet_file.cpp", "fewest_nodes = 3"},
        {"200 nodes", "simulation/fleet_file.cpp", "most_nodes = 200"},
        {"2,000", "simulation/fleet_file.cpp", "most_nodes_in_all = 2'000"}}},
      {"a pack",
       {{"192", "policies/host/pack_files.cpp", "max_files = 64 + max_data_files"},
        {"128", "policies/host/pack_files.cpp", "max_data_files = 128"},
        {"64 KiB", "policies/host/pack_files.cpp", "max_lua_bytes = 64 * 1024"},
        {"1 MiB", "policies/host/pack_files.cpp", "max_pack_bytes = 1024 * 1024"},
        {"2,000", "policies/host/pack.cpp", "about_limits{.depth = 6, .nodes = 2'000"},
        {"16 KiB", "policies/host/state.hpp", "max_pattern_bytes = 16 * 1024"},
        {"1LL", "policies/host/source_check.hpp", "the literals 1LL"},
        {"1i"}}},
      {"a pack's folder of data",
       {{"128", "policies/host/pack_files.cpp", "max_data_files = 128"},
        {"256 KiB", "policies/host/pack_files.cpp", "max_data_bytes = 256 * 1024"},
        {"4 MiB", "policies/host/pack_files.cpp", "max_data_bytes, 4 * max_pack_bytes}"}}},
      {"an answer of `compose.sync`; of `compose.related`",
       {{"500 children", "compose/rules/answer.hpp", "most_children = 500"},
        {"512 KiB", "compose/rules/answer.cpp", "most_text_bytes = 512 * 1024"},
        {"30", "compose/rules/answer.cpp", "most_conditions = 30"},
        {"20 events", "compose/rules/answer.cpp", "most_events = 20"},
        {"200 queries", "compose/rules/answer.hpp", "most_related = 200"},
        {"500 objects", "compose/compose_pass.cpp", "most_related_objects = 500"}}},
      {"charts for Tenants",
       {{"60 s", "helm/tenants/desired/chart_requests.hpp",
         "index_kept = std::chrono::seconds(60)"},
        {"15 s", "helm/tenants/desired/chart_requests.hpp",
         "failure_kept = std::chrono::seconds(15)"},
        {"64 charts", "helm/tenants/supply/chart_supply.cpp", "most_indexes = 64"},
        {"2 MiB", "helm/tenants/supply/supply_jobs.cpp", "most_offers_bytes = 2u << 20"},
        {"8 MiB of", "helm/tenants/supply/chart_supply.cpp", "archives_bytes = 8u << 20"},
        {"24 MiB", "helm/tenants/supply/chart_supply.cpp", "most_index_bytes = 24u << 20"},
        {"8 MiB", "helm/tenants/supply/chart_supply.cpp", "most_archive_bytes = 8u << 20"}}},
      {"a child process for an index; the records of a release",
       {{"10 s", "helm/tenants/chart_children.cpp", "o.limits.processor *= 2"},
        {"130 s", "helm/tenants/chart_children.cpp",
         "o.limits.wall = sources::download_timeout + std::chrono::seconds(10)"},
        {"32 MiB", "helm/placed/release_operation.cpp", "history_bytes = 32u << 20"},
        {"64 MiB", "helm/release/record_codec.cpp", "unpacked_limit = 64u << 20"}}},
      {"operations on Tenants' releases; Tenants of a cluster",
       {{"4 a cluster", "helm/tenants/desired/settings.hpp",
         "std::size_t per_cluster = 4, in_all = 16"},
        {"16 in all", "helm/tenants/desired/settings.hpp",
         "std::size_t per_cluster = 4, in_all = 16"},
        {"180 s", "helm/placed/plan/retries.hpp", "operation_timeout = 180s"},
        {"120 s", "helm/placed/plan/retries.hpp", "uninstall_timeout = 120s"},
        {"10,000", "helm/tenants/cluster/tenant_cluster.cpp", "most_tenants = 10'000"}}},
      {"operations of the service together",
       {{"128 KiB", "reactor/work_memory.hpp", "small_bytes = 128u << 10"},
        {"1 min", "reactor/work_memory.hpp", "works_for = std::chrono::minutes(1)"},
        {"8 MiB", "reactor/work_memory.hpp", "resting_bytes = 8u << 20"}}},
      {"KryptonDeployments; their operations; a region",
       {{"10,000", "helm/tenants/home/watched_deployments.cpp", "most_deployments = 10'000"},
        {"4 a region", "helm/tenants/desired/settings.hpp",
         "std::size_t per_cluster = 4, in_all = 16"},
        {"16 in all", "helm/tenants/desired/settings.hpp",
         "std::size_t per_cluster = 4, in_all = 16"},
        {"300 s", "helm/tenants/plan/deployment_plan.hpp", "deployment_timeout = 300s"},
        {"10 s", "helm/tenants/home/region.hpp", "patience = std::chrono::seconds(10)"},
        {"10 min", "helm/tenants/plan/deployment_plan.hpp", "abandon_after = 600s"},
        {"64 regions", "helm/tenants/home/deployments_at_home.cpp", "watched_at_once = 64"},
        {"30 s", "helm/tenants/home/deployments_at_home.cpp", "shortest = 30s, of_each = 50ms"},
        {"50 ms", "helm/tenants/home/deployments_at_home.cpp", "shortest = 30s, of_each = 50ms"}}},
      {"requests of a cluster's drains", {{"50", "bootc/pool/drains.hpp", "places_ = 50"}}},
      {"a change of what a drain waits for; the note of it on the BootcNode",
       {{"5 s", "bootc/pool/drains.cpp", "tell_trouble_after = 5s"},
        {"10 s", "bootc/pool/drains.cpp", "tell_ending_after = 10s"}}},
      {"a pack's tests",
       {{"20 million", "policies/host/pack.cpp", "test_instructions = 20'000'000"},
        {"1,000 million", "policies/host/pack.cpp", "run_instructions = 50 * test_instructions"}}},
      {"a text in a table or sentence; a value in a log line; a column",
       {{"4 KiB", "reactor/plain/printable.hpp",
         "std::string printable(std::string_view text, std::size_t limit_bytes = 4'096)"},
        {"8 KiB", "reactor/log.cpp", "value_limit_bytes = 8'192"},
        {"200", "app/output.cpp", "most_padded_columns = 200"}}},
      {"a kubeconfig; its trust or key; a token or password; a client's RSA key",
       {{"4 MiB", "k8s/client/kubeconfig.cpp",
         "constexpr std::size_t file_limit_bytes = 4 * 1024 * 1024"},
        {"100,000", "k8s/client/kubeconfig.cpp", "limits.nodes = 100'000"},
        {"16 levels", "k8s/client/kubeconfig.cpp", "limits.depth = 16"},
        {"512 KiB", "k8s/client/kubeconfig.cpp", "pem_limit_bytes = 512 * 1024"},
        {"300", "k8s/client/certificates.cpp", "most_certificates = 300"},
        {"16 KiB", "k8s/client/kubeconfig.cpp", "header_limit_bytes = 16 * 1024"},
        {"4,096", "k8s/client/certificates.cpp", "longest_rsa_key_bits = 4'096"}}},
      {"FleetCharts, and FleetPools, at home; values of one; what they need",
       {{"1,000", "fleetwide/fleet_home.hpp", "most_fleet_objects = 1'000"},
        {"256 KiB", "fleetwide/charts/values_objects.hpp", "most_bytes = 256 * 1024"},
        {"256 KiB", "", ""},
        {"256 KiB", "fleetwide/kinds/chart_spec.hpp", "most_bytes = 256 * 1024"},
        {"2,000,000", "fleetwide/charts/chart_content.cpp", ".steps = 2'000'000"},
        {"16 MiB", "fleetwide/charts/chart_content.cpp", ".memory_bytes = 16u << 20"},
        {"32", "fleetwide/kinds/chart_spec.hpp", "most_sources = 32"},
        {"32", "fleetwide/kinds/chart_spec.hpp", "most_dependencies = 32"},
        {"128", "fleetwide/charts/needs.hpp", "most_needed_looks = 128"},
        {"1 MiB", "fleetwide/kinds/revision.hpp", "most_revision_bytes = 1'048'576"},
        {"2", "fleetwide/charts/chart_home.cpp", "most_fetches_of_others = 2"}}},
      {"Releases at home; pools of a cluster that follow them; answers about them that are kept",
       {{"2,000", "releases/home_releases.cpp", "most_releases = 2'000"},
        {"1,000", "releases/release_pools.cpp", "most_pools = 1'000"},
        {"4,096", "releases/library.cpp", "most_answers = 4'096"}}},
      {"a Release; a train document; what `train facts` asks for",
       {{"1 MiB", "releases/rules/fields.cpp", "most_bytes = 1024 * 1024"},
        {"2,000", "releases/rules/document.cpp", "most_entries_of_a_list = 2'000"},
        {"1 MiB", "releases/trains/train.cpp", "most_bytes = 1024 * 1024"},
        {"20,000", "releases/trains/train.cpp", "most_values = 20'000"},
        {"1,000", "releases/commands/facts.hpp", "most_tags = 1'000"},
        {"30 s", "releases/commands/facts.cpp", "git_deadline = std::chrono::seconds(30)"},
        {"4 MiB", "releases/commands/facts.cpp", "out_limit_bytes = 4u << 20"},
        {"64 KiB", "policies/host/data_library.cpp", "most_toml_bytes = 64 * 1024"}}},
  };
  return rows;
}

TEST(Docs, EachFigureOfALimitThatIsWrittenByHandStandsInTheSource) {
  std::set<std::string> made;
  for (const auto& [what, limit] : rows_of_constants()) made.insert(what);
  std::istringstream text(bytes_of(root / "docs/reference/limits.md"));
  std::size_t rows = 0, figures = 0;
  for (std::string line; std::getline(text, line);) {
    const std::size_t between = line.find(" | ");
    if (!line.starts_with("| ") || line.starts_with("| --") || between == line.npos) continue;
    const std::string what = line.substr(2, between - 2);
    if (what == "what" || made.contains(what)) continue;
    ++rows;
    const auto found = rows_by_hand().find(what);
    ASSERT_NE(found, rows_by_hand().end()) << what << " is neither made nor held by a source";
    std::string left = line.substr(between);
    for (const written_figure& f : found->second) {
      const std::size_t at = left.find(f.figure);
      ASSERT_NE(at, left.npos) << what << " does not say " << f.figure;
      left.erase(at, std::string_view(f.figure).size());
      if (std::string_view(f.file).empty()) continue;
      ++figures;
      const std::string source = bytes_of(root / f.file);
      const std::size_t once = source.find(f.source);
      EXPECT_NE(once, source.npos)
          << what << ": " << f.figure << " is no longer " << f.source << " of " << f.file;
      EXPECT_EQ(once, source.rfind(f.source)) << f.source << " stands twice in " << f.file;
    }
    EXPECT_EQ(left.find_first_of("0123456789"), left.npos)
        << what << " has a figure more: " << left;
  }
  EXPECT_EQ(rows, rows_by_hand().size());
  EXPECT_GT(figures, 100u);
}

TEST(Docs, TheReferenceOfLimitsHasTheConstants) {
  const auto file = root / "docs/reference/limits.md";
  std::string text = bytes_of(file);
  for (const auto& [what, limit] : rows_of_constants()) {
    const std::string begin = "| " + what + " | ", row = begin + limit + " |\n";
    const std::size_t at = text.find("\n" + begin);
    ASSERT_NE(at, text.npos) << what;
    const std::size_t end = text.find('\n', at + 1);
    EXPECT_EQ(text.substr(at + 1, end - at), row) << "older than the program: ./dev render";
    text.replace(at + 1, end - at, row);
  }
  if (std::getenv("WINDLASS_RENDER")) std::ofstream(file) << text;
}

}  // namespace
