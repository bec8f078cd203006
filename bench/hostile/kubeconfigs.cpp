#include "bench/hostile/kubeconfigs.hpp"

#include "formats/base64.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/certificates.hpp"
#include "reactor/net/tls_context.hpp"
#include "reactor/task_group.hpp"

#include <openssl/asn1.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

namespace bench::hostile {
namespace {

const std::string bait = "c4n4ry-0123456789abcdefghijklmnop";

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

/// A kubeconfig whose cluster, user and context have these fields, each a line.
std::string config(const std::string& cluster, const std::string& user,
                   const std::string& context = {}, const std::string& more = {}) {
  const auto fields = [](const std::string& lines) {
    std::string out;
    for (std::size_t begin = 0; begin < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', begin), lines.size());
      out += "    " + lines.substr(begin, end - begin) + "\n";
      begin = end + 1;
    }
    return out;
  };
  return "apiVersion: v1\nkind: Config\ncurrent-context: main\nclusters:\n- name: c\n  cluster:\n" +
         fields(cluster) + "users:\n- name: u\n  user:\n" + fields(user) +
         "contexts:\n- name: main\n  context:\n    cluster: c\n    user: u\n" + fields(context) +
         more;
}

const std::string server = "server: https://10.0.0.1:6443";
const std::string token = "token: " + bait;

std::string with_server(const std::string& url) {
  return config("server: " + url, token);
}
std::string with_user(const std::string& fields) {
  return config(server, fields);
}

reactor::certified_key pair() {
  using namespace std::chrono_literals;
  static const reactor::certified_key made =
      reactor::make_authority("hostile", reactor::wall_time(0s), reactor::wall_time(4'000'000'000s))
          .value();
  return made;
}

std::string pem_of(const std::function<void(BIO*)>& write) {
  const reactor::bio_ptr out(BIO_new(BIO_s_mem()));
  write(out.get());
  char* text = nullptr;
  const long length = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<std::size_t>(length));
}

/// An encrypted key whose password would be derived two thousand million times.
std::string endless_key() {
  unsigned char iv[16] = {1}, salt[16] = {2}, junk[64] = {3};
  X509_ALGOR* by = PKCS5_pbe2_set_iv(EVP_aes_256_cbc(), 2'000'000'000, salt, sizeof salt, iv, -1);
  X509_SIG* made = X509_SIG_new();
  X509_ALGOR* algorithm = nullptr;
  ASN1_OCTET_STRING* bytes = nullptr;
  X509_SIG_getm(made, &algorithm, &bytes);
  X509_ALGOR_copy(algorithm, by);
  ASN1_OCTET_STRING_set(bytes, junk, sizeof junk);
  const std::string pem = pem_of([&](BIO* out) { PEM_write_bio_PKCS8(out, made); });
  X509_SIG_free(made);
  X509_ALGOR_free(by);
  return pem;
}

std::string mutual(const std::string& certificate, const std::string& key) {
  return with_user("client-certificate-data: " + formats::encode_base64(certificate) +
                   "\nclient-key-data: " + formats::encode_base64(key));
}

std::string utf16(std::string_view text) {
  std::string out = "\xff\xfe";
  for (const char c : text) out += std::string{c, '\0'};
  return out;
}

/// A pipe that nobody writes to.
const std::string& pipe_path() {
  static const struct pipe {
    std::string folder = "/tmp/windlass-hostile-XXXXXX", path;
    pipe() {
      if (::mkdtemp(folder.data()) == nullptr) return;
      path = folder + "/pipe";
      if (::mkfifo(path.c_str(), 0600) != 0) path.clear();
    }
    ~pipe() {
      if (!path.empty()) ::unlink(path.c_str());
      ::rmdir(folder.c_str());
    }
  } made;
  return made.path;
}

void add_yaml(std::vector<kubeconfig>& all) {
  const auto add = [&](std::string name, std::string text, std::string says) {
    all.push_back({std::move(name), std::move(text), std::move(says)});
  };
  const std::string good = with_user(token);
  add("a tag in front of the password", with_user("username: joe\npassword: !" + bait + " x"),
      "a tag that is not supported at line 12");
  add("a long tag in front of the password",
      with_user("password: !<tag:" + bait + repeated("x", 10'000) + "> y"), "a tag that is not");
  add("a password that YAML takes for a tag of its own", with_user("token: !!" + bait + " x"),
      "does not fit its tag at line 11");
  add("a password that should be a number", with_user("token: !!int " + bait), "does not fit");
  add("a password that should be bytes", with_user("token: !!binary '" + bait + "!'"), "base64");
  add("a password as a key, twice", with_user(bait + ": 1\n" + bait + ": 2"),
      "a key that is there twice at line 12");
  add("a token twice", with_user(token + "\n" + token), "a key that is there twice at line 12");
  add("a password as an unknown alias", with_user("token: *" + bait), "unknown alias at line 11");
  add("a password as an anchor", with_user("token: &" + bait + " *x"), "at line 11");
  add("a password as a directive", "%" + bait + " 1\n" + good, "at line");
  add("a password as a handle", with_user("token: !" + bait + "!x y"), "at line 11");
  add("a password in a broken escape", with_user("token: \"" + bait + "\\q\""), "at line 11");
  add("a password in a quote without end", with_user("token: '" + bait), "at line");
  add("a password with a colon", with_user("token: " + bait + ": x"), "at line 11");
  add("a password after a tab", with_user("token:\n\t" + bait), "at line 12");
  add("a password that begins with a percent sign", with_user("token: %" + bait), "at line 11");
  add("a password that begins with an at sign", with_user("token: @" + bait), "at line 11");
  add("a password in a list", with_user("token: [" + bait + "]"), "users[0].user.token, line 11");
  add("a password in a mapping", with_user("token: {" + bait + ": " + bait + "}"),
      "users[0].user.token, line 11");
  add("a password as the whole document", bait, "the document is not a mapping");
  add("a password as the kind", "kind: " + bait + "\nusers: []\n", "its kind is not Config");
  add("a password as the user", with_user(bait), "is not a mapping (users[0].user, line 10)");
  add("a password as a merge key", with_user("<<: " + bait), "'<<' needs a mapping");
  add("a password behind a merge key", with_user("<<: {token: " + bait + "}\nusername: joe"),
      "exclude each other");
  add("an anchor that names itself", with_user("token: &a [*a]"), "unknown alias");
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 8; ++k) bomb += ", " + before;
    bomb += "]\n";
  }
  add("an alias bomb", bomb + good, "more than 100000 values");
  std::string wide = "a: &a {k: [" + repeated("x, ", 300) + "x]}\nb: [";
  add("a hundred thousand aliases of much", wide + repeated("*a, ", 100'000) + "*a]\n" + good,
      "more than 100000 values");
  std::string merges = "a: &a {";
  for (int i = 0; i < 300; ++i) merges += "k" + std::to_string(i) + ": " + bait + ", ";
  add("a thousand merges of much",
      merges + "z: 1}\nb:\n" + repeated("- {<<: [*a, *a, *a]}\n", 1'000) + good,
      "more than 100000 values");
  add("lists ten thousand deep", "a: " + repeated("[", 10'000) + "\n" + good, "nested deeper");
  add("mappings ten thousand deep", "a: " + repeated("{a: ", 10'000) + "\n" + good,
      "nested deeper");
  std::string stairs;
  for (int i = 0; i < 2'000; ++i) stairs += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  add("stairs of two thousand steps", stairs, "nested deeper");
  add("sixteen megabytes", good + "# " + repeated("x", 16 * 1024 * 1024), "larger than");
  add("four megabytes of comment", good + "# " + repeated("x", 4'000'000), "");
  add("four megabytes of token", with_user("token: " + bait + repeated("x", 4'000'000)),
      "token is longer than 16 KiB (users[0].user.token, line 11)");
  add("a hundred thousand documents", repeated("--- a\n", 100'000) + good, "more than 1000");
  add("two documents", good + "---\n" + good, "more than one document");
  add("an empty document", "", "holds no document");
  add("nothing but comments", "# " + bait + "\n# " + bait + "\n", "holds no document");
  add("a zero byte in the token", with_user("token: \"" + bait + std::string(1, '\0') + "\""),
      "control characters are not allowed at byte");
  add("an escaped zero byte in the token", with_user("token: \"" + bait + "\\0\""),
      "token holds control characters (users[0].user.token, line 11)");
  add("UTF-16", utf16(good), "");
  add("half of UTF-16", utf16(good).substr(0, good.size() + 1), "at");
  add("bytes that are no UTF-8", with_user("token: \"" + bait + "\xff\xfe\""), "at byte");
  add("a byte order mark", "\xef\xbb\xbf" + good, "");
  std::string crlf;
  for (const char c : good) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  add("line ends of Windows", crlf, "");
  add("JSON with the token twice",
      R"({"clusters":[{"name":"c","cluster":{"server":"https://h"}}],"users":[{"name":"u","user":)"
      R"({"token":")" +
          bait + R"(","token":")" + bait +
          R"("}}],"contexts":[{"name":"m","context":{"cluster":"c","user":"u"}}]})",
      "a key that is there twice at line 1");
  add("huge numbers", with_user("token: 1" + repeated("0", 5'000)), "");  // both are text
  add("a number without an end", with_user("token: 1e999999999"), "");
}

void add_entries(std::vector<kubeconfig>& all) {
  const auto add = [&](std::string name, std::string text, std::string says) {
    all.push_back({std::move(name), std::move(text), std::move(says)});
  };
  add("a context that is not there", config(server, token, {}, "current-context: x\n"),
      "a key that is there twice");
  add("a current context that nobody has",
      "current-context: x\n" + config(server, token).substr(std::string("apiVersion: v1\n").size()),
      "a key that is there twice");
  add("a current context of another name",
      "current-context: prod\nclusters: []\nusers:\n- name: u\n  user: {token: " + bait +
          "}\ncontexts:\n- name: a\n",
      "there is no context \"prod\"; it has \"a\" (current-context, line 1)");
  add("a context of itself", "contexts:\n- name: a\n  context: {cluster: a, user: a}\n",
      "names a cluster that is not there (contexts[0].context.cluster, line 3)");
  add("a context without a cluster", "contexts:\n- name: a\n  context: {user: u}\nusers: []\n",
      "names a cluster that is not there");
  add("a token in the place of the cluster's name",
      "contexts:\n- name: a\n  context: {cluster: " + bait + "}\n",
      "names a cluster that is not there");
  add("a token in the place of the user's name",
      "clusters:\n- {name: c, cluster: {server: 'https://h'}}\ncontexts:\n- name: a\n  context: "
      "{cluster: c, user: " +
          bait + "}\n",
      "names a user that is not there (contexts[0].context.user, line 5)");
  add("two users of one name",
      config(server, token, {}, "")
          .replace(config(server, token).find("contexts:"), 0,
                   "- name: u\n  user: {token: " + bait + "}\n"),
      "is there twice (users[1], line 12)");
  std::string many = "users:\n";
  for (int i = 0; i < 100'000; ++i) many += "- {name: u" + std::to_string(i) + "}\n";
  add("a hundred thousand users", many + "# " + bait, "more than 100000 values");
  std::string some = "users:\n";
  for (int i = 0; i < 10'000; ++i)
    some += "- {name: u" + std::to_string(i) + ", user: {token: " + bait + "}}\n";
  add("ten thousand users and one that is wanted",
      some + "- {name: u, user: {token: " + bait +
          "}}\nclusters:\n- {name: c, cluster: {server: 'https://h'}}\ncontexts:\n- {name: a, "
          "context: {cluster: c, user: u}}\n",
      "");
  add("a context's name with a title for the terminal",
      "contexts:\n- name: \"\\e]0;x\\a\\u202e\"\n  context: {cluster: c}\n",
      "context \"\\u001b]0;x\\u0007\\u202e\": names a cluster");
  add("an exec plugin",
      with_user("exec: {command: /bin/sh, args: [-c, 'echo " + bait +
                "'], env: [{name: T, value: " + bait + "}]}"),
      "exec: no program is run for a kubeconfig in a Secret; give this user a token or a client "
      "certificate, or allow the program with --allow-exec PATH@sha256:DIGEST (users[0].user.exec, "
      "line 11)");
  add("an auth provider",
      with_user("auth-provider: {name: oidc, config: {refresh-token: " + bait + "}}"),
      "auth-provider was removed from Kubernetes' clients; use exec with kubelogin");
  for (const char* field :
       {"as: root", "as-uid: '0'", "as-groups: [system:masters]", "as-user-extra: {a: [b]}"})
    add("impersonation by " + std::string(field).substr(0, std::string_view(field).find(':')),
        with_user(token + "\n" + field), "is not supported; let the user itself have the rights");
  add("a token and a password", with_user(token + "\nusername: joe\npassword: " + bait),
      "exclude each other (users[0].user.username");
  add("a header in the token", with_user("token: \"" + bait + "\\r\\nX-Evil: 1\""),
      "token holds control characters");
  add("a line feed inside the token", with_user("token: \"" + bait + "\\nx\""),
      "token holds control characters");
  add("a header in the user's name", with_user("username: \"joe\\r\\nX: 1\"\npassword: " + bait),
      "username holds control characters");
  add("a token of 64 KiB", with_user("token: " + bait + repeated("x", 65'536)), "longer than 16");
  add("a password of 64 KiB", with_user("username: joe\npassword: " + bait + repeated("x", 65'536)),
      "longer than 16");
  add("a namespace that climbs", config(server, token, "namespace: ../../" + bait),
      "namespace is not the name of one (contexts[0].context.namespace, line 17)");
}

void add_servers(std::vector<kubeconfig>& all) {
  const auto add = [&](std::string name, const std::string& url) {
    all.push_back({std::move(name), with_server(url),
                   "server is not a URL that begins with https:// or http:// and names a host "
                   "(clusters[0].cluster.server, line 7)"});
  };
  const auto names = [&](std::string name, const std::string& url, const std::string& what) {
    all.push_back(
        {std::move(name), with_server(url),
         "server: the URL has " + what + "; an API server's address is https://host:port"});
  };
  names("a server with a password", "https://joe:" + bait + "@10.0.0.1",
        "a user name or a password in it");
  names("a server with a name", "https://" + bait + "@10.0.0.1", "a user name or a password in it");
  add("a server that is a file", "file:///etc/" + bait);
  add("a server without a scheme", bait + ".example:6443");
  names("a server without a host", "https:///" + bait, "no host");
  add("a server at port 0", "https://h:0/" + bait);
  add("a server at port 99999", "https://h:99999/" + bait);
  add("a server at a negative port", "https://h:-1/" + bait);
  add("a server at a port that is a word", "https://h:" + bait);
  names("a server with a query", "https://h/?token=" + bait, "a query or a fragment");
  names("a server with a fragment", "\"https://h/#" + bait + "\"", "a query or a fragment");
  add("a server with a line feed", "\"https://h/\\nHost: " + bait + "\"");
  add("a server with a zero byte", "\"https://h\\0" + bait + "\"");
  add("a server with a blank", "\"https://h " + bait + "\"");
  add("a server with an address without an end", "\"https://[::1/" + bait + "\"");
  add("a server of a hundred thousand letters", "https://" + repeated("a", 100'000) + bait);
  add("a server of encoded tricks", "https://h%2f" + bait + "%40x");
  all.push_back({"a server that is a list", config("server: [" + bait + "]", token),
                 "server is not text (clusters[0].cluster.server, line 7)"});
  add("a zone of IPv6", "'https://[fe80::1%25eth0]:6443'");
  all.push_back({"a name in TLS with a line feed",
                 config(server + "\ntls-server-name: \"a\\n" + bait + "\"", token),
                 "tls-server-name is neither a name nor an address"});
  all.push_back({"a name in TLS of a thousand letters",
                 config(server + "\ntls-server-name: " + repeated("a", 1'000) + bait, token),
                 "tls-server-name is neither a name nor an address"});
  all.push_back({"a proxy with a password and no host",
                 config(server + "\nproxy-url: 'http://joe:" + bait + "@'", token),
                 "proxy-url is not a URL"});
  all.push_back({"a proxy of another kind",
                 config(server + "\nproxy-url: socks4://joe:" + bait + "@p", token),
                 "proxy-url is not an http://, https:// or socks5:// URL"});
  all.push_back({"a proxy with a line feed",
                 config(server + "\nproxy-url: \"http://joe:" + bait + "\\r\\nX: 1@p\"", token),
                 "proxy-url holds control characters"});
  all.push_back({"a proxy at port 99999",
                 config(server + "\nproxy-url: http://joe:" + bait + "@p:99999", token),
                 "proxy-url is not a URL"});
  all.push_back({"a proxy with a password",
                 config(server + "\nproxy-url: http://joe:" + bait + "@p:3128", token), ""});
}

void add_keys(std::vector<kubeconfig>& all) {
  const auto add = [&](std::string name, std::string text, std::string says) {
    all.push_back({std::move(name), std::move(text), std::move(says)});
  };
  const std::string ca = "certificate-authority-data: ";
  const std::string begin = "-----BEGIN CERTIFICATE-----\n", end = "-----END CERTIFICATE-----\n";
  add("trust that is no base64", config(server + "\n" + ca + "'" + bait + "!'", token),
      "certificate-authority-data is not base64 (clusters[0].cluster.certificate-authority-data, "
      "line 8)");
  add("trust that is not PEM", config(server + "\n" + ca + formats::encode_base64(bait), token),
      "holds no certificate in PEM form");
  add("trust that is PEM around nothing",
      config(server + "\n" + ca + formats::encode_base64(begin + bait + end), token),
      "holds no certificate in PEM form");
  add("trust of two megabytes",
      config(server + "\n" + ca + formats::encode_base64(repeated(bait, 64'000)), token),
      "larger than 512 KiB");
  add("trust of a thousand certificates",
      config(server + "\n" + ca + formats::encode_base64(repeated(pair().certificate_pem, 800)),
             token),
      "certificate-authority-data holds more than 300 certificates");
  add("trust of 300 certificates",
      config(server + "\n" + ca + formats::encode_base64(repeated(pair().certificate_pem, 300)),
             token),
      "");
  add("trust and none",
      config(server + "\ninsecure-skip-tls-verify: true\n" + ca +
                 formats::encode_base64(pair().certificate_pem),
             token),
      "exclude each other");
  add("a certificate without its key",
      with_user("client-certificate-data: " + formats::encode_base64(pair().certificate_pem)),
      "client-certificate is there without client-key");
  add("a key without its certificate",
      with_user("client-key-data: " + formats::encode_base64(pair().key_pem + bait)),
      "client-key is there without client-certificate");
  using namespace std::chrono_literals;
  const reactor::certified_key other =
      reactor::make_authority("other", reactor::wall_time(0s), reactor::wall_time(1'000s)).value();
  add("a key of somebody else", mutual(pair().certificate_pem, other.key_pem),
      "the client key does not belong to the client certificate");
  add("a key that is no PEM", mutual(pair().certificate_pem, bait),
      "the client key holds no readable private key in PEM form");
  add("a certificate in the place of the key",
      mutual(pair().certificate_pem, pair().certificate_pem),
      "the client key holds no readable private key");
  add("an encrypted key that takes hours to try", mutual(pair().certificate_pem, endless_key()),
      "the client key holds no readable private key");
  add("a key of a megabyte", mutual(pair().certificate_pem, repeated(bait, 32'000)),
      "client-key-data is larger than 512 KiB");
  add("a usable certificate", mutual(pair().certificate_pem, pair().key_pem), "");
}

void add_files(std::vector<kubeconfig>& all) {
  const auto add = [&](std::string name, std::string text, std::string says, bool local) {
    all.push_back({std::move(name), std::move(text), std::move(says), local});
  };
  for (const char* file : {"/etc/shadow", "/dev/zero", "/proc/self/mem", "/etc", "../../token"})
    add("a Secret that names " + std::string(file), with_user("tokenFile: " + std::string(file)),
        "tokenFile names a file, which a kubeconfig in a Secret must not", false);
  add("a token that is /etc/shadow", with_user("tokenFile: /etc/shadow"),
      "(users[0].user.tokenFile", true);
  add("a token that is /dev/zero", with_user("tokenFile: /dev/zero"), "is not a regular file",
      true);
  add("a token that is the process's memory", with_user("tokenFile: /proc/self/mem"),
      "cannot be read", true);
  add("a token that is a folder", with_user("tokenFile: /etc"), "is not a regular file", true);
  add("a token that is a pipe", with_user("tokenFile: " + pipe_path()), "is not a regular file",
      true);
  add("a token in the place of its file's name", with_user("tokenFile: " + bait),
      "tokenFile: the file that it names is not there (users[0].user.tokenFile, line 11)", true);
  add("a file's name with a zero byte", with_user("tokenFile: \"/etc/" + bait + "\\0x\""),
      "tokenFile is not a path", true);
  add("trust that is /etc/shadow", config(server + "\ncertificate-authority: /etc/shadow", token),
      "(clusters[0].cluster.certificate-authority, line 8)", true);
  add("trust that is a pipe", config(server + "\ncertificate-authority: " + pipe_path(), token),
      "is not a regular file", true);
}

bool leaks(const std::string& text) {
  for (const std::string& form : {std::string(canary), formats::encode_base64(canary)})
    if (text.find(form) != text.npos) return true;
  return false;
}

struct trial {
  reactor::loop& loop;
  kubeconfig_outcome& out;
};

reactor::awaitable<void> read(trial& t, reactor::secret bytes, k8s::kubeconfig_options options) {
  auto reading = k8s::load_kubeconfig_aside(t.loop, std::move(bytes), std::move(options));
  auto to = co_await std::move(reading);
  if (to) {
    k8s::client api(t.loop, *std::move(to));
    co_await api.stop();
  } else {
    t.out.error = to.error().message();
  }
  t.loop.stop();
}

}  // namespace

const std::vector<kubeconfig>& kubeconfigs() {
  static const std::vector<kubeconfig> all = [] {
    std::vector<kubeconfig> made;
    add_yaml(made);
    add_entries(made);
    add_servers(made);
    add_keys(made);
    add_files(made);
    return made;
  }();
  return all;
}

kubeconfig_outcome try_kubeconfig(const kubeconfig& k) {
  kubeconfig_outcome out;
  reactor::loop loop;
  k8s::kubeconfig_options options;
  options.source = "Secret default/a, key kubeconfig";
  options.folder = "/nonexistent";
  if (k.local) options.origin = k8s::kubeconfig_origin::local;
  trial t{loop, out};
  reactor::task_group tasks(loop);
  tasks.start("read", read(t, reactor::secret(std::string(k.text)), std::move(options)));
  loop.run();
  out.took = loop.take_health().longest_stall;
  out.leaked = leaks(out.error);
  return out;
}

}  // namespace bench::hostile
