#include "bench/watched/messages.hpp"

#include "bench/watched/server.hpp"
#include "k8s/client/resource.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

using namespace std::string_view_literals;

namespace {

constexpr std::uint64_t later = bench::corpus_version + 12'345;

/// One object as `watch_go encode` writes it; what is in it matters to nobody here but the two
/// texts that are written in place.
std::string encoded_object() {
  const std::string message =
      "\x0a\x01n\x32\x10" + std::to_string(bench::corpus_version) + std::string(bench::corpus_tier);
  return std::string("\0\0\0"sv) + static_cast<char>(message.size()) + message;
}

TEST(Corpus, HasEveryCollectionThatServicesOfOursWatch) {
  std::set<std::string> names;
  for (const bench::collection& c : bench::collections()) {
    names.insert(c.name);
    const boost::json::object o = boost::json::parse(c.object(3)).as_object();
    EXPECT_EQ(o.at("kind").as_string(), c.kind().kind);
    EXPECT_EQ(o.at("apiVersion").as_string(), c.kind().api_version());
    EXPECT_NE(c.object(3), c.object(4));
  }
  EXPECT_EQ(names, (std::set<std::string>{"bootcnodes", "nodes", "pods", "secrets", "tenants"}));
  EXPECT_THROW((void)bench::collection_called("leases"), std::runtime_error);
}

TEST(Messages, AnEventHasItsVersionAndAnotherTierInEachRound) {
  for (const bench::collection& c : bench::collections()) {
    bench::messages all(c, 2, {}, {});
    std::string text;
    all.append_event(text, 1, later, 1);
    all.append_event(text, 1, later + 1, 2);
    const auto end = text.find('\n');
    const auto first = boost::json::parse(text.substr(0, end)).as_object();
    const auto second = boost::json::parse(text.substr(end + 1, text.size() - end - 2)).as_object();
    const auto& meta = first.at("object").at("metadata");
    EXPECT_EQ(first.at("type").as_string(), "MODIFIED");
    EXPECT_EQ(meta.at("resourceVersion").as_string(), std::to_string(later)) << c.name;
    EXPECT_EQ(meta.at("labels").at("tier").as_string(), "backene");
    EXPECT_EQ(second.at("object").at("metadata").at("labels").at("tier").as_string(), "backend");
  }
}

TEST(Messages, APageOfAListSaysWhereTheNextBegins) {
  bench::messages all(bench::collection_called("tenants"), 5, {}, {});
  const auto list = boost::json::parse(all.list(2, 4, later, "4")).as_object();
  EXPECT_EQ(list.at("items").as_array().size(), 2u);
  EXPECT_EQ(list.at("metadata").at("continue").as_string(), "4");
  EXPECT_EQ(list.at("items").at(0).at("metadata").at("resourceVersion").as_string(),
            std::to_string(later));
}

TEST(Messages, MetadataAloneIsWithoutSpecAndStatus) {
  bench::messages all(bench::collection_called("nodes"), 1, {.metadata_only = true}, {});
  std::string text;
  all.append_event(text, 0, later, 1);
  const auto object = boost::json::parse(text).as_object().at("object").as_object();
  EXPECT_EQ(object.at("kind").as_string(), "PartialObjectMetadata");
  EXPECT_FALSE(object.contains("spec"));
  EXPECT_FALSE(object.contains("status"));
}

TEST(Messages, AProtobufEventIsAnEnvelopeBehindTheLengthOfItsFrame) {
  bench::messages all(bench::collection_called("pods"), 1, {.protobuf = true}, encoded_object());
  std::string frame;
  all.append_event(frame, 0, later, 1);
  ASSERT_GT(frame.size(), 4u);
  EXPECT_EQ(static_cast<unsigned char>(frame[3]), frame.size() - 4);
  EXPECT_TRUE(std::string_view(frame).substr(4).starts_with("\x0a\x08MODIFIED"));
  EXPECT_NE(frame.find("k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod"sv), std::string::npos);
  EXPECT_NE(frame.find(std::to_string(later) + "backene"), std::string::npos);
  const std::string list = all.list(0, 1, later, "");
  EXPECT_TRUE(list.starts_with("k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList"sv));
}

TEST(Messages, TooFewEncodedObjectsAreAnError) {
  EXPECT_THROW(
      bench::messages(bench::collection_called("pods"), 2, {.protobuf = true}, encoded_object()),
      std::runtime_error);
}

TEST(ServedCorpus, IsReadAsItWasWritten) {
  bench::served_corpus c;
  c.collection = "nodes";
  c.objects = 7;
  c.form = {.protobuf = true, .metadata_only = true};
  c.encoded = "/tmp/x y";
  c.events = 5;
  c.streams = 3;
  c.per_second = 12.5;
  EXPECT_EQ(bench::served_corpus::of(c.text()).text(), c.text());
}

}  // namespace
