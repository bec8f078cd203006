#include "bootc/operator_config.hpp"

#include "formats/yaml/yaml.hpp"
#include "reactor/system/files.hpp"
#include "tests/bootc/behaviour/stage.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

namespace bootc::behaviour {
namespace {

json::object config(const std::string& name, const std::string& spec) {
  json::object body =
      json::parse(R"({"apiVersion":"node.bootc.dev/v1alpha1","kind":"BootcOperatorConfig"})")
          .as_object();
  body["metadata"] = json::object{{"name", name}};
  if (!spec.empty()) body["spec"] = json::parse(spec);
  return body;
}

awaitable<k8s::result<json::object>> put(stage& s, std::string name,
                                         std::string spec) {  // borrowed
  json::object body = config(s.named(name), spec);
  auto made = co_await s.api().create(operator_configs(), std::string(), std::move(body));
  co_return made;
}

awaitable<void> take_away(stage& s, std::string name) {  // borrowed
  k8s::object_key key{"", s.named(name)};
  co_await s.erase(operator_configs(), std::move(key));
}

/// What is read; a test fails when nothing can be.
awaitable<operator_config> loaded(stage& s) {  // borrowed
  auto read = co_await load_operator_config(s.api());
  EXPECT_TRUE(read) << (read ? "" : read.error().message());
  co_return read ? *read : operator_config();
}

std::string text_of(const operator_config& c) {
  return std::string(c.allow_insecure_registry ? "insecure " : "secure ") +
         reactor::format_duration(c.tag_resolution_period) + " " +
         reactor::format_duration(c.status_poll_period);
}

/// A request that the client has no words for, to the embedded server alone.
int status_of(stage& s, const std::string& method, const std::string& query,
              const json::object& body, std::string* said = nullptr) {
  auto answer = s.embedded()->handle(k8s::sim::make_request(
      method, "/apis/node.bootc.dev/v1alpha1/bootcoperatorconfigs" + query, json::serialize(body)));
  if (said) *said = answer.body;
  return answer.status;
}

using rows = std::vector<std::pair<std::string, std::string>>;

/// A spec, and what it means.
rows accepted() {
  return {
      {"{}", "secure 5m0s 5m0s"},
      {R"({"controller":{"tagResolutionPeriodSeconds":60}})", "secure 1m0s 5m0s"},
      {R"({"controller":{"allowInsecureRegistry":true}})", "insecure 5m0s 5m0s"},
      {R"({"daemon":{"statusPollPeriodSeconds":30}})", "secure 5m0s 30s"},
      {R"({"controller":{"allowInsecureRegistry":false}})", "secure 5m0s 5m0s"},
      {R"({"controller":null,"daemon":null})", "secure 5m0s 5m0s"},
      {R"({"controller":{"allowInsecureRegistry":null,"tagResolutionPeriodSeconds":null},"daemon":{"statusPollPeriodSeconds":null}})",
       "secure 5m0s 5m0s"},
      {R"({"controller":{"tagResolutionPeriodSeconds":1},"daemon":{"statusPollPeriodSeconds":1}})",
       "secure 1s 1s"},
      {R"({"controller":{"tagResolutionPeriodSeconds":2147483647},"daemon":{"statusPollPeriodSeconds":2147483647}})",
       "secure 596523h14m7s 596523h14m7s"},
  };
}

/// A spec, and the field that is wrong in it.
rows refused() {
  return {
      {"", "spec"},
      {"null", "spec"},
      {R"({"controller":{"tagResolutionPeriodSeconds":0}})", "tagResolutionPeriodSeconds"},
      {R"({"controller":{"tagResolutionPeriodSeconds":-1}})", "tagResolutionPeriodSeconds"},
      {R"({"controller":{"tagResolutionPeriodSeconds":2147483648}})", "tagResolutionPeriodSeconds"},
      {R"({"daemon":{"statusPollPeriodSeconds":0}})", "statusPollPeriodSeconds"},
      {R"({"daemon":{"statusPollPeriodSeconds":"10s"}})", "statusPollPeriodSeconds"},
      {R"({"daemon":{"statusPollPeriodSeconds":1.5}})", "statusPollPeriodSeconds"},
      {R"({"controller":{"allowInsecureRegistry":"true"}})", "allowInsecureRegistry"},
  };
}

TEST(OperatorConfig, T058_WhatIsNotSaidIsAsByDefault) {
  play([](stage& s) -> awaitable<void> {
    const auto cases = accepted();
    for (const auto& [spec, wanted] : cases) {
      std::string text = spec;
      auto made = co_await put(s, "c", std::move(text));
      EXPECT_TRUE(made) << spec << ": " << (made ? "" : made.error().message());
      if (!made) continue;
      const operator_config read = co_await loaded(s);
      EXPECT_EQ(text_of(read), wanted) << spec;
      EXPECT_EQ(read.name, s.named("c"));
      co_await take_away(s, "c");
    }
  });
}

TEST(OperatorConfig, T059_WhatIsWrongIsRefusedByItsField) {
  play([](stage& s) -> awaitable<void> {
    const auto cases = refused();
    for (const auto& [spec, field] : cases) {
      std::string text = spec;
      auto made = co_await put(s, "c", std::move(text));
      EXPECT_FALSE(made) << spec;
      if (made) {
        co_await take_away(s, "c");
        continue;
      }
      EXPECT_EQ(made.error().code, k8s::errc::invalid) << spec;
      EXPECT_NE(made.error().detail.find(field), std::string::npos) << made.error().detail;
    }
    if (!s.embedded()) co_return;
    std::string said;
    const json::object odd = config("c", R"({"controller":{"odd":1}})");
    EXPECT_EQ(status_of(s, "POST", "?fieldValidation=Strict", odd, &said), 400);
    EXPECT_NE(said.find("spec.controller.odd"), std::string::npos) << said;
  });
}

TEST(OperatorConfig, T060_TheSampleIsTheDefaultsAndPassesAStrictDryRun) {
  play([](stage& s) -> awaitable<void> {
    const std::string path =
        std::string(WINDLASS_SOURCE_DIR) + "/deploy/examples/operator-config.yaml";
    auto text = reactor::load_file(path, 1u << 20);
    EXPECT_TRUE(text);
    auto read = formats::parse_kubernetes_yaml(*text, path);
    EXPECT_TRUE(read) << (read ? "" : read.error().message());
    if (!read) co_return;
    const json::object sample = read->as_object();
    if (s.embedded()) {
      std::string said;
      EXPECT_EQ(status_of(s, "POST", "?fieldValidation=Strict&dryRun=All", sample, &said), 201)
          << said;
    }
    const operator_config none = co_await loaded(s);
    std::string spec = json::serialize(sample.at("spec"));
    auto made = co_await put(s, "sample", std::move(spec));
    EXPECT_TRUE(made);
    operator_config same = co_await loaded(s);
    EXPECT_EQ(same.name, s.named("sample"));
    same.name.clear();
    EXPECT_EQ(same, none);
    co_await take_away(s, "sample");
  });
}

TEST(OperatorConfig, T061_EachLoadSeesWhatIsThereAndFormerOnesStayAsTheyWere) {
  play([](stage& s) -> awaitable<void> {
    const operator_config before = co_await loaded(s);
    EXPECT_EQ(before, operator_config());
    auto made = co_await put(s, "c", R"({"controller":{"tagResolutionPeriodSeconds":60}})");
    EXPECT_TRUE(made);
    const operator_config created = co_await loaded(s);
    json::object patch =
        json::parse(R"({"spec":{"controller":{"tagResolutionPeriodSeconds":90}}})").as_object();
    k8s::object_key key{"", s.named("c")};
    auto patched =
        co_await s.api().merge_patch(operator_configs(), std::move(key), std::move(patch));
    EXPECT_TRUE(patched);
    const operator_config updated = co_await loaded(s);
    co_await take_away(s, "c");
    const operator_config deleted = co_await loaded(s);
    EXPECT_EQ(text_of(before), "secure 5m0s 5m0s");
    EXPECT_EQ(text_of(created), "secure 1m0s 5m0s");
    EXPECT_EQ(text_of(updated), "secure 1m30s 5m0s");
    EXPECT_EQ(deleted, before);
  });
}

TEST(OperatorConfig, T062_TwoAreRefusedAndBothAreNamed) {
  play([](stage& s) -> awaitable<void> {
    for (const char* name : {"second", "first"}) {
      auto made = co_await put(s, name, "{}");
      EXPECT_TRUE(made);
    }
    auto read = co_await load_operator_config(s.api());
    EXPECT_FALSE(read);
    if (!read) {
      EXPECT_EQ(read.error().code, k8s::errc::invalid);
      EXPECT_EQ(read.error().detail,
                "at most one is allowed, found " + s.named("first") + ", " + s.named("second"));
    }
    for (const char* name : {"second", "first"}) co_await take_away(s, name);
  });
}

TEST(OperatorConfig, T063_WithoutItsKindTheDefaultsCount) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;  // others of this program need the kind meanwhile
    k8s::object_key kind{"", "bootcoperatorconfigs.node.bootc.dev"};
    k8s::delete_options now;
    auto gone = co_await s.api().remove(k8s::resources::crds(), std::move(kind), std::move(now));
    EXPECT_TRUE(gone);
    co_await s.loop().sleep_for(5s);
    auto read = co_await load_operator_config(s.api());
    EXPECT_TRUE(read && *read == operator_config());
  });
}

}  // namespace
}  // namespace bootc::behaviour
