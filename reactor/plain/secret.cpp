#include "reactor/plain/secret.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace reactor {
namespace {

constexpr std::string_view hidden = "***";

bool same_letters(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() &&
         std::equal(a.begin(), a.end(), lower.begin(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == y; });
}

bool is_token_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("-._~+/=").find(c) != std::string_view::npos;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
}

std::size_t token_length(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_token_character) -
                                  text.begin());
}

/// A word of a sentence: letters, small but for the first, with dashes between and a full stop at
/// the end. What a credential is made of (base64, hexadecimal, a web token) has capitals, digits or
/// dots inside, or is longer.
bool is_prose(std::string_view word) {
  constexpr std::size_t longest_word = 15;
  while (word.ends_with('.')) word.remove_suffix(1);
  return !word.empty() && word.size() <= longest_word &&
         std::isalpha(static_cast<unsigned char>(word.front())) &&
         std::ranges::all_of(word.substr(1),
                             [](unsigned char c) { return std::islower(c) || c == '-'; });
}

/// Whether `before` ends in the name of a header that holds credentials, as it stands on the wire.
bool names_header(std::string_view before) {
  constexpr std::string_view header = "authorization";
  while (!before.empty() && std::string_view(" :\"'=").find(before.back()) != before.npos)
    before.remove_suffix(1);
  return before.size() >= header.size() &&
         same_letters(before.substr(before.size() - header.size()), header);
}

/// The length of a scheme such as "Bearer" and the blanks behind it at the start of `text`, when a
/// credential follows; 0 otherwise. A word of prose is one only behind the header's name.
std::size_t scheme_length(std::string_view before, std::string_view text) {
  for (std::string_view scheme : {"bearer", "basic"}) {
    if (text.size() <= scheme.size() || !same_letters(text.substr(0, scheme.size()), scheme))
      continue;
    std::size_t n = scheme.size();
    while (n < text.size() && text[n] == ' ') ++n;
    const std::string_view word = text.substr(n, token_length(text.substr(n)));
    if (n > scheme.size() && word.size() >= 8 && (!is_prose(word) || names_header(before)))
      return n;
  }
  return 0;
}

/// Whether a parameter or member of that name carries a credential by its last word: "token",
/// "private_token", "X-Amz-Signature", "sessionToken".
bool ends_in_credential(std::string_view name) {
  static constexpr std::array<std::string_view, 8> words = {
      "token", "password", "passwd", "secret", "signature", "sig", "api_key", "apikey"};
  for (std::string_view word : words) {
    if (name.size() < word.size()) continue;
    const std::string_view last = name.substr(name.size() - word.size());
    if (!same_letters(last, word)) continue;
    const std::string_view before = name.substr(0, name.size() - word.size());
    if (before.empty() || before.back() == '_' || before.back() == '-' ||
        std::isupper(static_cast<unsigned char>(last.front())))
      return true;
  }
  return false;
}

/// The letters, digits, '_' and '-' that `text` begins with.
std::string_view word_at_start(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_word);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// The length of "name=" at the start of `text` when the name is one that carries a credential.
std::size_t parameter_length(std::string_view text) {
  const std::string_view name = word_at_start(text);
  const bool is_parameter = name.size() < text.size() && text[name.size()] == '=';
  return is_parameter && ends_in_credential(name) ? name.size() + 1 : 0;
}

/// The length of `name": "` at the start of `text`, a member of a JSON document, when the name is
/// one that carries a credential. A document inside another text has its quotes escaped.
std::size_t member_length(std::string_view text) {
  static constexpr std::array<std::string_view, 9> names = {
      "accesstoken",  "refreshtoken", "idtoken",       "identitytoken",  "registrytoken",
      "clientsecret", "auth",         "clientkeydata", "client-key-data"};
  const auto past_blanks = [&](std::size_t at) {
    return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
  };
  const auto past_quote = [&](std::size_t at) -> std::size_t {
    if (at < text.size() && text[at] == '\\') ++at;
    return at < text.size() && text[at] == '"' ? at + 1 : 0;
  };
  const std::string_view name = word_at_start(text);
  const bool is_one =
      std::ranges::any_of(names, [&](std::string_view known) { return same_letters(name, known); });
  const std::size_t named = is_one || ends_in_credential(name) ? past_quote(name.size()) : 0;
  if (named == 0) return 0;
  const std::size_t colon = past_blanks(named);
  return colon < text.size() && text[colon] == ':' ? past_quote(past_blanks(colon + 1)) : 0;
}

/// Where the text ends that begins at `from`, behind its opening quote.
std::size_t end_of_member(std::string_view text, std::size_t from) {
  if (from >= 2 && text[from - 2] == '\\') return std::min(text.find("\\\"", from), text.size());
  while (from < text.size() && text[from] != '"') from += text[from] == '\\' ? 2 : 1;
  return std::min(from, text.size());
}

}  // namespace

bool secret::equal(const std::string& a, const std::string& b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

namespace {

/// Hides what looks like a credential where it stands. What is hidden may bring together what stood
/// apart.
std::string redact_once(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t no_web_token_before = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const bool word_start = i == 0 || !is_word(text[i - 1]);
    if (rest.starts_with("://")) {
      out += "://";
      i += 3;
      const std::size_t end = std::min(text.find_first_of("/?# \t\r\n\"'<>", i), text.size());
      if (const std::size_t at = text.substr(i, end - i).rfind('@'); at != std::string_view::npos) {
        out += hidden;
        i += at;
      }
      continue;
    }
    if (word_start) {
      if (const std::size_t n = scheme_length(text.substr(0, i), rest)) {
        out += rest.substr(0, n);
        out += hidden;
        i += n + token_length(rest.substr(n));
        continue;
      }
      if (const std::size_t n = parameter_length(rest)) {
        out += rest.substr(0, n);
        out += hidden;
        i += n;
        i = std::min(text.find_first_of("& \t\r\n\"'<>;,", i), text.size());
        continue;
      }
      if (const std::size_t n = member_length(rest)) {
        out += rest.substr(0, n);
        out += hidden;
        i = end_of_member(text, i + n);
        continue;
      }
      if (i >= no_web_token_before && rest.starts_with("eyJ")) {
        // base64 of {" begins every JSON web token
        const std::size_t n = token_length(rest);
        if (std::ranges::count(rest.substr(0, n), '.') >= 2) {
          out += hidden;
          i += n;
          continue;
        }
        no_web_token_before = i + n;  // what begins inside has even fewer dots
      }
    }
    out += text[i++];
  }
  return out;
}

}  // namespace

std::string redact(std::string_view text) {
  // Text is redacted on its way more than once: in a fault, in a log line, in an event. So that it
  // reads the same everywhere, it is looked at until there is nothing more to hide; what seems to
  // have no end is hidden as a whole.
  constexpr int most_looks = 8;
  std::string before(text);
  for (int looks = 0; looks < most_looks; ++looks) {
    std::string after = redact_once(before);
    if (after == before) return after;
    before = std::move(after);
  }
  return std::string(hidden);
}

}  // namespace reactor
