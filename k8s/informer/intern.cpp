#include "k8s/informer/intern.hpp"

#include "k8s/informer/compact_string.hpp"
#include "reactor/per_thread.hpp"
#include "reactor/plain/memory.hpp"

#include <algorithm>
#include <array>
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

/// Open addressing with linear probing; a removed entry closes its gap, so there are no tombstones.
/// In many small tables, each growing on its own, so that growing never takes long however many
/// strings there are.
class intern_table {
public:
  using entry = interned::entry;

  entry* find_or_add(std::string_view text) {
    const std::uint32_t hash = intern_hash(text);
    shard& in = shards_[hash >> shard_shift];
    if ((in.used + 1) * 4 > in.slots.size() * 3) grow(in);
    std::size_t at = hash & in.mask();
    for (; in.slots[at]; at = (at + 1) & in.mask()) {
      entry* e = in.slots[at];
      if (e->hash == hash && text_of(e) == text) {
        ++e->references;
        return e;
      }
    }
    void* block = ::operator new(sizeof(entry) + text.size());
    auto* e = new (block) entry{this, 1, static_cast<std::uint32_t>(text.size()), hash};
    std::memcpy(e + 1, text.data(), text.size());
    in.slots[at] = e;
    ++in.used;
    ++used_;
    bytes_ += sizeof(entry) + text.size();
    return e;
  }

  void remove(entry* e) noexcept {
    shard& in = shards_[e->hash >> shard_shift];
    std::size_t at = e->hash & in.mask();
    while (in.slots[at] != e) at = (at + 1) & in.mask();
    in.slots[at] = nullptr;
    for (std::size_t next = (at + 1) & in.mask(); in.slots[next]; next = (next + 1) & in.mask()) {
      const std::size_t home = in.slots[next]->hash & in.mask();
      if (((next - home) & in.mask()) < ((next - at) & in.mask())) continue;
      in.slots[at] = in.slots[next];
      in.slots[next] = nullptr;
      at = next;
    }
    --in.used;
    --used_;
    bytes_ -= sizeof(entry) + e->length;
    ::operator delete(e);
    if (in.slots.size() > first_slots && in.used * 8 < in.slots.size()) shrink(in);
  }

  void hash_again() {
    std::vector<entry*> all;
    for (shard& s : shards_) {
      for (entry* e : s.slots)
        if (e) all.push_back(e);
      s = shard();
    }
    slot_bytes_ = 0;
    for (entry* e : all) {
      e->hash = intern_hash(text_of(e));
      shard& in = shards_[e->hash >> shard_shift];
      if ((in.used + 1) * 4 > in.slots.size() * 3) grow(in);
      place(in, e);
      ++in.used;
    }
  }

  interned::usage used() const noexcept { return {used_, bytes_ + slot_bytes_}; }
  bool empty() const noexcept { return used_ == 0; }

private:
  static constexpr unsigned shard_shift = 24;
  static constexpr std::size_t shard_count = 256, first_slots = 16;
  struct shard {
    std::vector<entry*> slots;
    std::size_t used = 0;
    std::size_t mask() const noexcept { return slots.size() - 1; }
  };

  static std::string_view text_of(const entry* e) noexcept {
    return {reinterpret_cast<const char*>(e + 1), e->length};
  }
  static void place(shard& in, entry* e) noexcept {
    std::size_t at = e->hash & in.mask();
    while (in.slots[at]) at = (at + 1) & in.mask();
    in.slots[at] = e;
  }
  void grow(shard& in) { resize(in, in.slots.empty() ? first_slots : in.slots.size() * 2); }
  /// What one cluster made it grow to goes back when that cluster is gone; without memory it stays
  /// as it is.
  void shrink(shard& in) noexcept {
    (void)reactor::memory_allows([&] { resize(in, in.slots.size() / 4); });
  }
  void resize(shard& in, std::size_t slots) {
    std::vector<entry*> old(std::max(slots, first_slots));
    old.swap(in.slots);
    slot_bytes_ += in.slots.size() * sizeof(entry*);
    slot_bytes_ -= old.size() * sizeof(entry*);
    for (entry* e : old)
      if (e) place(in, e);
  }

  std::array<shard, shard_count> shards_;
  std::size_t used_ = 0, bytes_ = 0, slot_bytes_ = 0;
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

void interned::hash_again() {
  this_threads_table().hash_again();
}

}  // namespace k8s
