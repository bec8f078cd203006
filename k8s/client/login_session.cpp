#include "k8s/client/login_session.hpp"

#include "formats/digest.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/hide.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/system/descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace k8s {
namespace {

using namespace std::chrono_literals;

constexpr reactor::nanoseconds alone_time = 60s, attended_time = 5min;
constexpr std::size_t answer_limit_bytes = 64 * 1024;
constexpr std::size_t program_limit_bytes = 256 * 1024 * 1024;
constexpr std::size_t note_limit_bytes = 1024;

using open_program = std::shared_ptr<reactor::file_descriptor>;

/// The file of that path, open, after it was read to its end and had the digest. Blocks.
reactor::result<open_program> open_checked(const std::string& path, const std::string& digest) {
  const std::string doing = login_name(path);
  auto file = std::make_shared<reactor::file_descriptor>(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file->get() < 0) return reactor::system_fault(doing);
  struct stat info;
  if (::fstat(file->get(), &info) != 0) return reactor::system_fault(doing);
  if ((info.st_mode & S_IWOTH) != 0)
    return reactor::make_fault(reactor::errc::refused, doing, "every user can write to its file");
  const auto bytes = reactor::read_all<std::string>(file->get(), doing, program_limit_bytes);
  if (!bytes) return bytes.error();
  if (formats::sha256_hex(*bytes) != digest)
    return reactor::make_fault(
        reactor::errc::refused, doing,
        "it was not run: its file has not the SHA-256 that --allow-exec names");
  return file;
}

}  // namespace

login_dialogue logged_dialogue(reactor::logger log, std::string cluster) {
  login_dialogue out;
  out.note = [log = std::move(log), cluster = std::move(cluster)](std::string_view line) {
    log.warning("the login program says", {{"cluster", cluster}, {"text", line}});
  };
  return out;
}

login_session::login_session(login_program p, login_runner run)
    : program_(std::move(p)), run_(std::move(run)) {}

reactor::awaitable<reactor::result<std::shared_ptr<const login_session::numbered>>>
login_session::get(std::reference_wrapper<reactor::loop> of, std::uint64_t refused) {
  reactor::loop& l = of;
  for (;;) {
    using heard = login_schedule::heard;
    const heard said =
        current_ && current_->number == refused ? heard::a_refusal : heard::nothing_bad;
    const login_schedule::step step = schedule_.next(l.now(), l.wall(), said);
    if (step == login_schedule::step::use) co_return current_;
    if (running_) {
      (void)co_await running_->wait();
      continue;
    }
    if (step == login_schedule::step::fail) co_return *failure_;
    // Also where the caller is cancelled: one of those that wait begins its own run then.
    struct run_under_way {
      std::unique_ptr<reactor::waiters>& flag;
      run_under_way(std::unique_ptr<reactor::waiters>& f, reactor::loop& l) : flag(f) {
        flag = std::make_unique<reactor::waiters>(l);
      }
      ~run_under_way() {
        flag->wake_all();
        flag.reset();
      }
    } const under_way(running_, l);
    auto got = co_await run(l);
    if (got) {
      schedule_.issued(l.now(), l.wall(), got->expires, said);
      current_ = std::make_shared<const numbered>(numbered{++runs_, *std::move(got)});
      co_return current_;
    }
    if (!reactor::is_cancelled(got.error())) {
      failure_ = got.error();
      schedule_.failed(l.now());
    }
    co_return got.error();
  }
}

reactor::awaitable<reactor::result<issued_login>> login_session::run(reactor::loop& l) {
  reactor::command c;
  c.argv = {program_.command};
  c.argv.insert(c.argv.end(), program_.arguments.begin(), program_.arguments.end());
  c.out_limit_bytes = answer_limit_bytes;
  c.grace = 1s;
  c.terminal = dialogue_.terminal && program_.interactive != login_program::input::never;
  if (program_.interactive == login_program::input::always && !c.terminal)
    co_return reactor::make_fault(reactor::errc::refused, login_name(program_.command),
                                  "it wants to ask a person (interactiveMode: Always), and there "
                                  "is no terminal; log in by a command at a terminal first, or set "
                                  "interactiveMode: IfAvailable");
  for (const auto& [name, value] : program_.environment) c.environment[name] = value;
  c.environment["KUBERNETES_EXEC_INFO"] =
      login_request(program_, c.terminal ? login_talk::with_a_person : login_talk::alone).reveal();
  open_program checked;
  if (!program_.digest.empty()) {
    c.base = reactor::environment_base::empty;
    c.folder = "/";
    const auto look = [](const std::string& path, const std::string& digest) {
      return open_checked(path, digest);
    };
    auto opened = co_await l.offload(look, program_.command, program_.digest);
    if (!opened) co_return opened.error();
    checked = *std::move(opened);
    c.program = checked->get();
  }
  c.on_err = dialogue_.show;
  const reactor::nanoseconds within = c.terminal ? attended_time : alone_time;
  auto ended = co_await run_(l, std::move(c), l.now() + within);
  if (!ended) {
    reactor::fault f = ended.error();
    const bool missing = f.code == make_error_code(reactor::errc::not_found);
    f.doing = login_name(program_.command);
    if (missing && !program_.install_hint.empty() && program_.digest.empty())
      f.detail += "; its kubeconfig says: " + reactor::printable(program_.install_hint, 1000);
    co_return f;
  }
  struct wiping {
    std::string& text;
    ~wiping() { reactor::wipe(text); }
  } const afterwards{ended->out};
  auto login = read_login_answer(*ended, program_);
  if (login) reactor::hide(ended->err, login->token.reveal());
  note(*ended);
  co_return login;
}

void login_session::note(const reactor::process_exit& ended) const {
  if (!dialogue_.note || ended.err.find_first_not_of(" \r\n\t") == ended.err.npos) return;
  std::string said = reactor::redact(ended.err);
  if (said.size() > note_limit_bytes) said.erase(0, said.size() - note_limit_bytes);
  dialogue_.note(reactor::printable(said));
}

}  // namespace k8s
