// An order to override the brake is for one target, one brake and one hour, and has a reason.
#include "app/api/override_order.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace units {
namespace {

using namespace std::chrono_literals;

reactor::wall_time at(const char* text) {
  return *reactor::parse_rfc3339(text);
}

override_order good() {
  override_order o;
  o.why = "hotfix";
  o.by = "alice";
  o.at = "2026-11-29T01:00:00Z";
  o.target = "r.example.com/os@sha256:1";
  o.brake = "77";
  return o;
}
override_facts facts() {
  return {"r.example.com/os@sha256:1", "77", at("2026-11-29T01:59:59Z")};
}

TEST(OverrideOrder, IsReadAsItIsWritten) {
  EXPECT_EQ(read_override(annotation_of(good())), good());
  EXPECT_EQ(override_sentence(good()),
            "alice's order lets it go on although the brake is on, until 2026-11-29T02:00:00Z: "
            "hotfix");
  EXPECT_EQ(why_void(good(), facts()), "");
}

struct change {
  std::function<void(override_order&, override_facts&)> of;
  const char* why;
};

TEST(OverrideOrder, DoesNothingWhereItIsForSomethingElse) {
  const std::vector<change> all = {
      {[](auto& o, auto&) { o.why = ""; }, "it gives no reason (why)"},
      {[](auto& o, auto&) { o.at = ""; }, "it does not say when it was given (at)"},
      {[](auto& o, auto&) { o.at = "yesterday"; }, "it does not say when it was given (at)"},
      {[](auto&, auto& f) { f.now = at("2026-11-29T02:00:00Z"); },
       "it was given at 2026-11-29T01:00:00Z, and counts for 1h0m0s"},
      {[](auto&, auto& f) { f.now = at("2026-11-29T00:54:59Z"); },
       "it was given at 2026-11-29T01:00:00Z, which is not yet"},
      {[](auto&, auto& f) { f.target = "r.example.com/os@sha256:2"; },
       "it was given for r.example.com/os@sha256:1"},
      {[](auto& o, auto&) { o.target = ""; }, "it was given for no target"},
      {[](auto&, auto& f) { f.brake = "78"; },
       "it was given for a brake that is over, or was changed since"},
      {[](auto&, auto& f) { f.brake = ""; },
       "it was given for a brake that is over, or was changed since"},
      {[](auto& o, auto&) { o.brake = ""; }, "it was given before the brake was put on"},
  };
  for (const change& c : all) {
    override_order o = good();
    override_facts f = facts();
    c.of(o, f);
    EXPECT_EQ(why_void(o, f), c.why);
  }
}

TEST(OverrideOrder, OfGarbageDoesNothing) {
  for (const char* garbage : {"", "yes", "[]", "{", "\"why\"", "{\"why\":\"x\""})
    EXPECT_EQ(why_void(read_override(garbage), facts()), "it is no JSON object") << garbage;
  EXPECT_EQ(why_void(read_override("{\"why\":7}"), facts()), "it gives no reason (why)");
  EXPECT_EQ(why_void(read_override("{\"why\":\" \\n \"}"), facts()), "it gives no reason (why)");
  EXPECT_EQ(why_void(read_override(std::string(5'000, ' ')), facts()), "it is too long");
  override_order o = good();
  o.why = "\x1b[2J";
  EXPECT_EQ(override_sentence(read_override(annotation_of(o))).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace units
