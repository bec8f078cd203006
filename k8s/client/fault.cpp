#include "k8s/client/fault.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

namespace k8s {
namespace {

errc classify(const reactor::error_code& code) {
  if (code == make_error_code(reactor::errc::malformed) ||
      code == make_error_code(reactor::errc::limit)) {
    return errc::malformed;
  }
  return errc::unavailable;
}

}  // namespace

std::string fault::message() const {
  std::string text = doing;
  const std::string& what = detail.empty() ? reason : detail;
  if (!text.empty() && !what.empty()) text += ": ";
  return text + what;
}

void throw_exception_from_error(const fault& f, const boost::source_location&) {
  throw boost::system::system_error(
      boost::asio::error::make_error_code(boost::asio::error::invalid_argument), f.message());
}

fault from_transport(const reactor::fault& f, std::string doing) {
  fault out;
  out.code = classify(f.code);
  out.doing = std::move(doing);
  out.detail = f.message();
  out.cancelled = reactor::is_cancelled(f);
  return out;
}

const char* to_string(errc code) noexcept {
  switch (code) {
    case errc::gone: return "gone";
    case errc::not_found: return "not_found";
    case errc::exists: return "exists";
    case errc::conflict: return "conflict";
    case errc::throttled: return "throttled";
    case errc::unauthorized: return "unauthorized";
    case errc::forbidden: return "forbidden";
    case errc::invalid: return "invalid";
    case errc::unavailable: return "unavailable";
    case errc::malformed: return "malformed";
    case errc::over_budget: return "over_budget";
  }
  return "unknown";
}

}  // namespace k8s
