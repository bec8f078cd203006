// The program's own malloc and operator new. One file, because the compiler must see that they
// belong together.
#include "tests/fail_points/allocations.hpp"

#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#ifdef FAIL_POINTS_WRAP
extern "C" {
void* __real_malloc(std::size_t n);
void* __real_calloc(std::size_t count, std::size_t n);
void* __real_realloc(void* block, std::size_t n);
int __real_posix_memalign(void** to, std::size_t alignment, std::size_t n);
}
namespace {
void* raw_malloc(std::size_t n) {
  return __real_malloc(n);
}
}  // namespace
#else
extern "C" {
void* __libc_malloc(std::size_t n);
void* __libc_calloc(std::size_t count, std::size_t n);
void* __libc_realloc(void* block, std::size_t n);
void* __libc_memalign(std::size_t alignment, std::size_t n);
}
namespace {
void* raw_malloc(std::size_t n) {
  return __libc_malloc(n);
}
}  // namespace
#endif

namespace fail_points {
namespace {

constexpr int depth = 8;       // frames that tell places apart
constexpr int own_frames = 3;  // of this file, on top
constexpr std::size_t table = 1 << 17;

struct place {
  std::uint64_t hash = 0;
  std::uint32_t hits = 0, number = 0;
  bool ours = false;
};

/// Code of the peers and of the test, which may fail as it likes.
struct range {
  std::uintptr_t begin, end;
};

struct state {
  bool armed = false, inside = false, child = false, all_fail = false;
  allocation_plan plan;
  std::array<place, table> places;
  std::uint32_t known = 0;
  std::size_t seen = 0;
  tally result;
  std::vector<range> others;
  int report_to = -1;
};
state& here() {
  // Among the program's own variables, where the leak sanitizer looks; never destroyed.
  alignas(state) static unsigned char room[sizeof(state)];
  static state* const s = new (room) state;
  return *s;
}
thread_local bool this_thread = false;

std::vector<range> ranges_of(std::initializer_list<std::string_view> parts) {
  std::vector<range> found;
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
        return 1;
      },
      &base);
  const int fd = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat info{};
  if (fd < 0 || ::fstat(fd, &info) != 0) return found;
  const auto size = static_cast<std::size_t>(info.st_size);
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  const char* file = static_cast<const char*>(mapped);
  const auto& head = *reinterpret_cast<const Elf64_Ehdr*>(file);
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(file + head.e_shoff);
  for (int i = 0; i < head.e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(file + sections[i].sh_offset);
    const char* names = file + sections[sections[i].sh_link].sh_offset;
    for (std::size_t s = 0; s < sections[i].sh_size / sizeof(Elf64_Sym); ++s) {
      if (ELF64_ST_TYPE(symbols[s].st_info) != STT_FUNC || symbols[s].st_size == 0) continue;
      const std::string_view name(names + symbols[s].st_name);
      // A type of a namespace among the arguments of a template of ours says nothing; the
      // function's own name does.
      for (std::string_view part : parts)
        if (name.substr(0, 60).find(part) != std::string_view::npos)
          found.push_back(
              {base + symbols[s].st_value, base + symbols[s].st_value + symbols[s].st_size});
    }
  }
  ::munmap(mapped, size);
  std::sort(found.begin(), found.end(),
            [](const range& a, const range& b) { return a.begin < b.begin; });
  return found;
}

bool among(const std::vector<range>& ranges, void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address) - 1;
  auto after = std::upper_bound(ranges.begin(), ranges.end(), at,
                                [](std::uintptr_t a, const range& r) { return a < r.begin; });
  return after != ranges.begin() && at < std::prev(after)->end;
}

/// In the parent: how the child ended.
void wait_for(pid_t child, int from, finding& f) {
  state& s = here();
  std::string written;
  bool timed_out = false;
  for (;;) {
    pollfd p{from, POLLIN, 0};
    const int ready = ::poll(&p, 1, static_cast<int>(s.plan.patience_seconds) * 1000);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      timed_out = true;
      ::kill(child, SIGKILL);
      break;
    }
    char bytes[4096];
    const ssize_t n = ::read(from, bytes, sizeof bytes);
    if (n <= 0) break;
    if (written.size() < 64 * 1024) written.append(bytes, static_cast<std::size_t>(n));
  }
  ::close(from);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  f.was = judge(status, timed_out, written, "windlass: ");
  s.result.count(f);
}

