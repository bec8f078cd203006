// The child processes of the service: this program is one itself when it is started as such.
#include "formats/digest.hpp"
#include "formats/gzip.hpp"
#include "formats/tar.hpp"
#include "helm/objects/manifest_job.hpp"
#include "helm/placed/stored_release.hpp"
#include "helm/release/own_records.hpp"
#include "helm/release/release_jobs.hpp"
#include "helm/render/chart_cache.hpp"
#include "helm/tenants/chart_children.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "helm/tenants/supply/supply_jobs.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/memory.hpp"
#include "tests/reactor/run.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace helm::tenants {
namespace {

namespace fs = std::filesystem;
using namespace helm::placed;
using reactor::awaitable;
using reactor::run_task;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// What a stranger who has taken a child over would try. It stands in the place of a job here.
struct misdeed {
  static constexpr apart::job_number number = apart::job_number::stored;
  std::string what;
  struct answer {
    std::string said;
  };
  answer run(release::loaded&) const {
    if (what == "loop") {
      for (std::uint64_t i = 0;; ++i) asm volatile("" : "+r"(i));
    }
    if (what == "allocate") {
      std::vector<std::string> all;
      for (;;) all.emplace_back(1u << 20, 'x');
    }
    if (what == "die") std::raise(SIGSEGV);
    static int taken_over = 0;
    if (what == "count") return {std::to_string(++taken_over)};
    if (what == "garbage") (void)!::write(STDOUT_FILENO, "\1\0\0\0\0\0\0\0x", 9);
    std::string opened;
    const auto note = [&](const char* name, bool is_open) {
      if (is_open) opened += std::string(name) + " ";
    };
    note("file", ::open("/etc/hostname", O_RDONLY) >= 0);
    note("socket", ::socket(AF_INET, SOCK_STREAM, 0) >= 0);
    note("local-socket", ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
    note("process", ::fork() >= 0);
    note("program", ::execl("/bin/true", "true", nullptr) == 0);
    note("signal", ::kill(::getppid(), 0) == 0);
    note("folder", ::chdir("/") == 0);
    note("environment", environ != nullptr && *environ != nullptr);
    note("descriptor", ::fcntl(3, F_GETFD) != -1);
    return {opened.empty() ? "nothing" : opened};
  }
};

apart::handler misdeed_or_stored() {
  return {misdeed::number,
          [](const apart::request& r, release::loaded& chart,
             const text_source& pieces) -> outcome<std::string> {
            if (auto job = from_bytes<misdeed>(r.body, 1u << 20)) return to_bytes(job->run(chart));
            return apart::handler_of<stored_release>().run(r, chart, pieces);
          }};
}

std::string chart_of(const std::string& text, const std::string& more = "") {
  formats::tar_writer tar(0);
  tar.file("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: \"7\"\n");
  tar.file("web/values.yaml", "v: standard\nn: 3\n");
  tar.file("web/crds/a.yaml", "kind: CustomResourceDefinition\n");
  tar.file("web/templates/NOTES.txt", "hello {{ .Release.Name }}");
  tar.file("web/templates/x.yaml", text);
  if (!more.empty()) tar.file("web/templates/y.yaml", more);
  return formats::gzip(std::move(tar).finish());
}

class ChartChildren : public ::testing::Test {
protected:
  static void SetUpTestSuite() { std::signal(SIGPIPE, SIG_IGN); }
  chart_children::options options() {
    chart_children::options o;
    o.metrics = &metrics;
    // On a machine that is busy with other things no job gets its processor time within a minute.
    o.limits.wall = std::chrono::hours(1);
    return o;
  }
  void with_children(chart_children::options o,
                     std::function<awaitable<void>(reactor::loop&, chart_children&)> body) {
    reactor::loop l;
    run_task(l, [&]() -> awaitable<void> {
      chart_children children(l, std::move(o));
      co_await body(l, children);
      co_await children.stop();
    });
    EXPECT_EQ(l.live(), reactor::nothing_live);
  }
  std::string try_misdeed(std::string what,
                          std::function<void(chart_children::options&)> set = {}) {
    std::string out;
    chart_children::options o = options();
    o.limits.processor = std::chrono::seconds(1);
    if (set) set(o);
    with_children(std::move(o), [&](reactor::loop& l, chart_children& c) -> awaitable<void> {
      misdeed job;
      job.what = what;
      auto said = co_await apart::ask(l, c, std::move(job));
      out = said ? said->said : "[" + said.error().text + "]";
    });
    return out;
  }
  double ended(const std::string& reason) {
    return metrics.get_counter(tenant_metrics::children_ended, {{"reason", reason}}).value();
  }
  reactor::metrics metrics;
};

release::render_request rendering(std::shared_ptr<prepared_chart> chart, value values) {
  release::render_request r;
  r.chart = std::move(chart);
  r.values = std::move(values);
  r.release = {"acme", "tenants", 1, true, false};
  r.caps = default_capabilities();
  r.now = std::chrono::system_clock::time_point(std::chrono::seconds(1'767'225'600));
  r.limits = service_chart_limits;
  return r;
}

TEST_F(ChartChildren, HaveNothingOfOurs) {
  // What they inherit if nobody takes it away.
  const int file = ::open("/etc/hostname", O_RDONLY);
  ::setenv("WINDLASS_SECRET", "s3cret", 1);
  EXPECT_EQ(try_misdeed("look"), "nothing");
  with_children(options(), [&](reactor::loop& l, chart_children& c) -> awaitable<void> {
    index_job job;
    job.chart = "web";
    job.memory_bytes = 1u << 20;
    index_stream index(l, std::move(job));
    (void)co_await index.put("apiVersion: v1\nentries: {}\n");
    (void)co_await unpack_apart(l, std::make_shared<chart_cache>(), "no archive");
    const std::vector<int> all = c.pids();
    EXPECT_EQ(all.size(), 4u);
    for (const int pid : all) {
      const std::string of = "/proc/" + std::to_string(pid);
      std::ifstream environment(of + "/environ");
      EXPECT_EQ(std::string(std::istreambuf_iterator<char>(environment), {}), "");
      // While it starts it reads libraries and zones. Who is not root cannot look, which is right.
      std::set<std::string> open;
      std::error_code unseen;
      while (!unseen && open != std::set<std::string>{"0", "1", "2"}) {
        co_await l.sleep_for(std::chrono::milliseconds(1));
        open.clear();
        for (const auto& one : fs::directory_iterator(of + "/fd", unseen))
          open.insert(one.path().filename());
      }
    }
  });
  ::unsetenv("WINDLASS_SECRET");
  ::close(file);
}

TEST_F(ChartChildren, AreEndedForWhatTheyDo) {
  EXPECT_THAT(try_misdeed("loop"), HasSubstr("limit of processor time"));
  EXPECT_EQ(ended("processor"), 1);
#if !defined(__SANITIZE_ADDRESS__)  // which has its own end for a fault, and no limit of memory
  EXPECT_THAT(try_misdeed("die"), HasSubstr("signal 11"));
  EXPECT_EQ(ended("signal"), 1);
  EXPECT_THAT(try_misdeed("allocate"), HasSubstr("ran out of memory"));
  EXPECT_EQ(ended("memory"), 1);
#endif
  EXPECT_THAT(try_misdeed("garbage"), HasSubstr("what was handed over is damaged"));
  const auto nowhere = [](chart_children::options& o) { o.program = "/no/such/program"; };
  EXPECT_THAT(try_misdeed("look", nowhere), HasSubstr("the child process cannot be started"));
  EXPECT_EQ(ended("start"), 1);
}

/// A child that a chart or a record has taken over may say anything, but of nothing else.
TEST_F(ChartChildren, WorkForOneChartOrOneReleaseAlone) {
  with_children(options(), [&](reactor::loop& l, chart_children& c) -> awaitable<void> {
    std::string jobs_before;
    for (const char* owner : {"release a", "release a", "release b", "release c", "release a"}) {
      misdeed job;
      job.what = "count";
      auto said = co_await apart::ask(l, c, std::move(job), nullptr, owner);
      jobs_before += said ? said->said : said.error().text;
    }
    EXPECT_EQ(jobs_before, "12111");
    // Two charts, one after the other and again.
    auto archives = std::make_shared<chart_cache>(1u << 20, service_chart_limits);
    std::set<std::vector<int>> pairs;
    for (const char* text : {"a: 1\n", "b: 1\n", "c: 1\n"}) {
      const unpacked_chart u = co_await unpack_apart(l, archives, chart_of(text));
      EXPECT_EQ(u.problem, "");
      pairs.insert(c.pids());
    }
    EXPECT_EQ(pairs.size(), 3u);
  });
  EXPECT_EQ(ended("abandoned") + ended("signal") + ended("exit"), 0);
}

TEST_F(ChartChildren, RenderAsThisProcessDoes) {
  const std::string archive = chart_of(
      "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata:\n  v: {{ .Values.v }}\n"
      "  n: \"{{ add .Values.n 1 }}\"\n  zone: {{ dateInZone \"15:04\" (toDate \"2006-01-02 "
      "15:04\" \"2026-07-01 12:00\") \"Europe/Berlin\" }}\n",
      "kind: Job\napiVersion: batch/v1\nmetadata:\n  name: h\n  annotations: {helm.sh/hook: "
      "pre-install}\n");
  value::map_type given;
  given["v"] = "mine";
  given["list"] = value(value::list_type{value(1.5), value(true), value()});
  const value values(std::move(given));
  auto cache = std::make_shared<chart_cache>(1u << 20, service_chart_limits);
  auto here = cache->from_archive(archive);
  ASSERT_TRUE(here);
  const release::rendered ours = release::render_release(rendering(*here, values));
  ASSERT_FALSE(ours.failure) << ours.failure->text;
  auto crds = release::crds_of(**here, values, service_chart_limits);
  ASSERT_TRUE(crds);
  with_children(options(), [&](reactor::loop& l, chart_children&) -> awaitable<void> {
    auto archives = std::make_shared<chart_cache>(1u << 20, service_chart_limits);
    unpacked_chart u = co_await unpack_apart(l, archives, archive);
    EXPECT_EQ(u.problem, "");
    if (!u.chart) co_return;
    EXPECT_EQ(u.chart->meta().name + " " + u.chart->meta().version, "web 1.2.3");
    EXPECT_TRUE(u.chart->archived());
    EXPECT_EQ(archives->find(u.digest), u.chart);
    release::render_request r = rendering(u.chart, detached_copy(values));
    const release::rendered theirs = co_await release::render_apart(l, std::move(r));
    EXPECT_FALSE(theirs.failure);
    EXPECT_EQ(theirs.manifest, ours.manifest);
    EXPECT_THAT(theirs.manifest, HasSubstr("zone: 14:00"));
    EXPECT_EQ(theirs.notes, ours.notes);
    EXPECT_EQ(theirs.hooks.size(), 1u);
    auto theirs_crds =
        co_await release::crds_apart(l, u.chart, detached_copy(values), service_chart_limits);
    EXPECT_TRUE(theirs_crds && *theirs_crds == *crds);
    // A record of it is the same, byte for byte.
    release::record one, other;
    one.name = other.name = "acme";
    one.origin = ours.processed;
    other.origin = theirs.processed;
    EXPECT_EQ(*release::write_record(one), *release::write_record(other));
    EXPECT_EQ(release::chart_label(other), "web-1.2.3");
    EXPECT_EQ(release::app_version(other), "7");
  });
}

TEST_F(ChartChildren, AskForWhatTheyLookUpAndForAChartThatTheyDoNotHave) {
  const std::string archive = chart_of(
      "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata:\n  v: {{ (lookup \"v1\" "
      "\"ConfigMap\" \"ns\" \"x\").data.v }}\n");
  with_children(options(), [&](reactor::loop& l, chart_children& c) -> awaitable<void> {
    auto archives = std::make_shared<chart_cache>(1u << 20, service_chart_limits);
    unpacked_chart u = co_await unpack_apart(l, archives, archive);
    if (!u.chart) {
      ADD_FAILURE() << u.problem;
      co_return;
    }
    release::render_request r = rendering(u.chart, value(value::map_type{}));
    const release::rendered first = co_await release::render_apart(l, std::move(r));
    EXPECT_TRUE(first.missing == (release::lookup_key{"v1", "ConfigMap", "ns", "x"}));
    for (const int pid : c.pids()) ::kill(pid, SIGKILL);
    release::lookup_answers answers;
    answers[{"v1", "ConfigMap", "ns", "x"}] = {R"({"data": {"v": "found"}})", ""};
    std::string said;
    for (int i = 0; i < 3 && said.empty(); ++i) {  // that one was killed may be seen late
      release::render_request again = rendering(u.chart, value(value::map_type{}));
      again.answers = std::make_shared<const release::lookup_answers>(answers);
      const release::rendered second = co_await release::render_apart(l, std::move(again));
      said = second.manifest;
    }
    EXPECT_THAT(said, HasSubstr("v: found"));
  });
}

TEST_F(ChartChildren, RenderOnceForAllWhatIsNotMadeByChance) {
  const auto counted = [&](const char* result) {
    return metrics.get_counter(tenant_metrics::chart_renders, {{"result", result}}).value();
  };
  const auto twice = [&](const std::string& text) {
    std::vector<release::rendered> out;
    with_children(options(), [&](reactor::loop& l, chart_children&) -> awaitable<void> {
      auto archives = std::make_shared<chart_cache>(1u << 20, service_chart_limits);
      const unpacked_chart u = co_await unpack_apart(l, archives, chart_of(text));
      EXPECT_EQ(u.problem, "");
      for (int i = 0; u.chart && i < 2; ++i) {
        release::render_request r = rendering(u.chart, value(value::map_type{}));
        out.push_back(co_await release::render_apart(l, std::move(r)));
      }
    });
    out.resize(2);
    return out;
  };
  const auto same = twice("a: {{ .Release.Name }}\n");
  EXPECT_FALSE(same[0].failure || same[0].impure);
  EXPECT_EQ(same[0].manifest, same[1].manifest);
  EXPECT_TRUE(same[1].processed && *same[0].processed->recorded == *same[1].processed->recorded);
  EXPECT_EQ(counted("made"), 1);
  EXPECT_EQ(counted("saved"), 1);
  const auto different = twice("a: {{ genPrivateKey \"ed25519\" | quote }}\n");
  EXPECT_TRUE(different[0].impure && different[1].impure);
  EXPECT_NE(different[0].manifest, different[1].manifest);
  EXPECT_EQ(counted("made"), 3);
  EXPECT_EQ(counted("saved"), 1);
}

TEST_F(ChartChildren, AChartThatCannotBeLoadedOrRenderedSaysWhy) {
  with_children(options(), [&](reactor::loop& l, chart_children&) -> awaitable<void> {
    auto archives = std::make_shared<chart_cache>(1u << 20, service_chart_limits);
    unpacked_chart none = co_await unpack_apart(l, archives, "no archive");
    EXPECT_EQ(none.chart, nullptr);
    EXPECT_NE(none.problem, "");
    unpacked_chart u = co_await unpack_apart(l, archives, chart_of("{{ fail \"not today\" }}"));
    if (!u.chart) {
      ADD_FAILURE() << u.problem;
      co_return;
    }
    release::render_request r = rendering(u.chart, value(value::map_type{}));
    const release::rendered failed = co_await release::render_apart(l, std::move(r));
    EXPECT_TRUE(failed.failure);
    if (failed.failure) {
      EXPECT_THAT(failed.failure->text, HasSubstr("not today"));
    }
  });
  EXPECT_EQ(ended("exit") + ended("signal") + ended("memory") + ended("answer"), 0);
}

TEST_F(ChartChildren, BoundOwnRecordsAsThoseOfStrangers) {
  release::record r;
  r.name = "web";
  r.manifest = std::string(3u << 20, 'x');
  const auto large = release::encode_record(r);
  ASSERT_TRUE(large);
  std::string deep = "{\"config\":";
  for (int i = 0; i < 1'000'000; ++i) deep += '[';
  const std::string nested = release::pack_record(deep);
  with_children(options(), [&](reactor::loop& l, chart_children&) -> awaitable<void> {
    for (const std::string owner : {release::own_records, "release web"}) {
      auto over = co_await release::read_record_apart(l, *large, 1u << 20, owner);
      EXPECT_TRUE(over && over->bytes > 1u << 20 && over->what.manifest.empty()) << owner;
      auto refused = co_await release::read_record_apart(l, nested, 8u << 20, owner);
      EXPECT_FALSE(refused) << owner;
      auto all = co_await release::read_record_apart(l, *large, 8u << 20, owner);
      EXPECT_TRUE(all && all->what.manifest == r.manifest) << owner;
    }
  });
  EXPECT_EQ(ended("memory") + ended("signal") + ended("exit") + ended("answer"), 0);
}

TEST_F(ChartChildren, ReadRecordsAndNeverMoreThanIsLeftOfTheBudget) {
  release::record r;
  r.name = "web";
  r.revision = 3;
  r.state = release::status::deployed;
  r.manifest = std::string(3u << 20, 'x');
  r.config = value(value::map_type{{"a", value(1.0)}});
  const auto stored = release::encode_record(r);
  ASSERT_TRUE(stored);
  with_children(options(), [&](reactor::loop& l, chart_children&) -> awaitable<void> {
    auto all = co_await release::read_record_apart(l, *stored, 8u << 20, "web");
    EXPECT_TRUE(all);
    if (all) {
      EXPECT_EQ(*release::write_record(all->what), *release::write_record(r));
      EXPECT_GT(all->bytes, r.manifest.size());
    }
    auto over = co_await release::read_record_apart(l, *stored, 1u << 20, "web");
    EXPECT_TRUE(over);
    if (over) {
      EXPECT_GT(over->bytes, 1u << 20);
      EXPECT_EQ(over->what.manifest, "");
    }
    stored_release one;
    one.text = *stored;
    one.kind = record_driver::config_maps;
    one.of = {"sh.helm.release.v1.web.v3", "17", "deployed", 3};
    const known_release known =
        co_await read_stored(l, std::move(one), "a cluster secrets ns/name");
    EXPECT_EQ(known.record, "sh.helm.release.v1.web.v3");
    EXPECT_EQ(known.facts.revision, 3);
    EXPECT_EQ(known.facts.state, release::status::deployed);
  });
}

/// The sum over operations: each is within its own limits, and together they would not fit.
TEST_F(ChartChildren, AnswersThatAreLargeAreHadByOneOperationAtATime) {
  const auto stored_of = [](std::size_t size) {
    release::record r;
    r.name = "web";
    r.revision = 3;
    r.manifest = std::string(size, 'x');
    return *release::encode_record(r);
  };
  const std::string large = stored_of(3u << 20), small = stored_of(1'000);
  with_children(options(), [&](reactor::loop& l, chart_children& c) -> awaitable<void> {
    std::size_t now = 0, most = 0, read = 0, waits = 0;
    c.memory()->on_wait([&](const std::string&, const std::string& holder) {
      EXPECT_THAT(holder, StartsWith("release "));
      ++waits;
    });
    reactor::task_group tasks(l);
    for (int i = 0; i < 8; ++i)
      tasks.start("operation", [&, i]() -> awaitable<void> {
        reactor::work_memory::share mine(reactor::work_memory_of(l), "release " + std::to_string(i),
                                         std::chrono::minutes(1));
        auto all = co_await release::read_record_apart(l, large, 8u << 20, "web", &mine);
        most = std::max(most, ++now);
        read += all && all->what.manifest.size() == 3u << 20;
        reactor::work_memory::share other(reactor::work_memory_of(l), "a small one",
                                          std::chrono::minutes(1));
        auto little = co_await release::read_record_apart(l, small, 8u << 20, "web", &other);
        EXPECT_TRUE(little) << "it waits for no large one";
        --now;
      });
    co_await tasks.join();
    EXPECT_EQ(read, 8u);
    EXPECT_EQ(most, 1u);
    EXPECT_GT(waits, 0u);
  });
}

/// What an anchor stands for counts, and no more crosses than the service has room for.
TEST_F(ChartChildren, ReadManifestsOfStrangersWithinTheirBudget) {
  const std::string head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
  std::string anchors = head + "x: &a \"" + std::string(100'000, 'a') + "\"\ny:\n", items, objects;
  for (int i = 0; i < 10'000; ++i) anchors += "- *a\n";
  for (int i = 0; i < 3'000'000; ++i) items += "- {}\n";
  for (int i = 0; i < 60'000; ++i) objects += "---\n" + head;
  const std::string of_many = head + "y:\n" + items;
  const std::string list =
      "apiVersion: v1\nkind: List\nitems:\n- {kind: A, n: 1.0, t: \"\\u0001\"}\n- {kind: B}\n";
  std::string long_list = list;
  long_list += "# " + std::string(2 * apart::short_text_bytes, '#') + "\n";
  with_children(options(), [&](reactor::loop& l, chart_children&) -> awaitable<void> {
    for (const std::string& text : {anchors, of_many, objects}) {
      auto read = co_await objects::objects_apart(l, text, service_chart_limits);
      EXPECT_THAT(read ? "read" : read.error().text, HasSubstr("memory")) << text.size();
      auto split = co_await release::split_apart(l, text, service_chart_limits);
      EXPECT_THAT(split ? "memory" : split.error().text, HasSubstr("memory")) << text.size();
    }
    for (const std::string& text : {list, long_list}) {
      auto read = co_await objects::objects_apart(l, text, service_chart_limits);
      EXPECT_TRUE(read && *read == *objects::objects_in(text));
      EXPECT_EQ(read ? read->size() : 0, 2u);
      auto split = co_await release::split_apart(l, text, service_chart_limits);
      auto here = release::split_for_uninstall(text);
      EXPECT_TRUE(split && here && split->doomed == here->doomed && split->kept == here->kept);
    }
    auto none = co_await objects::objects_apart(l, "a: [", service_chart_limits);
    EXPECT_THAT(none ? "" : none.error().text, StartsWith("error parsing : error converting YAML"));
  });
  EXPECT_EQ(ended("signal") + ended("exit") + ended("answer"), 0);
}

/// No JSON takes more in memory than is counted for its text.
TEST(ManifestObjects, AreCountedByTheirText) {
  struct counting final : boost::container::pmr::memory_resource {
    std::size_t bytes = 0;
    void* do_allocate(std::size_t n, std::size_t) override {
      bytes += n;
      return ::operator new(n);
    }
    void do_deallocate(void* at, std::size_t n, std::size_t) override {
      bytes -= n;
      ::operator delete(at);
    }
    bool do_is_equal(const boost::container::pmr::memory_resource& o) const noexcept override {
      return this == &o;
    }
  };
  std::string empty_lists = "{\"a\":[[]", small_members = "{\"0\":0";
  for (int i = 1; i < 1'000; ++i) {
    empty_lists += ",[]";
    small_members += ",\"" + std::to_string(i) + "\":" + std::to_string(i);
  }
  for (const std::string& text :
       {std::string("{}"), std::string(R"({"a":{"b":{"c":[1,2,[],{}]}}})"),
        "{\"a\":\"" + std::string(1'000, 'x') + "\"}", empty_lists + "]}", small_members + "}"}) {
    counting memory;
    {
      const boost::json::value v = boost::json::parse(text, boost::json::storage_ptr(&memory));
      EXPECT_LE(memory.bytes, objects::bytes_of_object(text)) << text.substr(0, 60);
    }
  }
}

/// Some chart's index with so many others in it, and a megabyte of text with each.
awaitable<index_job::answer> read_large(reactor::loop& l, std::size_t others, bool as_json) {
  index_job job;
  job.chart = "web";
  job.shown = "test";
  job.memory_bytes = 8u << 20;
  index_stream index(l, std::move(job));
  const std::string long_text(1u << 20, 'x');
  std::string first = "apiVersion: v1\nentries:\n";
  if (as_json) first = "{\"apiVersion\":\"v1\",\"entries\":{";
  auto put = co_await index.put(std::move(first));
  for (std::size_t i = 0; put && i < others; ++i) {
    const std::string name = "other" + std::to_string(i);
    const std::string one =
        as_json ? "\"" + name + "\":[{\"name\":\"" + name + "\",\"description\":\"" + long_text +
                      "\"}],"
                : "  " + name + ":\n  - {name: " + name + ", description: " + long_text + "}\n";
    put = co_await index.put(one);
  }
  if (put)
    put = co_await index.put(
        as_json ? "\"web\":[{\"name\":\"web\",\"version\":\"1.2.3\",\"urls\":[\"u\"]}]}}"
                : "  web:\n  - {name: web, version: 1.2.3, urls: [u]}\n");
  index_job::answer read = co_await index.finish();
  co_return read;
}

TEST_F(ChartChildren, ReadAnIndexAsItComesAndKeepOneChart) {
  with_children(options(), [&](reactor::loop& l, chart_children& c) -> awaitable<void> {
    // More than a child may have at all.
    const auto yaml = co_await read_large(l, 100, false);
    EXPECT_EQ(yaml.problem, "repository index is larger than 50331648 bytes");
    const auto fits = co_await read_large(l, 40, false);
    EXPECT_EQ(fits.problem, "");
    EXPECT_EQ(fits.offers.size(), 1u);
    const auto json = co_await read_large(l, 20, true);
    EXPECT_EQ(json.problem, "");
    EXPECT_EQ(json.offers.size(), 1u);
    EXPECT_FALSE(c.pids().empty());
  });
  EXPECT_EQ(ended("memory") + ended("signal") + ended("exit") + ended("answer"), 0);
}

TEST_F(ChartChildren, KeepNoMoreOfAnIndexThanAChartsVersionsNeed) {
  with_children(options(), [&](reactor::loop& l, chart_children&) -> awaitable<void> {
    for (const std::size_t of_each : {100u, 10'000u}) {
      index_job job;
      job.chart = "web";
      job.shown = "test";
      job.memory_bytes = 32u << 20;
      index_stream index(l, std::move(job));
      std::string text = "apiVersion: v1\nentries:\n  web:\n";
      for (int i = 0; i < 300; ++i)
        text += "  - {name: web, version: 1.2." + std::to_string(i) + ", urls: [\"" +
                std::string(of_each, 'u') + "\"]}\n";
      auto put = co_await index.put(std::move(text));
      EXPECT_TRUE(put);
      const index_job::answer read = co_await index.finish();
      const bool few = of_each == 100;
      EXPECT_EQ(read.offers.size(), few ? 300u : 0u) << read.problem;
      EXPECT_EQ(read.problem,
                few ? "" : "test: the versions of chart web take more than 2097152 bytes");
    }
  });
}

TEST_F(ChartChildren, StopEndsThoseThatWouldWorkForEver) {
  chart_children::options o = options();
  o.limits.processor = std::chrono::hours(1);
  o.limits.wall = std::chrono::hours(1);
  with_children(std::move(o), [&](reactor::loop& l, chart_children& c) -> awaitable<void> {
    reactor::task_group tasks(l);
    tasks.start("ask", [&]() -> awaitable<void> {
      misdeed job;
      job.what = "loop";
      auto said = co_await apart::ask(l, c, std::move(job));
      EXPECT_FALSE(said);
    });
    while (c.pids().empty()) co_await l.sleep_for(std::chrono::milliseconds(5));
    const std::vector<int> there = c.pids();
    co_await c.stop();  // the job hears of it
    co_await tasks.join();
    for (const int pid : there) EXPECT_NE(::kill(pid, 0), 0);
  });
}

TEST_F(ChartChildren, DieWithTheProcessThatStartedThem) {
  // A parent of its own, which is killed while its child works without end.
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    reactor::loop l;
    run_task(l, [&]() -> awaitable<void> {
      chart_children::options o;
      o.limits.processor = std::chrono::hours(1);
      o.limits.wall = std::chrono::hours(1);
      chart_children children(l, std::move(o));
      reactor::task_group tasks(l);
      tasks.start("ask", [&]() -> awaitable<void> {
        misdeed job;
        job.what = "loop";
        (void)co_await apart::ask(l, children, std::move(job));
      });
      while (children.pids().empty()) co_await l.sleep_for(std::chrono::milliseconds(5));
      co_await l.sleep_for(std::chrono::milliseconds(300));  // it is at work by then
      std::string pids;
      for (const int pid : children.pids()) pids += std::to_string(pid) + " ";
      (void)!::write(ends[1], pids.data(), pids.size());
      co_await tasks.join();
    });
    ::_exit(0);
  }
  ::close(ends[1]);
  char text[64] = {};
  ASSERT_GT(::read(ends[0], text, sizeof text - 1), 0);
  ::close(ends[0]);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  std::istringstream all(text);
  for (int pid = 0; all >> pid;) {
    // Whoever takes orphans over may wait for them late: a zombie runs no more.
    const auto state = [pid] {
      std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
      std::string whole(std::istreambuf_iterator<char>(stat), {});
      const auto at = whole.rfind(") ");
      return at == whole.npos ? 'X' : whole[at + 2];
    };
    while (state() != 'X' && state() != 'Z')
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace
}  // namespace helm::tenants

int main(int argc, char** argv) {
  using namespace helm;
  reactor::end_when_memory_is_lost();
  std::signal(SIGPIPE, SIG_IGN);
  if (apart::is_child(argc, argv)) {
    std::vector<apart::handler> all(tenants::chart_jobs().begin(), tenants::chart_jobs().end());
    for (apart::handler& h : all)
      if (h.number == tenants::misdeed::number) h = tenants::misdeed_or_stored();
    ::_exit(apart::serve(all));
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
