#include "reactor/plain/inflate.hpp"

#include "reactor/plain/memory.hpp"
#include "reactor/plain/secret.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace reactor {
namespace {

constexpr int gzip_only = 15 + 16;  // zlib.h, inflateInit2: largest window, gzip header
constexpr std::size_t most_at_once = 1u << 30;

/// The size stands before the memory.
struct alignas(std::max_align_t) block_head {
  std::size_t bytes;
};
voidpf take_memory(voidpf, uInt items, uInt size) {
  const std::size_t bytes = sizeof(block_head) + std::size_t{items} * size;
  void* at = std::calloc(1, bytes);
  return at ? new (at) block_head{bytes} + 1 : nullptr;
}
void give_memory(voidpf, voidpf at) {
  block_head* head = static_cast<block_head*>(at) - 1;
  wipe(head, head->bytes);
  std::free(head);
}

void no_memory() {
  if (memory_may_be_refused::depth() > 0) throw std::bad_alloc();
  memory_lost();
}

}  // namespace

struct inflation::stream {
  z_stream z{};
  bool ended = false;
};

inflation::inflation() : z_(std::make_unique<stream>()) {
  z_->z.zalloc = &take_memory;
  z_->z.zfree = &give_memory;
  if (inflateInit2(&z_->z, gzip_only) != Z_OK) no_memory();
}

inflation::~inflation() {
  inflateEnd(&z_->z);
}

inflation::progress inflation::advance(std::string_view in, char* out, std::size_t room) {
  z_stream& z = z_->z;
  if (z_->ended && inflateReset(&z) != Z_OK) return {.now = state::damaged};
  z_->ended = false;
  const std::size_t given = std::min(in.size(), most_at_once), space = std::min(room, most_at_once);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z.avail_in = static_cast<uInt>(given);
  z.next_out = reinterpret_cast<Bytef*>(out);
  z.avail_out = static_cast<uInt>(space);
  const int status = inflate(&z, Z_NO_FLUSH);
  if (status == Z_MEM_ERROR) no_memory();  // its window is made with the first byte
  z_->ended = status == Z_STREAM_END;
  progress out_of_it{given - z.avail_in, space - z.avail_out, state::running};
  if (z_->ended)
    out_of_it.now = state::ended;
  else if (status != Z_OK && status != Z_BUF_ERROR)
    out_of_it.now = state::damaged;
  return out_of_it;
}

const char* inflation::why() const noexcept {
  return z_->z.msg ? z_->z.msg : "";
}

}  // namespace reactor
