#include "reactor/plain/keyed_hash.hpp"

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

}  // namespace
}  // namespace reactor
