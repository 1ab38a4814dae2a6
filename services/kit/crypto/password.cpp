#include "services/kit/crypto/password.hpp"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <semaphore>

#include <openssl/evp.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::crypto {
namespace password_detail {

struct Cost {
  unsigned ln, r, p;
  bool operator==(const Cost&) const = default;
};
struct Stored {
  Cost cost{};
  std::string salt;
  std::string hash;
};

constexpr Cost today{.ln = 14, .r = 8, .p = 5};  // OWASP's choice for 16 MiB
constexpr std::size_t salt_size = 16;
constexpr std::size_t hash_size = 32;
constexpr std::uint64_t most_memory = 256ULL << 20U;

std::string without_padding(std::string_view bytes) {
  std::string text = base64::encode(bytes);
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::optional<std::string> decode_unpadded(std::string_view text) {
  if (text.contains('=') || text.size() % 4 == 1) return std::nullopt;
  return base64::decode(std::string(text) + std::string((4 - text.size() % 4) % 4, '='));
}

// Takes `prefix`, a number and `end` off the front.
std::optional<unsigned> take_number(std::string_view& text, std::string_view prefix, char end) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  unsigned number = 0;
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || stop == text.data() + text.size() || *stop != end) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
  return number;
}

// Bounded, because the string comes from a database: a written-in cost must not stop the service.
std::optional<Stored> parse_stored(std::string_view text) {
  const auto ln = take_number(text, "$scrypt$ln=", ',');
  const auto r = ln ? take_number(text, "r=", ',') : std::nullopt;
  const auto p = r ? take_number(text, "p=", '$') : std::nullopt;
  const std::size_t middle = text.find('$');
  if (!p || middle == std::string_view::npos) return std::nullopt;
  if (*ln < 10 || *ln > 17 || *r < 1 || *r > 16 || *p < 1 || *p > 16) return std::nullopt;
  auto salt = decode_unpadded(text.substr(0, middle));
  auto hash = decode_unpadded(text.substr(middle + 1));
  if (!salt || !hash || salt->size() < 8 || hash->size() != hash_size) return std::nullopt;
  return Stored{.cost = {*ln, *r, *p}, .salt = std::move(*salt), .hash = std::move(*hash)};
}

// Each takes 16 MiB, and a stranger chooses how many come at once.
constexpr std::ptrdiff_t most_at_once = 2;
std::counting_semaphore<most_at_once> places(most_at_once);

std::string derive(std::string_view password, std::string_view salt, const Cost& cost) {
  std::string out(hash_size, '\0');
  places.acquire();
  const char* secret = password.empty() ? "" : password.data();
  if (EVP_PBE_scrypt(secret, password.size(), reinterpret_cast<const unsigned char*>(salt.data()), salt.size(),
                     1ULL << cost.ln, cost.r, cost.p, most_memory, reinterpret_cast<unsigned char*>(out.data()),
                     out.size()) != 1) {
    std::fprintf(stderr, "OpenSSL failed: scrypt (out of memory?)\n");
    std::abort();
  }
  places.release();
  return out;
}

}  // namespace password_detail

std::string hash_password(std::string_view password) {
  using namespace password_detail;
  const std::string salt = random_bytes(salt_size);
  const std::string hash = derive(password, salt, today);
  return "$scrypt$ln=" + std::to_string(today.ln) + ",r=" + std::to_string(today.r) + ",p=" + std::to_string(today.p) +
         "$" + without_padding(salt) + "$" + without_padding(hash);
}

bool verify_password(std::string_view password, std::string_view stored) {
  using namespace password_detail;
  const std::optional<Stored> parsed = parse_stored(stored);
  return parsed && equal_in_constant_time(derive(password, parsed->salt, parsed->cost), parsed->hash);
}

void waste_password_check(std::string_view password) {
  using namespace password_detail;
  const std::string wasted = derive(password, std::string(salt_size, '\x2a'), today);
  (void)equal_in_constant_time(wasted, std::string(hash_size, '\0'));
}

bool needs_rehash(std::string_view stored) {
  using namespace password_detail;
  const std::optional<Stored> parsed = parse_stored(stored);
  return !parsed || parsed->cost != today;
}

}  // namespace stackgate::crypto
