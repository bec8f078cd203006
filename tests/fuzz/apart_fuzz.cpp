#include "helm/apart/child.hpp"
#include "helm/objects/manifest_job.hpp"
#include "helm/placed/stored_release.hpp"
#include "helm/release/release_jobs.hpp"
#include "helm/tenants/chart_children.hpp"
#include "helm/tenants/supply/supply_jobs.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

/// What is read is written as the same bytes.
template <class T>
void read_as(std::string_view bytes) {
  constexpr std::uint64_t memory = 64u << 20;
  const auto read = formats::from_bytes<T>(bytes, memory);
  if (!read) return;
  const auto written = formats::to_bytes(*read);
  if (!written || *written != bytes) std::abort();
}

}  // namespace

/// What crosses the pipe between the service and a child that works on charts: replies, as the
/// service reads them, and requests, as a child does.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_as<helm::apart::reply>(bytes);
  read_as<helm::apart::request>(bytes);
  read_as<helm::release::render_job>(bytes);
  read_as<helm::release::render_job::answer>(bytes);
  read_as<helm::release::crds_job::answer>(bytes);
  read_as<helm::release::record_job::answer>(bytes);
  read_as<helm::tenants::index_job::answer>(bytes);
  read_as<helm::tenants::load_job::answer>(bytes);
  read_as<helm::placed::known_release>(bytes);
  read_as<helm::objects::manifest_job::answer>(bytes);
  read_as<helm::release::split_job::answer>(bytes);
  helm::apart::bench_of_a_child child(helm::tenants::chart_jobs());
  static_cast<void>(
      child.reply_to(std::string(bytes), [](char*, std::size_t) { return std::size_t{0}; }));
  return 0;
}
