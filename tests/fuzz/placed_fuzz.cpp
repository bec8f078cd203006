#include "helm/charts/bounded.hpp"
#include "helm/objects/manifest_job.hpp"
#include "helm/placed/noted_release.hpp"
#include "helm/placed/plan/names.hpp"
#include "helm/release/release_jobs.hpp"
#include "helm/tenants/home/remembered_places.hpp"

#include <boost/json/parse.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

/// What strangers wrote about releases that the service places: manifests of charts and records,
/// what is noted of a release, and whose a namespace is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace helm;
  const std::string text(reinterpret_cast<const char*>(data), size);

  const placed::noted_facts noted = placed::read_noted(text);
  if (!(placed::read_noted(placed::write_noted(noted)) == noted)) std::abort();
  const tenants::object_places places = tenants::read_places(text);
  if (!(tenants::read_places(tenants::write_places(places)) == places)) std::abort();
  if (const auto owner = placed::names::read_owner(text))
    if (owner->text() != text) std::abort();

  objects::manifest_job manifest;
  manifest.text = text;
  manifest.limits = apart::short_text_limits;
  outcome<std::shared_ptr<prepared_chart>> none = std::shared_ptr<prepared_chart>();
  std::uint64_t bytes = 0;
  for (const std::string& object : manifest.run(none).objects) {
    boost::json::parse_options how;
    how.max_depth = 256;
    boost::system::error_code wrong;
    const auto read = boost::json::parse(object, wrong, {}, how);
    // Texts of YAML may hold what JSON's must not.
    if (!wrong && !read.is_object()) std::abort();
    bytes += objects::bytes_of_object(object);
  }
  if (bytes > objects::manifest_objects_bytes) std::abort();
  release::split_job split;
  split.text = text;
  split.limits = apart::short_text_limits;
  static_cast<void>(split.run(none));
  return 0;
}
