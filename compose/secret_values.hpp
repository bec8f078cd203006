#pragma once

#include "compose/rules/answer.hpp"
#include "reactor/plain/entropy.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/secret.hpp"

#include <map>
#include <string>

namespace compose {

/// The bytes of values that a hook asks for and never sees.
using secret_values = std::map<std::string, reactor::secret>;

/// Shape    `there` has what the Secret holds under keys that public keys are derived from,
///          `sources` what copies are made of, by "secret/key". Generated values come from `rng`
///          alone, so that a simulated run repeats itself.
/// Errors   errc::not_found: a source or a private key is not there. errc::malformed: a private key
///          that is none. Neither quotes a byte of it.
reactor::result<secret_values> make_secret_values(
    const std::map<std::string, policies::compose::asked_value>& asks, const secret_values& there,
    const secret_values& sources, reactor::entropy& rng);

}  // namespace compose
