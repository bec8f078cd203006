#pragma once

#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/views/pod.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "reactor/task_group.hpp"
#include "tests/k8s/informer/objects.hpp"
#include "tests/k8s/scripted_server.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s {

using namespace std::chrono_literals;

inline const std::string list_path = "/api/v1/pods?limit=500";
inline const std::string version_path =
    "/api/v1/pods?limit=1";  // asks what version the server is at
inline const std::string watch_path = "/api/v1/pods?watch";

/// One pod informer against a server that answers from a script, in virtual time.
class informer_fixture : public testing::Test {
protected:
  explicit informer_fixture(std::uint64_t seed = 1) : l(reactor::loop::mode::simulated, seed) {}

  informer_options pod_options(bool stream_initial = false) {
    informer_options o;
    o.collection = resources::pods();
    o.stream_initial = stream_initial;
    o.log = reactor::logger([this] { return l.wall(); }, log, reactor::log_level::debug);
    o.on_state = [this](informer_state s) { states.push_back(s); };
    return o;
  }
  void begin(informer_options options) {
    pods = std::make_unique<informer<pod>>(l, *api, std::move(options));
    pods->on_change([this](const pod* before, const pod* now) {
      if (changes_matter) pods->note_relevant();
      changes.push_back((before ? before->meta.name.str() : "") + ">" +
                        (now ? now->meta.name.str() : "") + "@" +
                        (now ? now->meta.resource_version.text() : ""));
    });
    pods->set_freshness(freshness::close);
    pods->start();
  }
  void run_for(reactor::nanoseconds d) { l.run_until(l.now() + d); }

  /// Stops everything and expects nothing left.
  void finish() {
    if (finished_) return;
    finished_ = true;
    reactor::task_group stopping(l);
    bool stopped = false;
    stopping.start("stop", [this, &stopped]() -> awaitable<void> {
      if (pods) co_await pods->stop();
      co_await api->stop();
      stopped = true;
      co_await server.stop();
    });
    run_for(1s);
    EXPECT_TRUE(stopped) << "it stops within a second";
    run_for(10s);
    EXPECT_TRUE(stopping.empty());
    pods.reset();
    api.reset();
    owned_server.reset();
    EXPECT_EQ(l.live(), reactor::live_counts());
  }
  void TearDown() override { finish(); }

  std::string pod_at(const std::string& name, std::uint64_t version,
                     const std::string& node = "w1") {
    objects::pod_spec spec;
    spec.name = name;
    spec.version = version;
    spec.node = node;
    return objects::pod_json(spec);
  }
  std::string event(std::string_view type, const std::string& name, std::uint64_t version,
                    const std::string& node = "w1") {
    return objects::event_line(type, pod_at(name, version, node));
  }
  answer list_of(std::uint64_t version, const std::vector<std::string>& objects,
                 std::string_view token = {}) {
    return answer::json(200, objects::list_json(version, objects, token));
  }
  /// From now on it names this version when it is asked for its own.
  void server_is_at(std::uint64_t version) {
    named_version_ = version;
    if (std::exchange(names_versions_, true)) return;
    server.otherwise([this](const scripted_server::received& r) {
      if (r.target.starts_with(version_path)) return list_of(named_version_, {});
      return answer::failure(404, "NotFound", "no rule for " + r.target);
    });
  }
  std::size_t asked() const { return server.count("GET", version_path); }
  /// A watch that says this and stays open.
  answer watch_saying(const std::vector<std::string>& lines) {
    answer a = answer::stream();
    for (const std::string& line : lines) a.piece(line);
    a.stay_open();
    return a;
  }
  /// "a@3 b@7", sorted.
  std::string stored() const {
    std::vector<std::string> all;
    pods->objects().each([&](const pod& p) {
      all.push_back(p.meta.name.str() + "@" + p.meta.resource_version.text());
    });
    std::sort(all.begin(), all.end());
    std::string text;
    for (const std::string& one : all) text += (text.empty() ? "" : " ") + one;
    return text;
  }
  std::size_t lists() const { return server.count("GET", list_path); }
  std::size_t watches() const { return server.count("GET", watch_path); }
  /// The parameter of the last watch request.
  std::string last_watch(std::string_view parameter) const {
    for (auto r = server.requests().rbegin(); r != server.requests().rend(); ++r)
      if (r->target.starts_with(watch_path))
        return reactor::http::split_target(r->target)
            .get(std::string(parameter))
            .value_or("(none)");
    return "(no watch)";
  }
  reactor::memory_network& net() { return reactor::memory_network::of(l); }

  bool changes_matter = false;
  reactor::loop l;
  std::shared_ptr<reactor::log_capture> log = std::make_shared<reactor::log_capture>();
  std::unique_ptr<scripted_server> owned_server = std::make_unique<scripted_server>(l);
  scripted_server& server = *owned_server;
  std::unique_ptr<client> api = std::make_unique<client>(l, server.to());
  std::unique_ptr<informer<pod>> pods;
  std::vector<std::string> changes;
  std::vector<informer_state> states;

private:
  bool finished_ = false, names_versions_ = false;
  std::uint64_t named_version_ = 0;
};

}  // namespace k8s
