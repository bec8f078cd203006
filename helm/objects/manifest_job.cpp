#include "helm/objects/manifest_job.hpp"

#include "helm/objects/manifest_reader.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace helm::objects {
namespace {

namespace json = boost::json;
using objects_found = outcome<std::vector<json::object>>;

constexpr const char* cannot_be_read = "the manifest cannot be read";
constexpr const char* too_much = ": its objects take more memory than they may";
/// Of an object beside its JSON: where it is on the server, as objects::object has it.
constexpr std::uint64_t bytes_per_object = 512;
/// Somewhat deeper than read_manifest goes.
constexpr std::size_t json_depth = 256;

/// What a child said, which is as trustworthy as the manifest.
objects_found read_all(std::vector<std::string>& texts) {
  std::vector<json::object> out;
  std::uint64_t left = manifest_objects_bytes;
  json::parse_options how;
  how.max_depth = json_depth;
  for (std::string& text : texts) {
    const std::uint64_t bytes = bytes_of_object(text);
    if (bytes > left) return problem{std::string(cannot_be_read) + too_much};
    left -= bytes;
    boost::system::error_code wrong;
    json::value v = json::parse(text, wrong, {}, how);
    std::string().swap(text);
    if (wrong || !v.is_object())
      return problem{std::string(cannot_be_read) + ": " +
                     (wrong ? wrong.message() : "it has something else than objects")};
    out.push_back(std::move(v.get_object()));
  }
  return out;
}

}  // namespace

std::uint64_t bytes_of_object(std::string_view text) noexcept {
  // Each value but the first stands behind one of these; a member of an object behind two.
  constexpr std::uint64_t bytes_per_value = 32;
  const auto values = std::ranges::count_if(
      text, [](char c) { return c == ',' || c == ':' || c == '[' || c == '{'; });
  return bytes_per_object + text.size() + bytes_per_value * static_cast<std::uint64_t>(values);
}

objects_found objects_in(std::string_view manifest) {
  auto documents = read_manifest(manifest);
  if (!documents) return documents.error();
  std::vector<json::object> out;
  for (json::object& document : *documents)
    for (json::object& one : flatten(std::move(document))) out.push_back(std::move(one));
  return out;
}

manifest_job::answer manifest_job::work() const {
  answer out;
  auto all = objects_in(text);
  if (!all) {
    out.failure = all.error();
    return out;
  }
  std::uint64_t bytes = 0;
  for (json::object& o : *all) {
    out.objects.push_back(json::serialize(o));
    json::object().swap(o);
    bytes += bytes_of_object(out.objects.back());
    if (bytes <= manifest_objects_bytes) continue;
    out = {};
    out.failure = problem{std::string(cannot_be_read) + too_much};
    break;
  }
  return out;
}

manifest_job::answer manifest_job::run(outcome<std::shared_ptr<prepared_chart>>&) const {
  answer failed;
  auto done = bounded(cannot_be_read, limits, [&] { return outcome<answer>(work()); });
  if (done) return std::move(*done);
  failed.failure = done.error();
  return failed;
}

reactor::awaitable<objects_found> objects_apart(reactor::loop& l, std::string manifest,
                                                chart_limits limits, apart::memory_share* within) {
  manifest_job job;
  job.text = std::move(manifest);
  job.limits = limits;
  auto said = co_await apart::ask_about_text(l, std::move(job), within);
  if (!said) co_return problem{std::string(cannot_be_read) + ": " + said.error().text};
  if (said->failure) co_return *said->failure;
  co_return co_await l.offload(&read_all, std::move(said->objects));
}

}  // namespace helm::objects
