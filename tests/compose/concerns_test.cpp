#include "compose/concerns.hpp"

#include <gmock/gmock.h>

namespace compose {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using object_name = concerns::object_name;

object_name named(const char* name) {
  return {{"v1", "ConfigMap"}, "shop", name};
}
concerns::query labelled(const char* value) {
  concerns::query q;
  q.kind = {"v1", "ConfigMap"};
  q.ns = "shop";
  q.labels["tier"] = value;
  return q;
}

TEST(Concerns, OfAnObjectAreThoseWhoNameItOrAskForItsLabels) {
  const object_name a = named("a"), b = named("b"), one = named("one"), two = named("two");
  concerns all;
  all.put(a, {one, two}, {labelled("front")});
  all.put(b, {two}, {labelled("back"), labelled("front")});
  EXPECT_TRUE(all.asks(one.kind));
  EXPECT_THAT(all.naming(one), ElementsAre(a));
  EXPECT_THAT(all.naming(two), ElementsAre(a, b));
  EXPECT_THAT(all.named_by(a), ElementsAre(one, two));
  EXPECT_THAT(all.asking(one, {{"tier", "front"}}), ElementsAre(a, b));
  EXPECT_THAT(all.asking(one, {{"tier", "back"}}), ElementsAre(b));
  EXPECT_THAT(all.asking(one, {}), IsEmpty());
  EXPECT_THAT(all.asking({{"v1", "Secret"}, "shop", "one"}, {{"tier", "back"}}), IsEmpty());
  // What it names is replaced, and so is what it asks for.
  all.put(b, {one}, {});
  EXPECT_THAT(all.naming(one), ElementsAre(a, b));
  EXPECT_THAT(all.naming(two), ElementsAre(a));
  EXPECT_THAT(all.asking(one, {{"tier", "front"}}), ElementsAre(a));
  all.forget(a);
  EXPECT_THAT(all.naming(one), ElementsAre(b));
  EXPECT_THAT(all.naming(two), IsEmpty());
  EXPECT_THAT(all.named_by(a), IsEmpty());
  EXPECT_FALSE(all.asks(one.kind));
}

}  // namespace
}  // namespace compose
