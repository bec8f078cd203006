#include "formats/wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace formats {
namespace {

using namespace std::string_literals;

using ::testing::HasSubstr;

}  // namespace
namespace of_wire_test {

enum class colour : std::uint8_t { red, green };

struct inner {
  std::string name;
  int n = 0;
  friend bool operator==(const inner&, const inner&) = default;
};
struct whole {
  bool flag = false;
  colour is = colour::red;
  std::int64_t number = 0;
  std::chrono::nanoseconds time{};
  std::chrono::system_clock::time_point at;
  std::optional<inner> maybe;
  std::vector<inner> many;
  std::map<std::string, int> named;
  std::optional<std::array<std::string, 2>> two;
  std::vector<std::pair<std::string, bool>> both;
  friend bool operator==(const whole&, const whole&) = default;
};

}  // namespace of_wire_test
template <>
inline constexpr of_wire_test::colour wire_last<of_wire_test::colour> = of_wire_test::colour::green;
namespace {

using namespace of_wire_test;

constexpr std::uint64_t memory = 1u << 20;

whole full() {
  whole w;
  w.flag = true;
  w.is = colour::green;
  w.number = std::numeric_limits<std::int64_t>::min();
  w.time = std::chrono::hours(-3);
  w.at = std::chrono::system_clock::time_point(std::chrono::seconds(7));
  w.maybe = inner{"x", -1};
  w.many = {{"a", 1}, {"", 2}};
  w.named = {{"a", 1}, {"b", 2}};
  w.two = std::array<std::string, 2>{"one", "t\0o"s};
  w.both.emplace_back("p", true);
  return w;
}

TEST(Wire, GivesBackWhatWasPutIn) {
  const auto bytes = to_bytes(full());
  ASSERT_TRUE(bytes);
  const auto back = from_bytes<whole>(*bytes, memory);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, full());
}

TEST(Wire, GivesBackValuesWithTheirGoTypes) {
  value::map_type all;
  all["nil"] = value();
  all["boxed"] = value().box();
  all["bool"] = value(true);
  all["int"] = value::integer(-5, type::int64);
  all["byte"] = value::integer(5, type::uint8);
  all["float"] = value(0.1);
  all["text"] = value("t");
  all["bytes"] = value::bytes("b");
  all["list"] = value(value::list_type{value(1), value("x").box()});
  all["texts"] = value::strings({"a", "b"});
  all["no list"] = value::nil_of(type::list);
  all["map"] = value(value::map_type{{"k", value(value::list_type{})}});
  const value v(std::move(all));
  const auto bytes = to_bytes(v);
  ASSERT_TRUE(bytes);
  const auto back = from_bytes<value>(*bytes, memory);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_TRUE(deep_equal(*back, v));
  EXPECT_EQ(*to_bytes(*back), *bytes);
}

TEST(Wire, EveryCutIsDamage) {
  const std::string bytes = *to_bytes(full());
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_FALSE(from_bytes<whole>(std::string_view(bytes).substr(0, n), memory)) << n;
  EXPECT_FALSE(from_bytes<whole>(bytes + "x", memory));
}

TEST(Wire, NoByteThatIsChangedIsReadBeyondTheEndOrTakesMoreMemoryThanItMay) {
  const std::string bytes = *to_bytes(full());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 0xff);
    const auto read = from_bytes<whole>(other, memory);
    // What can still be read is another value, and its only form.
    if (read) {
      EXPECT_EQ(*to_bytes(*read), other) << i;
    }
  }
}

TEST(Wire, SaysWhatIsWrong) {
  const auto why = [](std::string_view bytes) {
    const auto read = from_bytes<std::vector<inner>>(bytes, 4096);
    return read ? "nothing" : read.error().text;
  };
  wire_writer many;
  many.number(1'000'000);
  EXPECT_THAT(why(many.take()), HasSubstr("a length is beyond its end"));
  wire_writer empty;  // each takes 16 bytes here and some forty in memory
  empty.number(200);
  for (int i = 0; i < 400; ++i) empty.number(0);
  EXPECT_THAT(why(empty.take()), HasSubstr("it takes more memory than it may"));
  EXPECT_THAT(from_bytes<colour>(*to_bytes(std::uint64_t{2}), memory).error().text,
              HasSubstr("a word is not known"));
  EXPECT_THAT(from_bytes<bool>(*to_bytes(std::uint64_t{2}), memory).error().text,
              HasSubstr("a flag is neither"));
  EXPECT_THAT(from_bytes<int>(*to_bytes(std::uint64_t{1} << 40), memory).error().text,
              HasSubstr("a number is too large"));
  value deep;
  for (int i = 0; i < wire_depth + 2; ++i) deep = value(value::list_type{deep});
  EXPECT_THAT(to_bytes(deep).error().text, HasSubstr("nested too deep"));
  EXPECT_THAT(to_bytes(value::object(nullptr)).error().text, HasSubstr("none of a file"));
}

}  // namespace
}  // namespace formats
