#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/http/client.hpp"
#include "reactor/plain/time.hpp"

#include <cstdint>
#include <string>

namespace reactor {
class loop;
}

namespace k8s {

/// What a connection proves itself with right now: the bytes it carries, or the newest readable
/// content of its files. A file that is gone, unreadable or half rotated (key and certificate that
/// do not fit) leaves the old content in use.
class credentials {
public:
  credentials(reactor::loop& l, connection to);

  enum class look { when_due, now };
  struct changes {
    bool token = false, tls = false;
  };
  /// Reads the files again: every 10 s at most, or at once. One reader at a time; a second one gets
  /// "no changes". Where a program gives the credentials it runs when there are none, when they have
  /// ended, and when the server refused those of the number `refused`.
  /// Errors: why that program gave none.
  reactor::awaitable<reactor::result<changes>> refresh(look how, std::uint64_t refused = 0);
  /// Counts the program's credentials; those that a request is sent with now.
  std::uint64_t login_number() const noexcept { return login_number_; }
  /// The server took them.
  void accepted();

  /// The Authorization header's value; empty = none.
  reactor::secret authorization() const;
  reactor::http::tls_settings tls() const;
  /// Takes our own credentials out of what a server or proxy said: some repeat what they were sent.
  void hide_in(fault& f) const;
  /// A sentence about a client certificate outside its validity, or empty.
  std::string certificate_problem() const;
  const connection& to() const noexcept { return to_; }

private:
  bool has_files() const;
  reactor::awaitable<changes> read_files(look how);
  reactor::loop& loop_;
  connection to_;
  reactor::steady_time next_look_{};
  bool reading_ = false;
  const bool has_certificate_;      // the kubeconfig's own, which goes before a program's
  std::uint64_t login_number_ = 0;  // of the program's credentials in use
};

}  // namespace k8s
