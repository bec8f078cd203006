#include "reactor/system/confine.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>

namespace reactor {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;
#endif

// Sanitizers map terabytes, and look at themselves at the end.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

constexpr std::uint32_t arguments_at = offsetof(seccomp_data, args);

/// Calls that need nothing but what the process has.
constexpr auto allowed = std::to_array<std::uint32_t>({
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_close,
    SYS_fstat,
    SYS_lseek,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_getrandom,
    SYS_getpid,
    SYS_gettid,
    SYS_getrusage,
    SYS_exit,
    SYS_exit_group,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_rseq,
    SYS_set_robust_list,
    SYS_restart_syscall,
    SYS_membarrier,
    SYS_set_tid_address,
    SYS_tgkill,
});

constexpr sock_filter statement(std::uint16_t code, std::uint32_t k) {
  return {code, 0, 0, k};
}
constexpr sock_filter jump(std::uint16_t code, std::uint32_t k, std::uint8_t yes, std::uint8_t no) {
  return {code, yes, no, k};
}

constexpr std::uint32_t refused_with(int number) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number);
}

/// The filter, front to back. An argument is looked at by its lower half.
class program {
public:
  void add(sock_filter f) { all_[size_++] = f; }
  /// Gives `answer` where the call is `number`.
  void on(std::uint32_t number, std::uint32_t answer) {
    add(jump(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    add(statement(BPF_RET | BPF_K, answer));
  }
  /// Allows the call where (argument & mask) is `wanted`, and refuses it else.
  void on_bits(std::uint32_t number, std::uint32_t argument, std::uint32_t mask,
               std::uint32_t wanted) {
    add(jump(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 5));
    add(statement(BPF_LD | BPF_W | BPF_ABS, arguments_at + 8 * argument));
    add(statement(BPF_ALU | BPF_AND | BPF_K, mask));
    add(jump(BPF_JMP | BPF_JEQ | BPF_K, wanted, 0, 1));
    add(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    add(statement(BPF_RET | BPF_K, refused_with(EPERM)));
  }
  sock_fprog whole() { return {static_cast<unsigned short>(size_), all_.data()}; }

private:
  std::array<sock_filter, 160> all_{};
  std::size_t size_ = 0;
};

bool close_the_kernel() noexcept {
  program p;
  p.add(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
  p.add(jump(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0));
  p.add(statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  p.add(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (const std::uint32_t number : allowed) p.on(number, SECCOMP_RET_ALLOW);
  // Memory, but none that is run; threads for deep recursion, but no processes.
  p.on_bits(SYS_mmap, 2, PROT_EXEC, 0);
  p.on_bits(SYS_mprotect, 2, PROT_EXEC, 0);
  p.on_bits(SYS_clone, 0, CLONE_THREAD, CLONE_THREAD);
  p.on(SYS_clone3, refused_with(ENOSYS));  // its flags are out of sight; libc takes clone then
  // UBSan tries an address by writing from it into a pipe; refused one, it reports a fault.
  if (is_sanitized) {
#if defined(SYS_pipe)
    p.on(SYS_pipe, SECCOMP_RET_ALLOW);
#endif
    p.on(SYS_pipe2, SECCOMP_RET_ALLOW);
  }
  // No file is there. Libraries that look for one go on without.
  p.on(SYS_openat, refused_with(ENOENT));
  p.add(statement(BPF_RET | BPF_K, refused_with(EPERM)));
  sock_fprog whole = p.whole();
  // All threads: an allocator may have one of its own.
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &whole) == 0;
}

/// How much address space the process has mapped; 0 where that cannot be read.
std::uint64_t mapped_bytes() noexcept {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128] = {};
  const ssize_t n = ::read(file, text, sizeof text - 1);
  ::close(file);
  unsigned long pages = 0;
  if (n <= 0 || std::sscanf(text, "%lu", &pages) != 1) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool limit(int what, std::uint64_t most) noexcept {
  const rlimit both{most, most};
  return ::setrlimit(static_cast<__rlimit_resource_t>(what), &both) == 0;
}

}  // namespace

bool confine_this_process(std::uint64_t more_bytes) noexcept {
  if (architecture == 0) return false;
  if (::syscall(SYS_close_range, 3u, ~0u, 0u) != 0) {
    for (int fd = 3; fd < 1024; ++fd) ::close(fd);  // a kernel before 5.9
  }
  const std::uint64_t mapped = mapped_bytes();
  if (mapped == 0) return false;
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::prctl(PR_SET_DUMPABLE, 0) != 0 ||
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return false;
  (void)::prctl(PR_SET_NAME, "windlass-charts");
  if (!limit(RLIMIT_CORE, 0) || !limit(RLIMIT_FSIZE, 0)) return false;
  if (!is_sanitized && !limit(RLIMIT_AS, mapped + more_bytes)) return false;
  return close_the_kernel();
}

}  // namespace reactor
