#include "registry/retag.hpp"

namespace registry {
namespace {

/// What a tag names; "" where there is none.
awaitable<answer<std::string>> digest_at(client& c, oci_reference of,
                                         needed_rights rights) {  // borrowed
  of.digest.clear();
  auto found = co_await c.current_digest(std::move(of), std::string(), rights);
  if (!found && found.error().code == errc::not_found) co_return std::string();
  co_return found;
}

fault taken(const oci_reference& to, const std::string& by) {
  return failed(errc::refused, to.text() + " is " + by + " already; names stay where they are");
}

/// Brings what a manifest consists of into another repository.
awaitable<answer<void>> carry_parts(client& c, oci_manifest content, std::string from_repository,
                                    oci_reference to) {  // borrowed
  std::vector<descriptor> parts = content.layers;
  if (content.config) parts.push_back(*content.config);
  for (const descriptor& part : parts) {
    descriptor one = part;
    auto done = co_await c.carry_blob(to, from_repository, std::move(one));
    if (!done) co_return done.error();
  }
  co_return answer<void>();
}

}  // namespace

awaitable<answer<retagged>> can_retag(client& c, oci_reference from,
                                      oci_reference to) {  // borrowed
  auto now = co_await digest_at(c, from, needed_rights::pull);
  if (!now) co_return now.error();
  const std::string wanted = from.digest;
  from.digest.clear();
  if (now->empty()) co_return failed(errc::not_found, from.text() + ": not found");
  if (*now != wanted)
    co_return failed(errc::altered, from.text() + " is " + *now + " by now, and was " + wanted);
  co_return co_await can_name(c, std::move(to), wanted);
}

awaitable<answer<retagged>> retag(client& c, oci_reference from, oci_reference to) {  // borrowed
  auto before = co_await can_retag(c, from, to);
  if (!before || *before == retagged::there_already) co_return before;
  const std::string repository = from.repository;
  auto whole = co_await c.manifest(from);
  if (!whole) co_return whole.error();
  for (const descriptor& one : whole->content.manifests) {
    oci_reference part = from, part_to = to;
    part.digest = part_to.digest = one.digest;
    auto read = co_await c.manifest(std::move(part));
    if (!read) co_return read.error();
    if (!read->content.manifests.empty())
      co_return failed(errc::malformed, from.text() + ": an index of indexes");
    auto carried = co_await carry_parts(c, read->content, repository, to);
    if (!carried) co_return carried.error();
    auto stored =
        co_await c.put_manifest(std::move(part_to), read->bytes, read->content.media_type);
    if (!stored) co_return stored.error();
  }
  auto carried = co_await carry_parts(c, whole->content, repository, to);
  if (!carried) co_return carried.error();
  auto stored = co_await c.put_manifest(to, whole->bytes, whole->content.media_type);
  if (!stored) co_return stored.error();
  co_return retagged::made;
}

/// The image that stands for a part of an index.
static answer<descriptor> image_of(const stored_manifest& part, const index_part& of) {
  if (part.content.manifests.empty()) return part.itself;
  std::vector<descriptor> images;
  for (const descriptor& one : part.content.manifests)
    if (!one.attests && (one.architecture.empty() || one.architecture == of.architecture))
      images.push_back(one);
  const std::string name = of.at.text() + " (" + of.at.digest + ")";
  if (images.size() != 1)
    return failed(errc::refused, name + " is an index with " + std::to_string(images.size()) +
                                     " images for " + of.architecture + ", and one is wanted");
  if (media_type::is_index(images.front().media_type))
    return failed(errc::refused, name + " is an index of indexes, which no client pulls");
  return images.front();
}

awaitable<answer<std::string>> index_of(client& c, std::vector<index_part> parts) {  // borrowed
  std::vector<indexed_image> images;
  for (index_part& part : parts) {
    oci_reference at = part.at;
    auto read = co_await c.manifest(std::move(at));
    if (!read) co_return read.error();
    auto image = image_of(*read, part);
    if (!image) co_return image.error();
    images.push_back({std::move(*image), std::move(part.architecture)});
  }
  co_return write_index(images);
}

awaitable<answer<retagged>> can_name(client& c, oci_reference to,
                                     std::string digest) {  // borrowed
  auto there = co_await digest_at(c, to, needed_rights::push);
  if (!there) co_return there.error();
  if (there->empty()) co_return retagged::made;
  if (*there != digest) co_return taken(to, *there);
  co_return retagged::there_already;
}

}  // namespace registry
