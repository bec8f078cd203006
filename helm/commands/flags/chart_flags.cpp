#include "helm/commands/flags/chart_flags.hpp"

#include "helm/commands/flags/command_flags.hpp"

namespace helm {

void add_login_flags(command_flags& f, chart_flags& into) {
  f.text("username", 0, into.username);
  f.text("password", 0, into.password);
  f.text("cert-file", 0, into.certificate_file);
  f.text("key-file", 0, into.key_file);
  f.text("ca-file", 0, into.ca_file);
  f.flag("insecure-skip-tls-verify", 0, into.skip_tls_verify);
  f.flag("plain-http", 0, into.plain_http);
}

void add_place_flags(command_flags& f, chart_flags& into) {
  f.general(true);
  f.text("repository-config", 0, into.repository_config);
  f.text("repository-cache", 0, into.repository_cache);
  f.text("registry-config", 0, into.registry_config);
  f.general(false);
}

void add_chart_flags(command_flags& f, chart_flags& into) {
  add_login_flags(f, into);
  add_place_flags(f, into);
  f.text("version", 0, into.version);
  f.text("repo", 0, into.repo);
  f.text("keyring", 0, into.keyring);
  f.flag("verify", 0, into.verify);
  f.flag("devel", 0, into.devel);
  f.flag("pass-credentials", 0, into.pass_credentials);
}

void refuse_chart_flags(command_flags& f) {
  f.unsupported("dependency-update", "run `windlass helm dependency update` before");
  f.unsupported(
      "enable-dns",
      "getHostByName answers nothing, so that a render depends on chart and values alone");
}

}  // namespace helm
