#include "registry/fault.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

namespace registry {

const char* to_string(errc code) noexcept {
  switch (code) {
    case errc::unauthorized: return "unauthorized";
    case errc::forbidden: return "forbidden";
    case errc::not_found: return "not_found";
    case errc::throttled: return "throttled";
    case errc::rejected: return "rejected";
    case errc::unavailable: return "unavailable";
    case errc::malformed: return "malformed";
    case errc::altered: return "altered";
    case errc::refused: return "refused";
  }
  return "unknown";
}

errc errc_of(int http_status) noexcept {
  switch (http_status) {
    case 401: return errc::unauthorized;
    case 403: return errc::forbidden;
    case 404: return errc::not_found;
    case 408: return errc::unavailable;
    case 429: return errc::throttled;
    default: return http_status >= 500 ? errc::unavailable : errc::rejected;
  }
}

fault failed(errc code, std::string text) {
  fault out;
  out.code = code;
  out.text = std::move(text);
  return out;
}

fault fault::behind(const std::string& before) && {
  text = before + text;
  return std::move(*this);
}

void throw_exception_from_error(const fault& f, const boost::source_location&) {
  throw boost::system::system_error(
      boost::asio::error::make_error_code(boost::asio::error::invalid_argument), f.text);
}

}  // namespace registry