/// True when this allocation must fail, in the child that was made for that.
bool decide() {
  state& s = here();
  s.inside = true;
  ++s.seen;
  void* frames[depth + own_frames];
  const int n = ::backtrace(frames, depth + own_frames);
  const int first = std::min(own_frames, n);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (int i = first; i < n; ++i)
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(frames[i])) * 0x9e3779b97f4a7c15;
  if (hash == 0) hash = 1;
  std::size_t slot = hash % table;
  while (s.places[slot].hash != 0 && s.places[slot].hash != hash) slot = (slot + 1) % table;
  place& p = s.places[slot];
  if (p.hash == 0) {
    p.hash = hash;
    p.ours = true;
    for (int i = first; i < n; ++i)
      if (among(s.others, frames[i])) p.ours = false;
    if (p.ours) p.number = s.known++;
  }
  ++p.hits;
  // At its first hit once, at the second with everything after it too, and once more late.
  const bool chosen = p.ours && p.number % s.plan.shards == s.plan.shard &&
                      (p.hits == 1 || p.hits == 2 || p.hits == 30) &&
                      s.result.points < s.plan.most_points;
  bool fails = false;
  if (chosen) {
    finding f;
    f.point = "allocation " + std::to_string(s.seen) + ", hit " + std::to_string(p.hits);
    f.stack.assign(frames + first, frames + n);
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      ::dup2(ends[1], STDERR_FILENO);
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[1]);
      s.armed = p.hits == 2;
      s.all_fail = p.hits == 2;
      s.child = true;
      fails = true;
    } else {
      ::close(ends[1]);
      wait_for(child, ends[0], f);
    }
  }
  s.inside = false;
  return fails;
}

bool fails() {
  if (!this_thread) return false;
  state& s = here();
  if (!s.armed || s.inside) return false;
  if (s.all_fail) return true;
  return decide();
}

}  // namespace

void arm_allocations(const allocation_plan& plan) {
  state& s = here();
  s.plan = plan;
  s.others = ranges_of({"3k8s3sim", "3cli4demo", "11fail_points"});
  void* warm[4];
  (void)::backtrace(warm, 4);  // loads what it needs at its first call
  s.result = {};
  s.known = 0;
  s.seen = 0;
  s.places.fill({});
  this_thread = true;
  s.armed = true;
}

void disarm_allocations() {
  here().armed = false;
  this_thread = false;
}

tally& allocation_tally() {
  return here().result;
}
std::size_t allocation_places() {
  return here().known;
}
std::size_t allocations_seen() {
  return here().seen;
}
bool in_failing_child() {
  return here().child;
}

void end_child(const std::string& wrong, const std::string& refused) {
  here().armed = false;
  const std::string said =
      wrong.empty() && !refused.empty() ? "windlass: " + refused + "\n" : wrong;
  (void)!::write(STDERR_FILENO, said.data(), said.size());
  ::_exit(!wrong.empty() ? 3 : !refused.empty() ? 1 : 0);
}

}  // namespace fail_points

// What everybody calls.

namespace {

void* allocate_or_throw(std::size_t n) {
  for (;;) {
    if (!fail_points::fails())
      if (void* block = raw_malloc(n == 0 ? 1 : n)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

void* operator new(std::size_t n) {
  return allocate_or_throw(n);
}
void* operator new[](std::size_t n) {
  return allocate_or_throw(n);
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  try {
    return allocate_or_throw(n);
  } catch (...) {
    return nullptr;
  }
}
void* operator new[](std::size_t n, const std::nothrow_t& t) noexcept {
  return operator new(n, t);
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete[](void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  std::free(block);
}
void operator delete[](void* block, const std::nothrow_t&) noexcept {
  std::free(block);
}

extern "C" {
#ifdef FAIL_POINTS_WRAP
#define FAIL_POINTS_NAME(name) __wrap_##name
#define FAIL_POINTS_REAL(name) __real_##name
#else
#define FAIL_POINTS_NAME(name) name
#define FAIL_POINTS_REAL(name) __libc_##name
#endif

void* FAIL_POINTS_NAME(malloc)(std::size_t n) {
  if (fail_points::fails()) {
    errno = ENOMEM;
    return nullptr;
  }
  return FAIL_POINTS_REAL(malloc)(n);
}
void* FAIL_POINTS_NAME(calloc)(std::size_t count, std::size_t n) {
  if (fail_points::fails()) {
    errno = ENOMEM;
    return nullptr;
  }
  return FAIL_POINTS_REAL(calloc)(count, n);
}
void* FAIL_POINTS_NAME(realloc)(void* block, std::size_t n) {
  if (n > 0 && fail_points::fails()) {
    errno = ENOMEM;
    return nullptr;
  }
  return FAIL_POINTS_REAL(realloc)(block, n);
}
int FAIL_POINTS_NAME(posix_memalign)(void** to, std::size_t alignment, std::size_t n) {
  if (fail_points::fails()) return ENOMEM;
#ifdef FAIL_POINTS_WRAP
  return __real_posix_memalign(to, alignment, n);
#else
  *to = __libc_memalign(alignment, n);
  return *to ? 0 : ENOMEM;
#endif
}
}
