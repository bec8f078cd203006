#include "reactor/plain/keyed_hash.hpp"

#include "reactor/own_bytes.hpp"
#include "reactor/plain/keyed_map.hpp"

#include <gtest/gtest.h>

#include <string>

namespace reactor {
namespace {

struct other_key {
  explicit other_key(hash_key key) : before(set_hash_key(key)) {}
  ~other_key() { set_hash_key(before); }
  hash_key before;
};

// The reference implementation's key (bytes 0 to 15) and texts.
TEST(KeyedHash, IsSipHash13) {
  const other_key reference({0x0706050403020100, 0x0f0e0d0c0b0a0908});
  EXPECT_EQ(keyed_hash(""), 0xabac0158050fc4dcu);
}

TEST(KeyedHash, IsAnotherOneUnderAnotherKey) {
  const std::string text = "node-1.example.com";
  const std::uint64_t here = keyed_hash(text);
  EXPECT_EQ(keyed_hash(text), here);
  const other_key key({1, 2});
  EXPECT_NE(keyed_hash(text), here);
}

TEST(KeyedHash, SeesEveryByteAndTheLength) {
  const std::string text(23, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = 'y';
    EXPECT_NE(keyed_hash(changed), keyed_hash(text)) << i;
  }
  EXPECT_NE(keyed_hash(std::string(3, '\0')), keyed_hash(std::string(4, '\0')));
}

TEST(KeyedMap, FindsTextsByAnyKindOfText) {
  keyed_map<std::string, int> map;
  map["a"] = 1;
  const auto [value, fresh] = map.try_emplace("a", 2);
  EXPECT_FALSE(fresh);
  EXPECT_EQ(*value, 1);
  ASSERT_TRUE(map.find(std::string_view("a")));
  EXPECT_EQ(*map.find("a"), 1);
  EXPECT_FALSE(map.find("b"));
  EXPECT_TRUE(map.erase("a"));
  EXPECT_FALSE(map.erase("a"));
  EXPECT_TRUE(map.empty());
}

TEST(OwnBytes, AreTheNewestWriteToAPlace) {
  own_bytes own;
  const std::string first(64, 'a'), second(64, 'b'), other = std::string(31, 'a') + "c";
  EXPECT_FALSE(own.has("p"));
  EXPECT_FALSE(own.is("p", first));
  own.wrote("p", first);
  EXPECT_TRUE(own.is("p", first));
  EXPECT_FALSE(own.is("p", other));
  EXPECT_FALSE(own.is("q", first));
  own.wrote("p", second);
  EXPECT_FALSE(own.is("p", first));
  EXPECT_TRUE(own.is("p", second));
  own.removed("p");
  EXPECT_FALSE(own.has("p"));
  EXPECT_FALSE(own.is("p", second));
  EXPECT_FALSE(own.is("p", ""));
}

TEST(OwnBytes, AreForgottenRatherThanGrowBeyondTheirLimit) {
  own_bytes own(3);
  for (int i = 0; i < 100; ++i) {
    own.wrote("place " + std::to_string(i), "digest");
    EXPECT_LE(own.size(), 3u);
    EXPECT_TRUE(own.is("place " + std::to_string(i), "digest"));
  }
  own.wrote("place 99", "next");  // a place that is there already takes no more
  EXPECT_TRUE(own.is("place 99", "next"));
}

}  // namespace
}  // namespace reactor
