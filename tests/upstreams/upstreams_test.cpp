#include "formats/go/files.hpp"
#include "formats/yaml/yaml.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

namespace {

namespace json = boost::json;

const std::string source = WINDLASS_SOURCE_DIR "/";
const std::string extracts = source + "tests/data/upstreams/";

json::value yaml_of(const std::string& path) {
  const auto text = formats::read_file(path);
  EXPECT_TRUE(text) << path;
  auto v = formats::parse_kubernetes_yaml(text ? *text : "", path);
  EXPECT_TRUE(v) << path;
  return v ? *v : json::value(json::object());
}

std::string text_of(const std::string& path) {
  const auto text = formats::read_file(path);
  EXPECT_TRUE(text) << path;
  return text ? *text : std::string();
}

const json::value* at(const json::value& v, const char* pointer) {
  boost::system::error_code none;
  return v.find_pointer(pointer, none);
}

/// A field by its path, with what its schema says of a value.
using fields = std::map<std::string, json::object>;

void collect(const json::object& schema, const std::string& where, fields& into) {
  if (const auto* items = schema.if_contains("items"); items && items->is_object())
    collect(items->get_object(), where + "[]", into);
  const auto* all = schema.if_contains("properties");
  if (!all) return;
  for (const auto& [name, inner] : all->get_object()) {
    const std::string path = where.empty() ? std::string(name) : where + "." + std::string(name);
    if (path == "metadata" || path == "apiVersion" || path == "kind") continue;
    json::object& says = into[path];
    for (const char* key : {"type", "default", "enum", "pattern"})
      if (const auto* v = inner.get_object().if_contains(key)) says[key] = *v;
    collect(inner.get_object(), path, into);
  }
}

fields shipped(const std::string& crd) {
  fields out;
  const json::value v = yaml_of(source + "deploy/crds/" + crd);
  const auto* schema = at(v, "/spec/versions/0/schema/openAPIV3Schema");
  EXPECT_NE(schema, nullptr) << crd;
  if (schema) collect(schema->get_object(), "", out);
  return out;
}

bool same_set(const json::value& a, const json::value& b) {
  std::map<std::string, int> counted;
  for (const auto& one : a.as_array()) ++counted[json::serialize(one)];
  for (const auto& one : b.as_array()) --counted[json::serialize(one)];
  return std::ranges::all_of(counted, [](const auto& c) { return c.second == 0; });
}

bool says_the_same(const json::object& a, const json::object& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a) {
    const auto* other = b.if_contains(key);
    if (!other) return false;
    if (key == "enum" ? !same_set(value, *other) : value != *other) return false;
  }
  return true;
}

/// The part of docs/upstreams.md that is about one project.
std::string section_of(const std::string& project) {
  const std::string page = text_of(source + "docs/upstreams.md");
  const auto begin = page.find("\n## " + project + "\n");
  EXPECT_NE(begin, page.npos) << project;
  if (begin == page.npos) return {};
  return page.substr(begin, page.find("\n## ", begin + 1) - begin);
}

TEST(Upstreams, EveryFieldOfTheirKindsIsHereAsItIsThereOrThePageNamesIt) {
  const std::map<std::string, std::string> kinds{
      {"bootcnodepools.yaml", "bootcnodepools.yaml"},
      {"bootcnodes.yaml", "bootcnodes.yaml"},
      {"kryptondeployments.yaml", "tenants/kryptondeployments.yaml"},
      {"tenants.yaml", "tenants/tenants.yaml"},
      {"releases.yaml", "releases.yaml"}};
  for (const auto& [extract, crd] : kinds) {
    const json::value theirs = yaml_of(extracts + extract);
    const fields ours = shipped(crd);
    const std::string page = section_of(std::string(theirs.at("project").as_string()));
    const std::string kind(theirs.at("kind").as_string());
    ASSERT_FALSE(ours.empty()) << crd;
    for (const auto& [path, says] : theirs.at("fields").as_object()) {
      const auto found = ours.find(std::string(path));
      const bool same = found != ours.end() && says_the_same(says.as_object(), found->second);
      const bool named = page.find("`" + kind + "." + std::string(path) + "`") != page.npos;
      EXPECT_NE(same, named) << extract << ": " << path
                             << (same ? " is the same, and the page says otherwise"
                                      : " differs, and the page does not say so");
    }
  }
}

