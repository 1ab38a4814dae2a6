// Any bytes as a token, and any bytes as header and claims of a token whose signature fits: a refusal or claims whose
// exp is a time; never a crash, and never an algorithm but HS256.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/kit/base/base64.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/crypto/jwt.hpp"
#include "services/kit/crypto/signed_query.hpp"

using namespace stackgate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string key = "0123456789abcdef0123456789abcdef";
  const std::chrono::system_clock::time_point now{std::chrono::seconds(1'767'225'600)};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Nobody guesses a signature.
  if (crypto::verify_jwt(key, bytes, now) || crypto::verify_query(key, "GET", "/", bytes, now)) std::abort();

  const std::size_t cut = bytes.find('\n');
  const std::string_view header = bytes.substr(0, cut);
  const std::string_view claims = cut == std::string_view::npos ? std::string_view() : bytes.substr(cut + 1);
  std::string token = base64::encode_url(header) + "." + base64::encode_url(claims);
  const crypto::Sha256 mac = crypto::hmac_sha256(key, token);
  token += "." + base64::encode_url({reinterpret_cast<const char*>(mac.data()), mac.size()});
  const auto verified = crypto::verify_jwt(key, token, now);
  if (!verified) return 0;
  const json::Value* expires = verified->root.find("exp");
  if (expires == nullptr || !expires->is_number() || expires->number() < 1'767'225'570.0) std::abort();
  if (!header.contains("alg") && !header.contains('\\')) std::abort();
  return 0;
}
