#include "bench/tenants/request_tally.hpp"

#include <boost/json.hpp>

#include <vector>

namespace bench {
namespace {

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) out.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return out;
}

bool is_watch(const k8s::sim::request& r) {
  for (const auto& [name, value] : r.query)
    if (name == "watch" && value == "true") return true;
  return false;
}

}  // namespace

std::string kind_of_request(const k8s::sim::request& r) {
  const std::vector<std::string_view> parts = parts_of(r.path);
  const std::size_t root = parts.empty() ? 0 : parts[0] == "api" ? 2 : parts[0] == "apis" ? 3 : 0;
  if (root == 0 || parts.size() <= root) return r.method + " " + r.path;  // discovery, /version
  std::size_t at = root;
  if (parts[at] == "namespaces" && parts.size() > at + 2) at += 2;
  const bool of_one = parts.size() > at + 1;
  std::string verb = r.method;
  if (verb == "GET" && !of_one) verb = is_watch(r) ? "WATCH" : "LIST";
  std::string out = verb + " " + std::string(parts[at]);
  if (parts.size() > at + 2) out += "/" + std::string(parts[at + 2]);
  return out;
}

boost::json::object request_tally::by_kind() const {
  boost::json::object out;
  for (const auto& [kind, count] : by_kind_) out[kind] = count;
  return out;
}

double requests_in(const boost::json::object& by_kind) {
  double all = 0;
  for (const auto& [kind, count] : by_kind) all += count.to_number<double>();
  return all;
}

}  // namespace bench
