// A call of OpenSSL whose result nobody looks at is how a name came to be unchecked: here is every
// such call that is allowed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

/// Those that return nothing, or the value of before.
const std::set<std::string> without_result = {
    // too late only after OpenSSL was used; then its own allocator does
    "BIO_clear_retry_flags",
    "BIO_set_data",
    "BIO_set_init",
    "BIO_set_retry_read",
    "CRYPTO_set_mem_functions",
    "ERR_clear_error",
    "GENERAL_NAME_set0_value",
    "OPENSSL_cleanse",
    "SSL_CTX_sess_set_new_cb",
    "SSL_CTX_set_alpn_select_cb",
    "SSL_CTX_set_cert_verify_callback",
    "SSL_CTX_set_max_cert_list",
    "SSL_CTX_set_mode",
    "SSL_CTX_set_options",
    "SSL_CTX_set_session_cache_mode",
    "SSL_set_accept_state",
    "SSL_set_bio",
    "SSL_set_connect_state",
    "SSL_set_verify",
    "X509V3_set_ctx",
    "X509_STORE_CTX_set_error",
    "X509_VERIFY_PARAM_set_depth",
    "X509_VERIFY_PARAM_set_hostflags",
    "X509_VERIFY_PARAM_set_time",
};

/// "file:line: function" for every statement that is only such a call.
std::vector<std::string> unlooked_at(const fs::path& file, const std::string& shown) {
  static const std::regex call(
      R"(^\s*((?:SSL|X509|X509V3|EVP|BIO|PEM|RAND|ASN1|BN|RSA|EC|HMAC|ERR|GENERAL|sk|CRYPTO|OPENSSL)_\w+)\(.*)");
  std::vector<std::string> found;
  std::ifstream in(file);
  std::string line;
  char before = ';';
  for (int number = 1; std::getline(in, line); ++number) {
    std::smatch m;
    const bool begins = before == ';' || before == '{' || before == '}' || before == ':';
    if (begins && std::regex_match(line, m, call)) {
      const std::string name = m[1];
      if (!name.ends_with("_free") && !without_result.contains(name))
        found.push_back(shown + ":" + std::to_string(number) + ": " + name);
    }
    const std::string code = line.substr(0, line.find("//"));
    if (const auto last = code.find_last_not_of(" \t"); last != code.npos) before = code[last];
  }
  return found;
}

TEST(OpenSslResults, AreAllLookedAt) {
  const fs::path root = WINDLASS_SOURCE_DIR;
  std::size_t files = 0;
  for (const char* folder : {"reactor", "formats", "registry", "k8s", "policies", "bootc", "app",
                             "service", "helm", "cli"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".cpp" && ending != ".hpp") continue;
      ++files;
      for (const std::string& one :
           unlooked_at(entry.path(), fs::relative(entry.path(), root).string()))
        ADD_FAILURE() << one;
    }
  }
  EXPECT_GT(files, 100u);
}

}  // namespace
