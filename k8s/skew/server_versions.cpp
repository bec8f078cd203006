#include "k8s/skew/server_versions.hpp"

#include "formats/json/member.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/list_pages.hpp"
#include "k8s/skew/skew_policy.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace k8s::skew {
namespace {

/// What is longer is no version.
constexpr std::size_t most_text_bytes = 256;
constexpr std::uint64_t most_pods_bytes = 1u << 20;
/// kubeadm writes it into the manifest. RKE2 has static pods with the same labels, which follow the
/// program in the node's image.
constexpr std::string_view of_kubeadm =
    "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint";
constexpr std::string_view of_static_pod = "kubernetes.io/config.mirror";

/// The tag of an image; empty without one.
std::string_view tag_of(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const std::size_t colon = image.rfind(':'), slash = image.rfind('/');
  const bool is_port = slash != image.npos && colon != image.npos && colon < slash;
  return colon == image.npos || is_port ? std::string_view() : image.substr(colon + 1);
}

/// Adds what the pod says of the API server in it.
void read_pod(const boost::json::object& pod, server_versions::by_node& to) {
  const std::string node = formats::text_member(pod, "spec", "nodeName");
  const boost::json::value* spec = pod.if_contains("spec");
  const boost::json::value* all =
      spec && spec->is_object() ? spec->get_object().if_contains("containers") : nullptr;
  const boost::json::value* metadata = pod.if_contains("metadata");
  if (node.empty() || !all || !all->is_array() || !metadata || !metadata->is_object()) return;
  for (const std::string_view annotation : {of_kubeadm, of_static_pod})
    if (formats::text_member(metadata->get_object(), "annotations", annotation).empty()) return;
  for (const boost::json::value& one : all->get_array()) {
    if (!one.is_object() || formats::text_member(one.get_object(), "name") != "kube-apiserver")
      continue;
    const std::string image = formats::text_member(one.get_object(), "image");
    const std::string_view tag = tag_of(image);
    if (parse_version(tag)) to[node] = tag;
  }
}

}  // namespace

reactor::awaitable<void> server_versions::look(bool has_control_plane) {
  if (loop_.now() < not_before_) co_return;
  not_before_ = loop_.now() + pause;
  if (has_control_plane) co_await look_at_pods();
  const auto answered = co_await of_.recent_version();
  if (!answered || answered->git_version.empty() || answered->git_version.size() > most_text_bytes)
    co_return;
  said_[answered->git_version] = loop_.now();
  std::erase_if(said_, [&](const auto& one) { return loop_.now() - one.second > life; });
  if (said_.size() > most)
    said_.erase(std::ranges::min_element(said_, {}, [](const auto& one) { return one.second; }));
}

reactor::awaitable<void> server_versions::look_at_pods() {
  resource pods = resources::pods();
  list_options how;
  how.ns = "kube-system";
  how.label_selector = "component=kube-apiserver,tier=control-plane";
  how.limit = most;
  how.most_bytes = most_pods_bytes;
  const auto page = co_await api_.list(std::move(pods), std::move(how));
  if (!page) co_return;
  by_node now;
  const boost::json::array* items = items_of(*page);
  for (std::size_t i = 0; items && i < items->size() && i < most; ++i)
    if (const boost::json::object* pod = (*items)[i].if_object()) read_pod(*pod, now);
  on_nodes_ = std::move(now);
  pods_seen_ = loop_.now();
}

server_versions::by_node server_versions::on_nodes() const {
  return loop_.now() - pods_seen_ <= life ? on_nodes_ : by_node();
}

std::vector<std::string> server_versions::seen() const {
  std::vector<std::string> out;
  for (const auto& [version, at] : said_)
    if (loop_.now() - at <= life) out.push_back(version);
  return out;
}

}  // namespace k8s::skew
