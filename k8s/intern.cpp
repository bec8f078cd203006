#include "k8s/intern.hpp"

#include "k8s/compact_string.hpp"
#include "reactor/per_thread.hpp"

#include <new>
#include <vector>

namespace k8s {

compact_string::compact_string(std::string_view text) {
  if (text.empty()) return;
  const auto length = static_cast<std::uint32_t>(text.size());
  block_ = new char[sizeof length + length];
  std::memcpy(block_, &length, sizeof length);
  std::memcpy(block_ + sizeof length, text.data(), length);
}

std::uint32_t stable_hash(std::string_view text) noexcept {
  std::uint64_t h = 0xcbf29ce484222325;
  while (text.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), 8);
    h = (h ^ word) * 0x9fb21c651e98df25;
    h ^= h >> 32;
    text.remove_prefix(8);
  }
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return static_cast<std::uint32_t>(h ^ (h >> 32));
}

/// Open addressing with linear probing; a removed entry closes its gap, so there are no tombstones.
class intern_table {
public:
  using entry = interned::entry;

  entry* find_or_add(std::string_view text) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow();
    const std::uint32_t hash = stable_hash(text);
    std::size_t at = hash & mask();
    for (; slots_[at]; at = (at + 1) & mask()) {
      entry* e = slots_[at];
      if (e->hash == hash && text_of(e) == text) {
        ++e->references;
        return e;
      }
    }
    void* block = ::operator new(sizeof(entry) + text.size());
    auto* e = new (block) entry{this, 1, static_cast<std::uint32_t>(text.size()), hash};
    std::memcpy(e + 1, text.data(), text.size());
    slots_[at] = e;
    ++used_;
    bytes_ += sizeof(entry) + text.size();
    return e;
  }

  void remove(entry* e) noexcept {
    std::size_t at = e->hash & mask();
    while (slots_[at] != e) at = (at + 1) & mask();
    slots_[at] = nullptr;
    for (std::size_t next = (at + 1) & mask(); slots_[next]; next = (next + 1) & mask()) {
      const std::size_t home = slots_[next]->hash & mask();
      if (((next - home) & mask()) < ((next - at) & mask())) continue;
      slots_[at] = slots_[next];
      slots_[next] = nullptr;
      at = next;
    }
    --used_;
    bytes_ -= sizeof(entry) + e->length;
    ::operator delete(e);
  }

  interned::usage used() const noexcept { return {used_, bytes_ + slots_.size() * sizeof(entry*)}; }
  bool empty() const noexcept { return used_ == 0; }

private:
  static std::string_view text_of(const entry* e) noexcept {
    return {reinterpret_cast<const char*>(e + 1), e->length};
  }
  std::size_t mask() const noexcept { return slots_.size() - 1; }
  void grow() {
    std::vector<entry*> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    for (entry* e : old) {
      if (!e) continue;
      std::size_t at = e->hash & mask();
      while (slots_[at]) at = (at + 1) & mask();
      slots_[at] = e;
    }
  }

  std::vector<entry*> slots_;
  std::size_t used_ = 0, bytes_ = 0;
};

namespace {

/// A constant with static lifetime may outlive the thread's table; the table is left to it then.
struct table_holder {
  intern_table* table = new intern_table;
  ~table_holder() {
    if (table->empty()) delete table;
  }
};

intern_table& this_threads_table() {
  return *reactor::of_this_thread<table_holder>().table;
}

}  // namespace

interned::interned(std::string_view text) {
  if (!text.empty()) entry_ = this_threads_table().find_or_add(text);
}

void interned::drop(entry* e) noexcept {
  e->table->remove(e);
}

interned::usage interned::used() noexcept {
  return this_threads_table().used();
}

}  // namespace k8s
