#include "reactor/plain/time.hpp"

#include "reactor/plain/entropy.hpp"

#include <gtest/gtest.h>

namespace reactor {
namespace {

wall_time at(std::int64_t seconds, nanoseconds more = 0ns) {
  return wall_time(std::chrono::seconds(seconds)) + more;
}

TEST(Rfc3339, IsWrittenInUtcWithSecondsOrMicroseconds) {
  EXPECT_EQ(format_rfc3339(at(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_rfc3339(at(1'763'726'400, 999ms)), "2025-11-21T12:00:00Z");
  EXPECT_EQ(format_rfc3339_micro(at(1'763'726'400, 1'234us)), "2025-11-21T12:00:00.001234Z");
  EXPECT_EQ(format_rfc3339(at(-1)), "1969-12-31T23:59:59Z");
  EXPECT_EQ(format_rfc3339_micro(at(-1, 1us)), "1969-12-31T23:59:59.000001Z");
}

TEST(Rfc3339, IsReadWithAnyFractionAndOffset) {
  EXPECT_EQ(parse_rfc3339("2025-11-21T12:00:00Z").value(), at(1'763'726'400));
  EXPECT_EQ(parse_rfc3339("2025-11-21t13:30:00.5+01:30").value(), at(1'763'726'400, 500ms));
  EXPECT_EQ(parse_rfc3339("2025-11-21T04:00:00-08:00").value(), at(1'763'726'400));
  EXPECT_EQ(parse_rfc3339("2025-11-21T12:00:00.1234567891234z").value(),
            at(1'763'726'400, 123'456'789ns));
  EXPECT_EQ(parse_rfc3339("2024-02-29T00:00:00Z").value(), at(1'709'164'800));
  EXPECT_EQ(parse_rfc3339("2016-12-31T23:59:60Z").value(), at(1'483'228'800));
}

TEST(Rfc3339, IsRefusedWhenItIsNoTime) {
  for (const char* text :
       {"", "2025", "2025-11-21", "2025-11-21T12:00:00", "2025-11-21 12:00:00Z",
        "2025-13-01T00:00:00Z", "2025-02-29T00:00:00Z", "2025-11-21T24:00:00Z",
        "2025-11-21T12:60:00Z", "2025-11-21T12:00:00.Z", "2025-11-21T12:00:00+1:00",
        "2025-11-21T12:00:00Zx", "0001-01-01T00:00:01Z", "0001-01-02T00:00:00Z",
        "9999-01-01T00:00:00Z", "2025-1--21T12:00:00Z", "+025-11-21T12:00:00Z",
        "2025-11-21T12:00:00+25:00"}) {
    EXPECT_EQ(parse_rfc3339(text).error().code, errc::malformed) << text;
  }
}

TEST(Rfc3339, KnowsGosZeroTime) {
  EXPECT_EQ(parse_rfc3339("0001-01-01T00:00:00Z").value(), zero_time);
  EXPECT_EQ(parse_rfc3339("0001-01-01T00:00:00.000000Z").value(), zero_time);
  EXPECT_EQ(format_rfc3339(zero_time), "0001-01-01T00:00:00Z");
  EXPECT_EQ(format_rfc3339_micro(zero_time), "0001-01-01T00:00:00.000000Z");
  EXPECT_LT(zero_time, at(0));
  EXPECT_GT(at(2'500'000'000) - zero_time, nanoseconds(0)) << "differences do not overflow";
}

TEST(Rfc3339, ComesBackAsItWasWritten) {
  seeded_entropy random(1);
  for (int i = 0; i < 1'000; ++i) {
    const auto micros = static_cast<std::int64_t>(
        random.between(std::uint64_t{0}, std::uint64_t{9'000'000'000'000'000}));
    const wall_time t{std::chrono::microseconds(micros)};
    EXPECT_EQ(parse_rfc3339(format_rfc3339_micro(t)).value(), t);
  }
}

TEST(Duration, IsWrittenAsGoDoes) {
  EXPECT_EQ(format_duration(0ns), "0s");
  EXPECT_EQ(format_duration(1ns), "1ns");
  EXPECT_EQ(format_duration(1'500ns), "1.5µs");
  EXPECT_EQ(format_duration(250ms), "250ms");
  EXPECT_EQ(format_duration(1'500ms), "1.5s");
  EXPECT_EQ(format_duration(200s), "3m20s");
  EXPECT_EQ(format_duration(1h), "1h0m0s");
  EXPECT_EQ(format_duration(-90s), "-1m30s");
  EXPECT_EQ(format_duration(nanoseconds::min()), "-2562047h47m16.854775808s");
}

TEST(Duration, IsReadAsGoDoes) {
  EXPECT_EQ(parse_duration("1h30m").value(), 90min);
  EXPECT_EQ(parse_duration("1.5s").value(), 1'500ms);
  EXPECT_EQ(parse_duration(".5m").value(), 30s);
  EXPECT_EQ(parse_duration("1.s").value(), 1s);
  EXPECT_EQ(parse_duration("-2ms").value(), -2ms);
  EXPECT_EQ(parse_duration("+3us").value(), 3us);
  EXPECT_EQ(parse_duration("3µs").value(), 3us);
  EXPECT_EQ(parse_duration("0").value(), 0s);
  EXPECT_EQ(parse_duration("-0").value(), 0s);
  EXPECT_EQ(parse_duration("1m1m").value(), 2min);
  EXPECT_EQ(parse_duration("0.3333333333333333333333h").value(), 1'199'999'999'999ns);
  EXPECT_EQ(parse_duration("9223372036854775807ns").value(), nanoseconds::max());
}

TEST(Duration, IsRefusedWhenItIsNone) {
  for (const char* text : {"", "-", "5", "s", ".s", "1.2.3s", "1d", "1 s", "1h 2m", "--1s", "1e3s",
                           "0x1s", "3000000h", "9223372036854775808ns", "99999999999999999999s"}) {
    EXPECT_EQ(parse_duration(text).error().code, errc::malformed) << text;
  }
  EXPECT_EQ(parse_duration("-9223372036854775808ns").value(), nanoseconds::min());
}

TEST(Duration, ComesBackAsItWasWritten) {
  seeded_entropy random(2);
  for (int i = 0; i < 1'000; ++i) {
    const nanoseconds d(static_cast<std::int64_t>(random.next() >> (i % 64)));
    EXPECT_EQ(parse_duration(format_duration(d)).value(), d) << format_duration(d);
  }
}

}  // namespace
}  // namespace reactor
