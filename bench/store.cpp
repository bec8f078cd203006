#include "bench/store.hpp"

#include "bench/measure.hpp"
#include "bench/pods.hpp"
#include "k8s/informer/store.hpp"
#include "k8s/views/pod.hpp"

#include <boost/json.hpp>

#include <memory>

namespace bench {
namespace {

constexpr std::size_t object_bytes = 8'192;
constexpr std::size_t sample_every = 500;  // objects between two looks at the heap

/// Lists `objects` pods into the store as an informer does, one object's text at a time.
/// Returns the most heap that was in use on the way, and the processor time of parsing and storing
/// alone.
struct listed {
  std::size_t peak_bytes = 0;
  reactor::nanoseconds cpu{0};
};
listed list_into(k8s::store<k8s::pod>& store, std::size_t objects, std::uint64_t version) {
  listed l;
  store.begin_relist();
  for (std::size_t i = 0; i < objects; ++i) {
    const std::string text = pod_json(i, version + i, object_bytes);
    const auto before = process_cpu();
    auto pod = k8s::parse_view<k8s::pod>(text);
    if (pod) store.put(std::move(*pod), k8s::origin::list);
    l.cpu += process_cpu() - before;
    if (i % sample_every == 0) l.peak_bytes = std::max(l.peak_bytes, heap_bytes());
  }
  store.sweep();
  return l;
}

boost::json::object point(std::size_t objects) {
  k8s::shared_parser().shrink();
  trim_heap();
  const std::size_t empty = heap_bytes(), resident_empty = resident_bytes();
  auto store = std::make_unique<k8s::store<k8s::pod>>();
  store->add_index("node", [](const k8s::pod& p, std::vector<k8s::interned>& values) {
    if (!p.node.empty()) values.push_back(p.node);
  });
  store->add_index("owner", [](const k8s::pod& p, std::vector<k8s::interned>& values) {
    if (p.meta.owner) values.emplace_back(p.meta.owner.uid.text());
  });
  const listed first = list_into(*store, objects, 1'000);
  k8s::shared_parser().shrink();
  trim_heap();
  const std::size_t steady = heap_bytes() - empty;
  const std::size_t resident = resident_bytes() - std::min(resident_empty, resident_bytes());
  // Every object has a new version; what the view keeps is the same, as after a lost watch.
  const listed again = list_into(*store, objects, 10'000'000);
  boost::json::object o;
  o["objects"] = store->size();
  o["bytes_per_object"] = rounded(static_cast<double>(steady) / static_cast<double>(objects), 1);
  o["resident_bytes_per_object"] =
      rounded(static_cast<double>(resident) / static_cast<double>(objects), 1);
  o["estimated_bytes_per_object"] =
      rounded(static_cast<double>(store->memory_bytes()) / static_cast<double>(objects), 1);
  o["relist_peak_ratio"] =
      rounded(static_cast<double>(again.peak_bytes - empty) / static_cast<double>(steady), 3);
  o["us_per_object"] =
      rounded(static_cast<double>(first.cpu.count()) / 1e3 / static_cast<double>(objects), 2);
  o["us_per_relisted_object"] =
      rounded(static_cast<double>(again.cpu.count()) / 1e3 / static_cast<double>(objects), 2);
  return o;
}

}  // namespace

boost::json::object measure_store(std::size_t most) {
  boost::json::object o = environment();
  boost::json::array points;
  for (const std::size_t objects : {most / 10, most}) points.push_back(point(objects));
  const boost::json::object& largest = points.back().as_object();
  o["bytes_per_object"] = largest.at("bytes_per_object");
  o["relist_peak_ratio"] = largest.at("relist_peak_ratio");
  o["us_per_object"] = largest.at("us_per_object");
  o["object_bytes"] = object_bytes;
  o["points"] = std::move(points);
  return o;
}

}  // namespace bench
