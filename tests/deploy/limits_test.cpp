// The figures of docs/reference/limits.md that are constants of the program.
#include "app/stop_guard.hpp"
#include "bootc/kinds/node_pool.hpp"
#include "bootc/pool/pool_status.hpp"
#include "formats/json/values.hpp"
#include "helm/apart/child.hpp"
#include "helm/charts/chart.hpp"
#include "helm/objects/cluster_objects.hpp"
#include "helm/schema/validator.hpp"
#include "helm/template/executor.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/fleet/fleet.hpp"
#include "k8s/informer/watch_state.hpp"
#include "policies/host/record/record.hpp"
#include "reactor/turn.hpp"
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
#include <string>
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
  using turn = reactor::turn;
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
       duration(turn::longest) + ", " + bytes(turn::most_bytes) + " or " +
           number(turn::most_steps) + " steps, then everybody else"},
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
