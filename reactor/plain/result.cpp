#include "reactor/plain/result.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

namespace reactor {
namespace {

class reactor_category final : public boost::system::error_category {
public:
  const char* name() const noexcept override { return "reactor"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::timed_out: return "timed out";
      case errc::closed: return "closed by the peer";
      case errc::limit: return "over the limit";
      case errc::malformed: return "malformed";
      case errc::refused: return "refused";
      case errc::unverified: return "the peer's identity could not be verified";
      case errc::not_found: return "not found";
    }
    return "unknown error";
  }
};

}  // namespace

const boost::system::error_category& category() noexcept {
  static const reactor_category instance;
  return instance;
}

std::string fault::message() const {
  std::string text = doing;
  if (!text.empty()) text += ": ";
  return text + (detail.empty() ? code.message() : detail);
}

fault make_fault(error_code code, std::string_view doing, std::string_view detail) {
  return {code, std::string(doing), std::string(detail)};
}

fault make_fault(errc code, std::string_view doing, std::string_view detail) {
  return make_fault(make_error_code(code), doing, detail);
}

fault while_doing(std::string_view doing, fault inner) {
  inner.doing = inner.doing.empty() ? std::string(doing) : std::string(doing) + ": " + inner.doing;
  return inner;
}

bool is_cancelled(const error_code& code) noexcept {
  return code == boost::asio::error::operation_aborted;
}

void throw_exception_from_error(const fault& f, const boost::source_location&) {
  throw boost::system::system_error(f.code, f.message());
}

}  // namespace reactor
