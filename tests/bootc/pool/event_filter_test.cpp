#include "bootc/pool/event_filter.hpp"

#include "bootc/kinds/names.hpp"
#include "bootc/pool/events/hold_note.hpp"
#include "tests/bootc/builders.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace bootc {
namespace {

using testing::with;

bootc_node some_node() {
  bootc_node b;
  b.meta.name = "w1";
  b.meta.annotations = with({}, std::string(names::in_reboot_slot), "");
  b.meta.annotations = with(b.meta.annotations, std::string(names::hold), "draining");
  b.spec.desired_image = "quay.io/example/os@sha256:b";
  return b;
}

bool node_news(const std::function<void(bootc_node&)>& change) {
  const bootc_node before = some_node();
  bootc_node now = before;
  change(now);
  return is_news(before, now);
}

bool annotation_news(std::string_view key, std::string value) {
  return node_news([&](bootc_node& b) {
    b.meta.annotations = with(b.meta.annotations, std::string(key), std::move(value));
  });
}

TEST(News, ANoteOnANodesObjectIsNone) {
  for (const auto note : {names::last_observed_state, names::hold, names::hold_reason,
                          names::hold_since, names::hold_released_by})
    EXPECT_FALSE(annotation_news(note, "another")) << note;
  EXPECT_FALSE(node_news([](bootc_node& b) {
    b.meta.annotations = with({}, std::string(names::in_reboot_slot), "");  // a note is taken off
  }));
}

TEST(News, EverythingElseOfItIs) {
  for (const auto key :
       {names::in_reboot_slot, names::was_cordoned, names::drain_retry_at, names::approved_at})
    EXPECT_TRUE(annotation_news(key, "another")) << key;
  EXPECT_TRUE(node_news([](bootc_node& b) { b.meta.annotations = {}; }));
  EXPECT_TRUE(node_news([](bootc_node& b) { b.spec.desired_image = "another"; }));
  EXPECT_TRUE(node_news([](bootc_node& b) { b.status.observed_generation = 7; }));
  EXPECT_TRUE(node_news([](bootc_node& b) { b.meta.labels = with({}, "a", "b"); }));
  EXPECT_TRUE(node_news([](bootc_node& b) { b.meta.owner.uid = k8s::uid("another"); }));
  EXPECT_TRUE(node_news([](bootc_node& b) { b.meta.deletion_timestamp = testing::noon; }));
}

/// Of a pool whose status becomes `to`, when `written` was written.
bool pool_news(const node_pool_status& to, const node_pool_status& written,
               const std::function<void(node_pool&)>& besides = {}) {
  node_pool before;
  before.meta.name = "p";
  before.status.target_digest = "sha256:a";
  before.status.updated_count = 1;
  node_pool now = before;
  now.status = to;
  if (besides) besides(now);
  return is_news(before, now, written);
}

node_pool_status further() {
  node_pool_status s;
  s.target_digest = "sha256:a";
  s.updated_count = 2;
  s.held["draining"] = 3;
  s.next_tag_resolution_time = "2026-11-21T12:05:00Z";
  s.conditions.push_back({});
  return s;
}

TEST(News, AStatusOfOursIsNoneWhereItOnlyShows) {
  EXPECT_FALSE(pool_news(further(), further()));
  EXPECT_TRUE(pool_news(further(), {})) << "somebody else wrote it, or the server keeps less";
  EXPECT_TRUE(pool_news(further(), further(), [](node_pool& p) { p.spec.paused = true; }));
  EXPECT_TRUE(pool_news(further(), further(), [](node_pool& p) { p.meta.generation = 2; }));
}

TEST(News, WhatALaterPlanGoesOnFromIs) {
  const auto goes_on = [](const std::function<void(node_pool_status&)>& change) {
    node_pool_status s = further();
    change(s);
    return pool_news(s, s);
  };
  EXPECT_TRUE(goes_on([](node_pool_status& s) { s.observed_generation = 2; }));
  EXPECT_TRUE(goes_on([](node_pool_status& s) { s.target_digest = "sha256:b"; }));
  EXPECT_TRUE(goes_on([](node_pool_status& s) { s.resolved_ref = "os:latest"; }));
  EXPECT_TRUE(goes_on([](node_pool_status& s) { s.available_digest = "sha256:b"; }));
  EXPECT_TRUE(goes_on([](node_pool_status& s) { s.approved_digest = "sha256:b"; }));
  EXPECT_TRUE(goes_on([](node_pool_status& s) { s.failed_digest = "sha256:b"; }));
  EXPECT_TRUE(goes_on([](node_pool_status& s) { s.return_ref = "os:former"; }));
  EXPECT_TRUE(goes_on([](node_pool_status& s) { s.policy_waits.emplace_back(); }));
}

}  // namespace
}  // namespace bootc
