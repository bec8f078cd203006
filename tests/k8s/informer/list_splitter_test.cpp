#include "k8s/informer/list_splitter.hpp"

#include "tests/k8s/informer/objects.hpp"

#include <gtest/gtest.h>

namespace k8s {
namespace {

struct outcome {
  std::vector<std::string> taken;
  std::string outer, error;
};

outcome split(std::string_view text, std::size_t piece, std::size_t limit = 10'000) {
  outcome o;
  list_splitter splitter(limit);
  const auto take = [&](std::string_view object) {
    o.taken.emplace_back(object);
    return true;
  };
  for (std::size_t at = 0; at < text.size(); at += piece) {
    // Exactly sized copies, so that the sanitizer sees a read past a piece.
    const std::string part(text.substr(at, piece));
    if (const auto fed = splitter.feed(part, take); !fed) {
      o.error = fed.error().detail;
      return o;
    }
  }
  if (const auto finished = splitter.finish(); !finished)
    o.error = finished.error().detail;
  else
    o.outer = splitter.outer();
  return o;
}

TEST(ListSplitter, CutsAtEveryPieceSizeTheSame) {
  const std::vector<std::string> objects{objects::pod_json({}), R"({"a":"}]\"{\\","b":[{},[]]})",
                                         "{}"};
  const std::string text = objects::list_json(7, objects, "tok\\\"en");
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    const outcome o = split(text, piece);
    ASSERT_EQ(o.error, "");
    ASSERT_EQ(o.taken, objects) << piece;
    ASSERT_EQ(
        o.outer,
        R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"tok\"en"},"items":[]})");
  }
}

TEST(ListSplitter, FindsItemsOnlyWhereTheyAre) {
  const outcome o = split(
      R"( { "x":{"items":[{"no":1}]}, "kind":"items", "items" : [ {"yes":1} , {"yes":2} ], "z":[{"no":2}] } )",
      3);
  EXPECT_EQ(o.error, "");
  EXPECT_EQ(o.taken, (std::vector<std::string>{R"({"yes":1})", R"({"yes":2})"}));
}

TEST(ListSplitter, AcceptsEmptyAndNullItems) {
  EXPECT_EQ(split(R"({"items":[]})", 4).error, "");
  EXPECT_EQ(split(R"({"items":null})", 4).error, "");
}

TEST(ListSplitter, RefusesWhatIsNoList) {
  for (const char* text : {"", "  ", "[1]", "x", R"({"items":[1]})", R"({"items":[{},]})",
                           R"({"items":[{}{}]})", R"({"items":[,{}]})", R"({"items":[{})",
                           R"({"items":[{}])", R"({"items":[{"a":1}]} x)", R"({"items":["{}"]})"})
    EXPECT_NE(split(text, 2).error, "") << text;
}

TEST(ListSplitter, HasALimitForObjectsAndForTheRest) {
  const std::string big = R"({"items":[{"a":")" + std::string(20'000, 'x') + R"("}]})";
  EXPECT_NE(split(big, 1000).error.find("larger"), std::string::npos);
  EXPECT_NE(split(big, 1'000'000).error.find("larger"), std::string::npos);
  const std::string padded = R"({"metadata":")" + std::string(400'000, 'x');
  EXPECT_NE(split(padded, 1000).error.find("beside"), std::string::npos);
}

TEST(ListSplitter, ShowsTheVersionBeforeTheFirstObject) {
  list_splitter splitter(1000);
  std::string outer;
  const auto fed = splitter.feed(objects::list_json(9, {"{}", "{}"}), [&](std::string_view) {
    outer = splitter.outer();
    return false;
  });
  EXPECT_TRUE(fed);
  EXPECT_EQ(
      outer,
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]})");
}

TEST(ListSplitter, KeepsNoBufferBetweenObjects) {
  list_splitter splitter(1'000'000);
  const std::string object = R"({"a":")" + std::string(100'000, 'x') + R"("})";
  const std::string text = objects::list_json(1, {object, object});
  const auto take = [](std::string_view) { return true; };
  ASSERT_TRUE(splitter.feed(std::string_view(text).substr(0, 90'000), take));
  EXPECT_GT(splitter.buffer_bytes(), 80'000u);
  ASSERT_TRUE(splitter.feed(std::string_view(text).substr(90'000), take));
  EXPECT_LT(splitter.buffer_bytes(), 1'000u);
}

}  // namespace
}  // namespace k8s
