// A service that comes near its memory limit: when it says so, what others see of it, and that it
// ends by itself.
#include "service/own_memory.hpp"

#include "cli/apis.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "tests/cli/schema.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

namespace cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using step = memory_judge::step;

constexpr std::size_t mib = std::size_t{1} << 20;

reactor::memory_use holding(std::size_t held_mib, std::size_t limit_mib = 128) {
  return {limit_mib * mib, held_mib * mib};
}

TEST(OwnMemory, IsToldOnceNearTheLimitAndAgainEachTenMinutes) {
  memory_judge j;
  const auto at = [&](std::size_t held, reactor::nanoseconds when) {
    return j.on(holding(held), reactor::steady_time(when));
  };
  EXPECT_EQ(at(100, 0s), step::nothing);
  EXPECT_EQ(at(109, 1s), step::tell_near);
  EXPECT_EQ(at(115, 2s), step::nothing);
  EXPECT_EQ(at(105, 3s), step::nothing) << "82 % is still near";
  EXPECT_TRUE(j.is_near());
  EXPECT_EQ(at(109, 1s + memory_told_again), step::tell_near);
  EXPECT_EQ(at(101, 12min), step::tell_recovered);
  EXPECT_EQ(at(101, 13min), step::nothing);
  EXPECT_FALSE(j.is_near());
}

TEST(OwnMemory, EndsWhereTheReserveOfAStopBegins) {
  struct row {
    std::size_t limit_mib, lives_mib, ends_mib;
  };
  for (const row& r : {row{128, 123, 124}, row{24, 21, 22}, row{4096, 4079, 4080}, row{1, 0, 0}}) {
    memory_judge j;
    const step before =
        r.lives_mib > 0 ? j.on(holding(r.lives_mib, r.limit_mib), {}) : step::nothing;
    EXPECT_NE(before, step::end) << r.limit_mib;
    EXPECT_EQ(j.on(holding(r.ends_mib, r.limit_mib), {}), step::end) << r.limit_mib;
  }
}

TEST(OwnMemory, IsLookedAtTheSoonerTheLessIsLeft) {
  EXPECT_EQ(next_memory_look(holding(10, 4096)), 2s);
  EXPECT_EQ(next_memory_look(holding(60)), 1s);
  EXPECT_EQ(next_memory_look(holding(124)), 20ms);
  EXPECT_EQ(next_memory_look(holding(500)), 20ms) << "more than the limit";
}

/// A service with a home, whose memory is what the test says.
class LimitedService : public testing::Test {
protected:
  LimitedService()
      : api_(k8s::sim::options_on(l)), home_(l, {.at = {"home", 6443}, .tls = nullptr}) {
    home_.add(api_);
    for (const char* ns : {"windlass", "bootc-operator", "default"})
      api_.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
    if (!home_.start()) throw std::runtime_error("no home");
  }
  void run(std::function<void(service_options&)> change,
           std::function<reactor::awaitable<void>(service&)> body) {
    service_options o = with_all_apis();
    o.home.server = home_.url();
    o.discover = false;
    o.pod = {"windlass", "windlass-0"};
    o.memory = [this]() -> std::optional<reactor::memory_use> { return use_; };
    change(o);
    auto windlass = std::make_unique<service>(l, std::move(o),
                                              reactor::logger([this] { return l.wall(); }, log_));
    windlass->on_failure = [this] { ++failures_; };
    reactor::task_group tasks(l);
    tasks.start("use", [&]() -> reactor::awaitable<void> {
      auto started = co_await windlass->start();
      EXPECT_TRUE(started) << started.error().message();
      if (started) co_await body(*windlass);
      co_await windlass->stop();
      co_await home_.stop();
      l.stop();
    });
    l.run();
  }
  /// What another process would show.
  reactor::awaitable<std::string> status(service& s) {
    fleet_overview f;
    f.near_limit = co_await services_near_limit(s.home()->api(), "default", l.wall());
    const boost::json::object document = status_document(f);
    EXPECT_EQ(breaks_schema(document), "");
    const std::string text = status_text(f, extent::usual, colours::none).text();
    EXPECT_EQ(text.find("MemoryNearLimit") != text.npos, document.contains("serviceProblems"))
        << text;
    co_return document.contains("serviceProblems")
        ? boost::json::serialize(document.at("serviceProblems"))
        : std::string();
  }

  reactor::loop l{reactor::loop::mode::simulated, 7};
  k8s::sim::api_server api_;
  k8s::sim::server home_;
  std::optional<reactor::memory_use> use_ = holding(60);
  std::shared_ptr<reactor::log_capture> log_ = std::make_shared<reactor::log_capture>();
  std::size_t failures_ = 0;
};

constexpr const char* near_limit_line = "the memory limit is near; raise it, or split the fleet";

TEST_F(LimitedService, IsSeenInStatusAndInItsLogUntilItRecovers) {
  std::string before, near, later, after;
  run([](service_options&) {},
      [&](service& s) -> reactor::awaitable<void> {
        co_await l.sleep_for(3s);
        before = co_await status(s);
        use_ = holding(112);
        co_await l.sleep_for(3s);
        near = co_await status(s);
        EXPECT_EQ(s.memory_problem(), memory_words(holding(112)));
        co_await l.sleep_for(15min);
        later = co_await status(s);
        use_ = holding(60);
        co_await l.sleep_for(3s);
        after = co_await status(s);
        EXPECT_EQ(s.memory_problem(), "");
      });
  EXPECT_EQ(before, "");
  EXPECT_THAT(near,
              HasSubstr(R"("condition":"MemoryNearLimit","kind":"Pod","namespace":"windlass")"));
  EXPECT_THAT(near, HasSubstr("holds 112 of the 128 MiB that its memory limit allows (87 %)"));
  EXPECT_THAT(later, HasSubstr("windlass-0")) << "the Event is written again";
  EXPECT_EQ(after, "");
  EXPECT_EQ(log_->count(near_limit_line), 1u);
  EXPECT_EQ(failures_, 0u);
}

TEST_F(LimitedService, WithoutAPodIsNamedByItsLease) {
  std::string near;
  use_ = holding(112);
  run([](service_options& o) { o.pod = {}; },
      [&](service& s) -> reactor::awaitable<void> {
        co_await l.sleep_for(3s);
        near = co_await status(s);
      });
  EXPECT_THAT(near, HasSubstr(R"("kind":"Lease")"));
}

TEST_F(LimitedService, ThatIsGoneIsNotShownForLong) {
  std::string gone = "?";
  use_ = holding(112);
  run([](service_options&) {},
      [&](service& s) -> reactor::awaitable<void> {
        co_await l.sleep_for(3s);
        use_.reset();  // as if the process had been killed: it writes no more
        co_await l.sleep_for(13min);
        gone = co_await status(s);
      });
  EXPECT_EQ(gone, "");
}

TEST_F(LimitedService, EndsByItselfBeforeTheKernelEndsIt) {
  run([](service_options&) {},
      [&](service&) -> reactor::awaitable<void> {
        co_await l.sleep_for(3s);
        EXPECT_EQ(failures_, 0u);
        use_ = holding(126);
        co_await l.sleep_for(3s);
      });
  EXPECT_EQ(failures_, 1u);
  std::size_t said = 0;
  for (const reactor::log_record& r : log_->records())
    if (std::string(r.message).starts_with("the memory limit is reached")) ++said;
  EXPECT_EQ(said, 1u);
}

}  // namespace
}  // namespace cli
