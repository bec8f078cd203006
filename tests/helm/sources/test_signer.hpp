#pragma once

#include "formats/digest.hpp"
#include "helm/sources/provenance.hpp"
#include "helm/sources/signature.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/system/files.hpp"
#include "reactor/system/private_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace helm::sources {

/// A key that gpg makes for one test, and what it signs.
class test_signer {
public:
  explicit test_signer(const std::string& name) : id_(name + " <" + name + "@example.com>") {
    gpg("--quick-gen-key '" + id_ + "' ed25519 sign never");
    gpg("--export --output '" + path("public") + "'");
    gpg("--export --armor --output '" + path("armored") + "'");
    gpg("--export-secret-keys --output '" + path("secret") + "'");
    (void)std::system(("gpgconf --homedir '" + home_.path() + "' --kill gpg-agent").c_str());
  }
  const std::string& id() const noexcept { return id_; }
  std::string public_key() const { return bytes_of("public"); }
  std::string armored_key() const { return bytes_of("armored"); }
  /// The provenance of an archive.
  std::string sign(const std::string& name, const std::string& version,
                   std::string_view archive) const {
    metadata m;
    m.api_version = "v2";
    m.name = name;
    m.version = version;
    auto text = write_signed_text(m, name + "-" + version + ".tgz", archive);
    EXPECT_TRUE(text);
    auto done = helm::sources::sign(*text, path("secret"), id_, reactor::secret());
    EXPECT_TRUE(done) << (done ? "" : done.error().text);
    return done ? *done : std::string();
  }

private:
  std::string path(const std::string& name) const { return home_.path() + "/" + name; }
  std::string bytes_of(const std::string& name) const {
    auto read = reactor::load_file(path(name), 1u << 20);
    EXPECT_TRUE(read);
    return read ? *read : std::string();
  }
  void gpg(const std::string& words) const {
    const std::string line = "gpg --homedir '" + home_.path() +
                             "' --batch --quiet --pinentry-mode loopback --passphrase '' " + words;
    EXPECT_EQ(std::system(line.c_str()), 0) << line;
  }

  std::string id_;
  reactor::private_folder home_{"test-signer"};
};

}  // namespace helm::sources
