// What the brake's object says, whatever was put into it, and what it stops.
#include "app/api/brake.hpp"

#include <gtest/gtest.h>

namespace units {
namespace {

const std::vector<std::string> apis = {"bootc", "tenants", "compose"};
const k8s::string_map prod{{"env", "prod"}}, test{{"env", "test"}};

brake_order read(brake_data object) {
  return read_brake(object, apis);
}

TEST(Brake, IsOnOrOffAsItsObjectSays) {
  EXPECT_EQ(read({{"state", "off"}}), brake_order());
  const brake_order on = read({{"state", "on"}, {"why", "bad image"}, {"by", "ann"}});
  EXPECT_TRUE(on.is_on);
  EXPECT_EQ(on.problem, "");
  EXPECT_EQ(brake_sentence(on), "the brake is on, by ann: bad image");
  EXPECT_TRUE(read({{"state", " on\n"}}).is_on) << "as a file of kubectl ends";
  const brake_order off = read({{"state", "off"}, {"by", "ann"}, {"only", "nonsense"}});
  EXPECT_FALSE(off.is_on);
  EXPECT_EQ(off.by, "ann");
}

struct garbage {
  brake_data object;
  const char* problem;
};

TEST(Brake, IsOnForEverythingWhereItsObjectCannotBeUnderstood) {
  const std::vector<garbage> all = {
      {{}, "it has no key state"},
      {{{"State", "off"}}, "it has no key state"},
      {{{"state", ""}}, "its key state says \"\", neither on nor off"},
      {{{"state", "OFF"}}, "its key state says \"OFF\", neither on nor off"},
      {{{"state", "true"}}, "its key state says \"true\", neither on nor off"},
      {{{"state", "on"}, {"only", "bootcc"}}, "its key only names \"bootcc\", which is no API"},
      {{{"state", "on"}, {"only", std::string(most_brake_bytes, ',')}}, "its key only is too long"},
      {{{"state", "on"}, {"selector", std::string(most_brake_bytes, 'a')}},
       "its key selector is too long"},
  };
  for (const garbage& g : all) {
    brake b;
    b.set(read(g.object));
    EXPECT_EQ(b.order().problem, g.problem);
    for (const std::string& api : apis) EXPECT_TRUE(b.stops(api, prod)) << g.problem;
  }
  const brake_order wrong = read({{"state", "on"}, {"selector", "env in"}, {"only", "bootc"}});
  EXPECT_TRUE(wrong.problem.starts_with("its key selector: ")) << wrong.problem;
  EXPECT_TRUE(wrong.only.empty());
  const brake_order escape = read({{"state", "\x1b[2J"}});
  EXPECT_EQ(escape.problem.find('\x1b'), std::string::npos);
}

TEST(Brake, IsOnWhateverTheClockOfItsWriterSaid) {
  for (const char* since : {"2099-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "yesterday", ""}) {
    brake b;
    b.set(read({{"state", "on"}, {"since", since}}));
    const auto held = b.stops("bootc", prod);
    ASSERT_TRUE(held) << since;
    EXPECT_EQ(held->since, since);
    b.set(read({{"state", "off"}, {"since", since}}));
    EXPECT_FALSE(b.stops("bootc", prod)) << since;
  }
}

TEST(Brake, StopsTheApisAndClustersThatItNames) {
  brake b;
  EXPECT_FALSE(b.stops("bootc", prod)) << "nothing was said";
  EXPECT_TRUE(b.set(read({{"state", "on"}, {"only", "bootc, compose"}})));
  EXPECT_FALSE(b.set(read({{"state", "on"}, {"only", "bootc, compose"}}))) << "the same again";
  EXPECT_TRUE(b.stops("bootc", prod));
  EXPECT_TRUE(b.stops("compose", test));
  EXPECT_FALSE(b.stops("tenants", prod));
  b.set(read({{"state", "on"}, {"selector", "env=prod"}, {"why", "w"}, {"since", "s"}}));
  const auto held = b.stops("tenants", prod);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->code, "braked");
  EXPECT_EQ(held->sentence, "the brake is on since s: w");
  EXPECT_EQ(held->released_by, "`windlass brake off`");
  EXPECT_EQ(held->since, "s");
  EXPECT_FALSE(b.stops("tenants", test));
  b.set(unread_brake("it cannot be read: forbidden"));
  EXPECT_TRUE(b.stops("tenants", test));
}

}  // namespace
}  // namespace units
