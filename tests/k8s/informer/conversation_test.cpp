#include "tests/k8s/informer/informer_fixture.hpp"

#include <map>

namespace k8s {
namespace {

using objects::bookmark_line;
using objects::error_line;
using objects::event_line;

std::string small_pod(const std::string& name, std::uint64_t version, const std::string& node) {
  return R"({"metadata":{"name":")" + name + R"(","uid":")" + name + R"(","resourceVersion":")" +
         std::to_string(version) + R"("},"spec":{"nodeName":")" + node + R"("}})";
}

/// A server with a short true history, told in pages, streams and watches; it closes nothing by
/// itself.
class truthful {
public:
  truthful(scripted_server& server, bool streams) : streams_(streams) {
    server.otherwise([this](const scripted_server::received& r) { return reply(r); });
  }
  static constexpr std::uint64_t last = 15;
  static constexpr const char* in_the_end = "a@1 b@12 d@14 e@15";

private:
  struct event {
    std::uint64_t version;
    const char* type;
    const char* name;
    const char* node;
  };
  static constexpr event history[] = {{1, "ADDED", "a", "w1"},     {2, "ADDED", "b", "w1"},
                                      {3, "ADDED", "c", "w1"},     {11, "DELETED", "c", "w1"},
                                      {12, "MODIFIED", "b", "w2"}, {13, "ADDED", "d", "w1"},
                                      {14, "MODIFIED", "d", "w3"}, {15, "ADDED", "e", "w1"}};

  /// The state when `version` was the newest.
  static std::map<std::string, std::string> at(std::uint64_t version) {
    std::map<std::string, std::string> state;
    for (const event& e : history) {
      if (e.version > version) break;
      if (std::string_view(e.type) == "DELETED")
        state.erase(e.name);
      else
        state[e.name] = small_pod(e.name, e.version, e.node);
    }
    return state;
  }

  answer reply(const scripted_server::received& r) {
    const auto target = reactor::http::split_target(r.target);
    if (target.get("limit") == "1") return answer::json(200, objects::list_json(last, {}));
    if (!target.get("watch")) return page(target.get("continue").value_or(""));
    if (target.get("sendInitialEvents")) {
      if (!streams_) return answer::failure(422, "Invalid", "no watch-list here");
      answer a = answer::stream();
      const std::uint64_t from = std::max<std::uint64_t>(
          10, std::stoull("0" + target.get("resourceVersion").value_or("")));
      for (const auto& [name, json] : at(from)) a.piece(event_line("ADDED", json));
      a.piece(bookmark_line(from, true));
      return follow(std::move(a), from);
    }
    return follow(answer::stream(), std::stoull(target.get("resourceVersion").value_or("0")));
  }
  answer page(const std::string& token) {
    // A list begins at the newest version that anybody has seen, and stays there over its pages.
    const auto state = at(10);
    std::vector<std::string> objects;
    for (const auto& [name, json] : state)
      if ((name > "a") == (token == "second")) objects.push_back(json);
    return answer::json(200, objects::list_json(10, objects, token.empty() ? "second" : ""));
  }
  static answer follow(answer a, std::uint64_t from) {
    for (const event& e : history)
      if (e.version > from) a.piece(event_line(e.type, small_pod(e.name, e.version, e.node)));
    a.piece(bookmark_line(last));
    a.stay_open();
    return a;
  }
  bool streams_;
};

struct cut_case {
  bool streams;
  reactor::link_faults::ending ending;
  const char* name;
};

/// One conversation whose first connection is cut after `bytes`.
class one_conversation : public informer_fixture {
public:
  one_conversation(const cut_case& how, std::size_t bytes)
      : informer_fixture(bytes + 1), truth_(server, how.streams) {
    net().on_connect = [this, how, bytes](const reactor::endpoint&, reactor::link_faults& f) {
      if (first_) {
        f.cut_as = how.ending;
        f.cut_to_client_after_bytes = bytes;
      }
      first_ = false;
    };
    begin(pod_options(how.streams));
    pods_versions();
    run_for(20s);
    EXPECT_EQ(stored(), truthful::in_the_end) << "cut after " << bytes;
    EXPECT_EQ(pods->state(), informer_state::live) << "cut after " << bytes;
    EXPECT_EQ(pods->counters().regressed + pods->counters().repeated + pods->counters().unknown, 0u)
        << "cut after " << bytes;
    cut = pods->counters().failures > 0;
    finish();
  }
  bool cut = false;

private:
  void TestBody() override {}
  /// No object ever goes back.
  void pods_versions() {
    pods->on_change([this](const pod* before, const pod* now) {
      if (!now) return;
      const std::uint64_t version = std::stoull(now->meta.resource_version.text());
      EXPECT_GT(version, newest_[now->meta.name.str()]);
      newest_[now->meta.name.str()] = version;
      (void)before;
    });
  }
  truthful truth_;
  bool first_ = true;
  std::map<std::string, std::uint64_t> newest_;
};

class CutConversation : public testing::TestWithParam<cut_case> {};

TEST_P(CutConversation, EndsInTheTruthWhereverItIsCut) {
  std::size_t uncut = 0;
  for (std::size_t bytes = 1; uncut < 3; ++bytes) {
    ASSERT_LT(bytes, 10'000u);
    one_conversation c(GetParam(), bytes);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
    uncut = c.cut ? 0 : uncut + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Endings, CutConversation,
    testing::Values(cut_case{false, reactor::link_faults::ending::reset, "ListAndReset"},
                    cut_case{false, reactor::link_faults::ending::end_of_stream, "ListAndEnd"},
                    cut_case{true, reactor::link_faults::ending::reset, "StreamAndReset"},
                    cut_case{true, reactor::link_faults::ending::end_of_stream, "StreamAndEnd"}),
    [](const auto& info) { return std::string(info.param.name); });

/// Everything an informer can wait for, one after the other: pages, an expired token, a stream, a
/// cut, a backoff, a probe, a dead server.
class eventful : public informer_fixture {
public:
  explicit eventful(reactor::nanoseconds stopped_after) {
    net().faults("api").latency = 3ms;
    server.on("GET", watch_path, answer::failure(422, "Invalid", "no watch-list here"));
    server.on("GET", list_path, list_of(10, {pod_at("a", 1)}, "t"));
    server.on("GET", list_path, answer::failure(410, "Expired", "too old"));
    server.on("GET", list_path, list_of(10, {pod_at("a", 1)}));
    server.on("GET", watch_path,
              watch_saying({event("ADDED", "b", 11), error_line(500, "InternalError", "etcd")}));
    server.on("GET", watch_path, watch_saying({event("ADDED", "c", 12).substr(0, 50)}));
    server.on("GET", watch_path, answer::silence());
    begin(pod_options(true));
    run_for(stopped_after);
    finish();
  }

private:
  void TestBody() override {}
};

TEST(InformerCancellation, LeavesNothingWhereverItIsStopped) {
  for (auto after = 0us; after < 60ms; after += 500us) eventful e{after};
  for (auto after = 60ms; after < 40s; after += 173ms) eventful e{after};
}

}  // namespace
}  // namespace k8s
