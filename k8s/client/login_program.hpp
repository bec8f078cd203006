#pragma once

#include "reactor/plain/result.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/system/process.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s {

// The `exec` user of a kubeconfig: a program that prints credentials for one API server. Plain
// functions; login_session.hpp runs it.

/// What the user of a kubeconfig says under `exec`.
struct login_program {
  enum class input : std::uint8_t { never, if_available, always };
  std::string api_version;  // "client.authentication.k8s.io/v1"
  std::string command;      // a path, or a name that is looked up in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // over this process's
  input interactive = input::never;
  std::string install_hint;
  reactor::secret cluster;  // provideClusterInfo: JSON of spec.cluster; empty = not wanted
  /// SHA-256 that the file must have, in hexadecimal: the operator allowed this program for a
  /// Secret. It gets none of our environment. Empty: a program of the person's own.
  std::string digest = {};
};

/// A program that kubeconfigs in Secrets may name (--allow-exec).
struct allowed_program {
  std::string path, digest;  // absolute; SHA-256 in hexadecimal
  std::string server;        // the only server that its credentials are for; empty = any
  std::vector<std::string> arguments;
};
/// Reads "PATH@sha256:HEX[,server=URL] [ARGUMENT…]"; arguments are separated by blanks.
/// Errors: errc::malformed, one sentence.
reactor::result<allowed_program> read_allowed_program(std::string_view flag);

/// What the program gave: a token, a certificate with its key, or all of it.
struct issued_login {
  reactor::secret token, certificate, key;
  std::optional<reactor::wall_time> expires;
};

/// "login program "aws"", as sentences begin; its arguments may hold secrets and are never told.
std::string login_name(std::string_view command);

/// The versions of the API between clients and these programs that are spoken here.
bool is_login_api(std::string_view api_version) noexcept;

enum class login_talk : std::uint8_t { alone, with_a_person };
/// The value of KUBERNETES_EXEC_INFO.
reactor::secret login_request(const login_program& p, login_talk talk);
/// What the end of the program means.
/// Errors   errc::refused: it failed, the sentence has its last words; errc::malformed: its answer
///          gives no credentials of that version. Nothing of the answer is quoted.
/// Source   client.authentication.k8s.io, v1 and v1beta1.
reactor::result<issued_login> read_login_answer(const reactor::process_exit& ended,
                                                const login_program& p);

/// When the program runs. No clock of its own.
/// Runs     without credentials, after their end, and when the server refused them.
/// Pauses   after a failure 1 s, doubling to 30 s; one refusal is answered by a run at once, more
///          of them after 1 s, doubling to 60 s.
class login_schedule {
public:
  enum class step : std::uint8_t { use, run, fail };
  /// What the server said to the credentials that there are.
  enum class heard : std::uint8_t { nothing_bad, a_refusal };
  step next(reactor::steady_time now, reactor::wall_time wall, heard of_last) const;
  void issued(reactor::steady_time now, reactor::wall_time wall,
              std::optional<reactor::wall_time> expires, heard of_last);
  void failed(reactor::steady_time now);
  /// The server took the credentials.
  void accepted(reactor::steady_time now);

private:
  bool has_ = false, last_failed_ = false;
  std::optional<reactor::wall_time> expires_;
  int failures_ = 0, refusals_ = 0;
  reactor::steady_time last_run_{}, not_before_{};
};

}  // namespace k8s