TEST(Upstreams, ThePageNamesTheCommitThatAnExtractIsOf) {
  for (const auto& file : std::filesystem::directory_iterator(extracts)) {
    if (file.path().extension() != ".yaml") continue;
    const json::value v = yaml_of(file.path().string());
    const std::string page = section_of(std::string(v.at("project").as_string()));
    EXPECT_NE(page.find(std::string(v.at("commit").as_string())), page.npos) << file.path();
    EXPECT_NE(page.find(file.path().filename().string()), page.npos) << file.path();
  }
}

TEST(Upstreams, TheCatalogueOfTrusteeNamesImagesAsItsReleaseScriptDoes) {
  const json::value script = yaml_of(extracts + "trustee-images.yaml");
  const std::string registry(script.at("registry").as_string());
  const auto released = [&](const char* staged, const std::string& version) {
    const auto* prefix = script.at("tag_prefix").as_object().if_contains(staged);
    return registry + "/" + std::string(script.at("released").as_object().at(staged).as_string()) +
           ":" + (prefix ? std::string(prefix->as_string()) : std::string()) + version;
  };
  const json::value catalogue =
      json::parse(text_of(source + "policies/trustee/data/versions.json"));
  int judged = 0;
  for (const auto& [version, images] : catalogue.at("version_mappings").as_object()) {
    const std::string v(version);
    if (v == "latest") continue;  // the newest release by another name
    ++judged;
    EXPECT_EQ(images.at("kbs_image"), json::value(released("staged-images/kbs-grpc-as", v)));
    EXPECT_EQ(images.at("kbs_all_in_one_image"), json::value(released("staged-images/kbs", v)));
    EXPECT_EQ(images.at("as_image"), json::value(released("staged-images/coco-as-grpc", v)));
    EXPECT_EQ(images.at("rvps_image"), json::value(released("staged-images/rvps", v)));
  }
  EXPECT_GE(judged, 14);
}

// What `train facts --clone` looks for in Kata's file is there, or may be missing; images have the
// tag that `version` says.
TEST(Upstreams, ThePinsThatTrainsReadAreInKatasFile) {
  const json::value theirs = yaml_of(extracts + "kata-versions.yaml");
  std::string sources = text_of(source + "policies/trains/default/sources.lua");
  sources = sources.substr(sources.find("Kata = {"));
  sources = sources.substr(0, sources.find("\n  },\n"));
  int read = 0;
  for (std::size_t begin = 0; (begin = sources.find("{ files", begin)) != sources.npos; ++begin) {
    const std::string entry = sources.substr(begin, sources.find("{ files", begin + 1) - begin);
    std::string path = entry.substr(entry.find("path = {") + 8);
    path = path.substr(0, path.find('}'));
    if (const auto at = path.find("trustee[1], trustee[2]"); at != path.npos)
      path.replace(at, 22, R"("externals", "coco-trustee")");
    std::string pointer;
    for (const char c : path)
      if (c == ',' || pointer.empty())
        pointer += '/';
      else if (c != '"' && c != ' ')
        pointer += c;
    const json::value* pin = at(theirs, pointer.c_str());
    EXPECT_TRUE(pin || entry.find("optional = true") != entry.npos) << pointer;
    read += pin != nullptr;
  }
  EXPECT_EQ(read, 4);
  for (const auto& [name, image] : theirs.at_pointer("/externals/coco-trustee/images").as_object())
    EXPECT_EQ(image.as_string().find(':'), std::string::npos) << name;
}

}  // namespace
