#include "k8s/client/login_program.hpp"
#include "registry/credential_helper.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

/// What programs print that are asked for a login: those of a kubeconfig's `exec`, and docker's
/// credential helpers with the file that names them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const int status : {0, 1}) {
    reactor::process_exit ended;
    ended.status = status;
    ended.out = text;
    for (const char* version :
         {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
      k8s::login_program p;
      p.api_version = version;
      p.command = "login";
      const auto login = k8s::read_login_answer(ended, p);
      if (login && login->token.empty() && login->certificate.empty()) std::abort();
    }
    const auto login = registry::read_helper_answer(ended, "docker-credential-x", "h:5000");
    if (!login || !*login) continue;
    // A line break in one of them would be a header of its author's.
    for (const std::string_view one :
         {std::string_view((*login)->username), std::string_view((*login)->password.reveal()),
          std::string_view((*login)->identity_token.reveal())})
      for (const char c : one)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) std::abort();
  }
  if (const auto program = registry::find_helper(text, "h:5000", "config.json"))
    if (program->find('/') != program->npos) std::abort();
  static_cast<void>(k8s::read_allowed_program(text));
  return 0;
}
