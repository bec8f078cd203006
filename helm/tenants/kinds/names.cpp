#include "helm/tenants/kinds/names.hpp"

#include "formats/digest.hpp"

namespace helm::tenants::names {
namespace {

constexpr std::size_t release_kept = 42, annotation_kept = 40, digits_kept = 10;
constexpr std::size_t fingerprint_word = std::string_view("fingerprint-").size();

/// The first `kept` characters without what no name ends in, and the beginning of the whole name's
/// digest.
std::string shortened(std::string_view full, std::size_t kept) {
  std::string_view head = full.substr(0, kept);
  while (!head.empty() && (head.back() == '-' || head.back() == '.')) head.remove_suffix(1);
  return std::string(head) + "-" + formats::sha256_hex(full).substr(0, digits_kept);
}

std::string release_of(std::string full) {
  return full.size() <= release_limit ? full : shortened(full, release_kept);
}

}  // namespace

std::string release_name(std::string_view tenant, std::string_view cluster) {
  return release_of("tenant-" + std::string(tenant) + "-" + std::string(cluster));
}

std::string fingerprint_annotation(std::string_view cluster) {
  const bool fits = cluster.size() + fingerprint_word <= annotation_limit;
  return std::string(fingerprint_prefix) +
         (fits ? std::string(cluster) : shortened(cluster, annotation_kept));
}

std::string deployment_release_name(std::string_view deployment) {
  return release_of("ced-" + std::string(deployment));
}

std::string deployment_fingerprint_annotation(std::string_view secret_ns,
                                              std::string_view secret_name) {
  return fingerprint_annotation(std::string(secret_ns) + "." + std::string(secret_name));
}

}  // namespace helm::tenants::names
