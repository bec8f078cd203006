#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/http/server.hpp"
#include "reactor/plain/result.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace reactor {
class loop;
}

namespace simulation {

/// A registry with one repository, the images of the simulation in it, and one tag that can be
/// moved between them. Manifests alone, without TLS: no image is fetched here. Lifetime: the
/// loop outlives it; co_await stop() before destruction.
class tag_registry {
public:
  /// What is wrong with it. lying: it sends other bytes than it says.
  enum class behaviour { well, failing, throttling, lying };

  explicit tag_registry(reactor::loop& l);

  reactor::result<void> start();
  reactor::awaitable<void> stop();

  /// "127.0.0.1:41234/os/node:stable"
  std::string ref() const;
  /// Its name on a simulated network.
  static constexpr std::string_view host = "registry.demo.local";
  /// The tag names this image from now on: one of old_image, middle_image and new_image.
  void move(std::string_view image) { named_ = image; }
  /// To the image that the demo rolls out.
  void move_on();
  void be(behaviour m) noexcept { behaviour_ = m; }
  /// Only requests with this password are answered from now on; empty: all are.
  void lock(std::string password) { password_ = std::move(password); }
  /// A `.dockerconfigjson` with that password for this registry.
  std::string docker_config(const std::string& password) const;
  /// Questions that it heard.
  std::size_t requests() const noexcept { return requests_; }

private:
  reactor::http::response answer(const reactor::http::request& r);

  std::unique_ptr<reactor::http::server> server_;
  std::string_view named_;
  behaviour behaviour_ = behaviour::well;
  std::string password_;
  std::size_t requests_ = 0;
};

}  // namespace simulation
