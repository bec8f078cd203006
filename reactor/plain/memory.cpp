#include "reactor/plain/memory.hpp"

#include "reactor/plain/key_memory.hpp"
#include "reactor/plain/secret.hpp"

#include <malloc.h>
#include <openssl/crypto.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace reactor {
namespace {

void refuse_or_end() {
  if (memory_may_be_refused::depth() > 0) throw std::bad_alloc();
  memory_lost();
}

void* or_end(void* block, std::size_t size) {
  if (block == nullptr && size > 0) memory_lost();
  return block;
}

/// What a TLS record was decrypted in: 16 KiB and a few bytes, given back whenever a stream is
/// idle. SSL_OP_CLEANSE_PLAINTEXT does the same eight bytes at a time, which a busy stream notices.
constexpr std::size_t record_bytes = 16 * 1024;

void free_of_openssl(void* block) {
  if (block != nullptr) {
    const std::size_t n = ::malloc_usable_size(block);
    if (n >= record_bytes || key_memory_is_wiped::depth() > 0) wipe(block, n);
  }
  std::free(block);
}

void* resized_for_openssl(void* block, std::size_t n) {
  if (block == nullptr || key_memory_is_wiped::depth() == 0)
    return or_end(std::realloc(block, n), n);
  void* moved = or_end(std::malloc(n), n);
  std::memcpy(moved, block, std::min(n, ::malloc_usable_size(block)));
  free_of_openssl(block);
  return moved;
}

}  // namespace

int& key_memory_is_wiped::depth() noexcept {
  static thread_local int depth = 0;
  return depth;
}

int& memory_may_be_refused::depth() noexcept {
  static thread_local int depth = 0;
  return depth;
}

void memory_lost() noexcept {
  static constexpr char sentence[] =
      "windlass: out of memory: this process ends; started again it goes on where it was\n";
  (void)!::write(STDERR_FILENO, sentence, sizeof sentence - 1);
  ::_exit(1);
}

void end_when_memory_is_lost() noexcept {
  std::set_new_handler(&refuse_or_end);
  // OpenSSL checks what it is given, but what it makes of a missing piece ("the certificate cannot
  // be read") is not what happened, and would be remembered.
  CRYPTO_set_mem_functions(
      [](std::size_t n, const char*, int) { return n == 0 ? nullptr : or_end(std::malloc(n), n); },
      [](void* block, std::size_t n, const char*, int) -> void* {
        if (n > 0) return resized_for_openssl(block, n);
        free_of_openssl(block);
        return nullptr;
      },
      [](void* block, const char*, int) { free_of_openssl(block); });
}

}  // namespace reactor
