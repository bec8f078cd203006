// The signatures of what people take for a chart by mistake; source: the WHATWG's MIME sniffing
// table.
#include "helm/charts/content_type.hpp"

#include <algorithm>

namespace helm {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t looked_at = 512;

struct signature {
  std::string_view bytes;
  std::string_view type;
};
constexpr signature signatures[] = {
    {"%PDF-"sv, "application/pdf"},
    {"%!PS-Adobe-"sv, "application/postscript"},
    {"\xfe\xff"sv, "text/plain; charset=utf-16be"},
    {"\xff\xfe"sv, "text/plain; charset=utf-16le"},
    {"\xef\xbb\xbf"sv, "text/plain; charset=utf-8"},
    {"\0\0\1\0"sv, "image/x-icon"},
    {"BM"sv, "image/bmp"},
    {"GIF87a"sv, "image/gif"},
    {"GIF89a"sv, "image/gif"},
    {"\x89PNG\r\n\x1a\n"sv, "image/png"},
    {"\xff\xd8\xff"sv, "image/jpeg"},
    {"OggS\0"sv, "application/ogg"},
    {"ID3"sv, "audio/mpeg"},
    {"PK\3\4"sv, "application/zip"},
    {"Rar!\x1a\7\0"sv, "application/x-rar-compressed"},
    {"Rar!\x1a\7\1\0"sv, "application/x-rar-compressed"},
    {"\x1f\x8b\x08"sv, "application/x-gzip"},
    {"\0asm"sv, "application/wasm"},
};

constexpr std::string_view html_tags[] = {"<!doctype html",
                                          "<html",
                                          "<head",
                                          "<script",
                                          "<iframe",
                                          "<h1",
                                          "<div",
                                          "<font",
                                          "<table",
                                          "<a",
                                          "<style",
                                          "<title",
                                          "<b",
                                          "<body",
                                          "<br",
                                          "<p",
                                          "<!--"};

char lowered(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

bool is_html(std::string_view text) {
  return std::any_of(std::begin(html_tags), std::end(html_tags), [text](std::string_view tag) {
    if (text.size() < tag.size() || !std::equal(tag.begin(), tag.end(), text.begin(),
                                                [](char t, char c) { return t == lowered(c); }))
      return false;
    // The buffer goes on with zeros where the file ends.
    const char next = text.size() > tag.size() ? text[tag.size()] : '\0';
    return next == ' ' || next == '>';
  });
}

bool is_binary(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u <= 0x08 || u == 0x0b || (u >= 0x0e && u <= 0x1a) || (u >= 0x1c && u <= 0x1f);
}

}  // namespace

std::string_view content_type(std::string_view file) {
  const auto head = file.substr(0, looked_at);
  auto text = head;
  text.remove_prefix(std::min(text.find_first_not_of("\t\n\x0c\r "), text.size()));
  if (is_html(text)) return "text/html; charset=utf-8";
  if (text.starts_with("<?xml")) return "text/xml; charset=utf-8";
  for (const auto& s : signatures)
    if (head.starts_with(s.bytes)) return s.type;
  if (head.size() < looked_at || std::any_of(head.begin(), head.end(), is_binary))
    return "application/octet-stream";
  return "text/plain; charset=utf-8";
}

}  // namespace helm
