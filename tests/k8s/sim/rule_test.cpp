// Rules of x-kubernetes-validations, as CEL has them.
#include "k8s/sim/objects/rule.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace k8s::sim {
namespace {

/// "true", "false", "!" and why it cannot be evaluated, or "?" and why it is no rule.
std::string said(std::string_view text, std::string_view self, std::string_view before = {}) {
  const auto compiled = rule::compile(text);
  if (!compiled) return "?" + compiled.error();
  const json::value now = json::parse(self);
  const json::value was = before.empty() ? json::value() : json::parse(before);
  const auto holds = compiled->holds(now, before.empty() ? nullptr : &was);
  return !holds ? "!" + holds.error() : *holds ? "true" : "false";
}

TEST(Rule, ComesToWhatCelSays) {
  const struct {
    const char *text, *self, *is;
  } table[] = {{"self.a == 1", R"({"a":1})", "true"},
               {"self.a == 1 && self.b == 2", R"({"a":1})", "!no such key: b"},
               {"self.a == 2 && self.b == 2", R"({"a":1})", "false"},
               {"self.b == 2 && self.a == 2", R"({"a":1})", "false"},
               {"self.b == 2 || self.a == 1", R"({"a":1})", "true"},
               {"has(self.a) && !has(self.b)", R"({"a":null})", "true"},
               {"has(self.a.b)", R"({"a":{}})", "false"},
               {"!has(self.a) || self.a in ['x', 'y']", R"({"a":"y"})", "true"},
               {"self in {}", "1", "?unexpected '{'"},
               {"self.k in self.m", R"({"k":"a","m":{"a":1}})", "true"},
               {"size(self) == 3 && self.size() == 3", R"("a\u00e9b")", "true"},
               {"size(self.l) > 0 ? self.l[0] == 7 : true", R"({"l":[7]})", "true"},
               {"self.l[1] == 7", R"({"l":[7]})", "!index out of bounds"},
               {"self.all(k, k.matches('^[a-z]+$'))", R"({"a":1,"b":2})", "true"},
               {"self.all(k, k.matches('^[a-z]+$'))", R"({"a":1,"B":2})", "false"},
               {"self.exists(x, x == 2)", "[1,2]", "true"},
               {"self.exists(x, x.y == 2)", "[1,{\"y\":2}]", "true"},
               {"type(self) == string ? self == '25%' : self >= 0", R"("25%")", "true"},
               {"type(self) == int && self % 2 == 0", "4", "true"},
               {"int(self) <= 100", R"("99")", "true"},
               {"int(self) <= 100", R"("x")", "!int: it is none"},
               {"string(self) == '7'", "7", "true"},
               {"self.startsWith('a.') && self.endsWith(\".b\") && self.contains('x')",
                R"("a.x.b")", "true"},
               {"self.matches('a\\\\.b')", R"("a.b")", "true"},
               {"self.matches('a\\\\.b')", R"("axb")", "false"},
               {"self <= '1.3' && '1.2' < self", R"("1.3")", "true"},
               {"self < 1", R"("a")", "!no such overload: <"},
               {"self", "1", "!no such overload: a condition that is no boolean"},
               {"1 / self == 1", "0", "!integer overflow or division by zero"},
               {"self - -2 * 3 == 7", "1", "true"},
               {"other == 1", "1", "?'other' is not known"},
               {"self.split('/') == []", R"("a")", "?split() with 1 arguments is not known"},
               {"self.matches('(')", R"("a")", "?error parsing regexp: missing closing ): `(`"},
               {"self ==", "1", "?unexpected ''"},
               {"'open", "1", "?a text that is not closed"}};
  for (const auto& row : table) EXPECT_EQ(said(row.text, row.self), row.is) << row.text;
  EXPECT_EQ(said(std::string(200, '(') + "true" + std::string(200, ')'), "1"), "?too many levels");
}

TEST(Rule, ThatLooksAtTheStateBeforeSaysSo) {
  EXPECT_TRUE(rule::compile("self.a == oldSelf.a")->is_transition());
  EXPECT_FALSE(rule::compile("self.oldSelf == 1")->is_transition());
  EXPECT_EQ(said("self.a == oldSelf.a", R"({"a":1})", R"({"a":1})"), "true");
  EXPECT_EQ(said("self.a == oldSelf.a", R"({"a":1})", R"({"a":2})"), "false");
}

}  // namespace
}  // namespace k8s::sim
