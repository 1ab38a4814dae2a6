#include "certs/identity.hpp"

#include <algorithm>
#include <ctime>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/pem.h>

#include "certs/openssl.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/http/stream.hpp"

namespace stackgate::certs {
namespace identity_detail {

std::unexpected<Error> fail(std::string message) { return std::unexpected(Error{std::move(message)}); }

// Every certificate in PEM text, leaf first; text around the blocks is passed over, as everywhere.
std::expected<std::vector<Certificate>, Error> read_certificates(std::string_view pem) {
  ERR_clear_error();
  std::vector<Certificate> chain;
  const Bio bio = bio_over(pem);
  while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) chain.emplace_back(next);
  const unsigned long code = ERR_peek_last_error();
  if (code != 0 && !(ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE)) {
    return fail(fmt::format("certificate {} of the file is malformed: {}", chain.size() + 1, openssl_reason()));
  }
  ERR_clear_error();
  if (chain.empty()) return fail("there is no certificate: PEM text begins with -----BEGIN CERTIFICATE-----");
  return chain;
}

std::expected<Key, Error> read_key(std::string_view pem) {
  ERR_clear_error();
  const Bio bio = bio_over(pem);
  bool asked = false;
  const auto no_password = [](char*, int, int, void* flag) -> int {
    *static_cast<bool*>(flag) = true;
    return -1;
  };
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, &asked));
  if (key) return key;
  const std::string reason = openssl_reason();
  if (asked) return fail("the private key is encrypted: store it without a passphrase");
  if (pem.find("PRIVATE KEY-----") == std::string_view::npos) {
    return fail("there is no private key: PEM text begins with -----BEGIN PRIVATE KEY-----");
  }
  return fail(fmt::format("the private key is malformed: {}", reason));
}

Time to_time(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

std::string name_text(const X509_NAME* name) {
  const Bio bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253);
  return text_of(bio);
}

std::string serial_text(const X509& certificate) {
  const std::unique_ptr<BIGNUM, Freed<BN_free>> number(
      ASN1_INTEGER_to_BN(X509_get0_serialNumber(&certificate), nullptr));
  char* hex = number ? BN_bn2hex(number.get()) : nullptr;
  const std::string text = hex != nullptr ? hex : "";
  OPENSSL_free(hex);
  return text;
}

std::string key_text(const X509& certificate) {
  EVP_PKEY* key = X509_get0_pubkey(&certificate);
  if (key == nullptr) return "unknown";
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_EC: {
      char group[64] = "";
      EVP_PKEY_get_group_name(key, group, sizeof group, nullptr);
      const int nid = OBJ_sn2nid(group);
      const char* nist = EC_curve_nid2nist(nid);
      return fmt::format("EC {}", nist != nullptr ? nist : group);
    }
    case EVP_PKEY_RSA:
      return fmt::format("RSA {}", EVP_PKEY_get_bits(key));
    case EVP_PKEY_ED25519:
      return "Ed25519";
    default:
      return EVP_PKEY_get0_type_name(key) != nullptr ? EVP_PKEY_get0_type_name(key) : "unknown";
  }
}

void read_names(const X509& certificate, Description& out) {
  const std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      out.dns_names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                                 static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      const int size = ASN1_STRING_length(name->d.iPAddress);
      char text[INET6_ADDRSTRLEN] = "";
      if (size == 4 || size == 16) {
        ::inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name->d.iPAddress), text, sizeof text);
        out.ip_addresses.emplace_back(text);
      }
    }
  }
}

Description describe_one(const X509& certificate) {
  Description out;
  out.subject = name_text(X509_get_subject_name(&certificate));
  out.issuer = name_text(X509_get_issuer_name(&certificate));
  out.serial = serial_text(certificate);
  out.key_type = key_text(certificate);
  out.not_before = to_time(X509_get0_notBefore(&certificate));
  out.not_after = to_time(X509_get0_notAfter(&certificate));
  out.is_ca = X509_check_ca(const_cast<X509*>(&certificate)) == 1;
  read_names(certificate, out);
  return out;
}

bool is_served(const X509& certificate) {
  static constexpr std::string_view curves[] = {"EC P-256", "EC P-384", "EC P-521", "Ed25519"};
  const std::string type = key_text(certificate);
  return std::find(std::begin(curves), std::end(curves), type) != std::end(curves) ||
         (type.starts_with("RSA ") && EVP_PKEY_get_bits(X509_get0_pubkey(&certificate)) >= 2048);
}

std::expected<void, Error> check_dates(const Description& certificate, Time now) {
  switch (age_of(certificate.not_before, certificate.not_after, now)) {
    case Age::not_yet_valid:
      return fail(fmt::format("the certificate {} is not valid before {}", certificate.subject,
                              to_rfc3339(certificate.not_before)));
    case Age::expired:
      return fail(
          fmt::format("the certificate {} expired at {}", certificate.subject, to_rfc3339(certificate.not_after)));
    case Age::fresh:
    case Age::late:
      break;
  }
  return {};
}

}  // namespace identity_detail

std::expected<Description, Error> describe(std::string_view pem) {
  const auto chain = TRY(identity_detail::read_certificates(pem));
  return identity_detail::describe_one(*chain.front());
}

std::expected<Identity, Error> make_identity(const PemPair& pair, Time now) {
  using namespace identity_detail;
  const auto chain = TRY(read_certificates(pair.certificates));
  const auto key = TRY(read_key(pair.key));

  X509& leaf = *chain.front();
  Identity identity{describe_one(leaf), Time::max(), nullptr};
  if (X509_check_private_key(&leaf, key.get()) != 1) {
    ERR_clear_error();
    return fail(fmt::format("the private key does not belong to the certificate {}", identity.leaf.subject));
  }
  if (!is_served(leaf)) {
    return fail(fmt::format("the key type {} is not served: use EC P-256, or RSA of at least 2048 bits",
                            identity.leaf.key_type));
  }
  for (const auto& certificate : chain) {
    const Description description = describe_one(*certificate);
    TRY(check_dates(description, now));
    identity.not_after = std::min(identity.not_after, description.not_after);
  }

  identity.context = std::shared_ptr<SSL_CTX>(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  SSL_CTX* context = identity.context.get();
  if (context == nullptr) return fail(fmt::format("cannot make a TLS context: {}", openssl_reason()));
  http::configure_server_context(context);
  bool loaded = SSL_CTX_use_certificate(context, &leaf) == 1 && SSL_CTX_use_PrivateKey(context, key.get()) == 1;
  for (std::size_t i = 1; i < chain.size() && loaded; ++i)
    loaded = SSL_CTX_add1_chain_cert(context, chain[i].get()) == 1;
  if (!loaded)
    return fail(fmt::format("OpenSSL refuses the certificate {}: {}", identity.leaf.subject, openssl_reason()));
  return identity;
}

std::expected<void, Error> verify_chain(std::string_view certificates, std::string_view ca_bundle, Time now) {
  using namespace identity_detail;
  const auto chain = TRY(read_certificates(certificates));
  const auto authorities = read_certificates(ca_bundle);
  if (!authorities) return fail(fmt::format("in the CA bundle: {}", authorities.error().message));

  const std::unique_ptr<X509_STORE, Freed<X509_STORE_free>> store(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>> check(X509_STORE_CTX_new());
  const std::unique_ptr<STACK_OF(X509), Freed<[](STACK_OF(X509) * stack) { sk_X509_free(stack); }>> untrusted(
      sk_X509_new_null());
  if (!store || !check || !untrusted) return fail("out of memory");
  for (const auto& authority : *authorities) X509_STORE_add_cert(store.get(), authority.get());
  for (std::size_t i = 1; i < chain.size(); ++i) sk_X509_push(untrusted.get(), chain[i].get());
  X509_STORE_CTX_init(check.get(), store.get(), chain.front().get(), untrusted.get());
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(check.get());
  X509_VERIFY_PARAM_set_time(parameters, std::chrono::system_clock::to_time_t(now));
  X509_VERIFY_PARAM_set_flags(parameters,
                              X509_V_FLAG_PARTIAL_CHAIN);  // an intermediate in the bundle is trust enough, as in Go
  X509_STORE_CTX_set_purpose(check.get(), X509_PURPOSE_SSL_SERVER);
  const bool good = X509_verify_cert(check.get()) == 1;
  const int error = X509_STORE_CTX_get_error(check.get());
  ERR_clear_error();
  if (good) return {};
  return fail(fmt::format("the certificate {} does not lead to the CA bundle: {}",
                          name_text(X509_get_subject_name(chain.front().get())), X509_verify_cert_error_string(error)));
}

Age age_of(Time not_before, Time not_after, Time now) {
  if (now < not_before) return Age::not_yet_valid;
  if (now >= not_after) return Age::expired;
  return now - not_before > (not_after - not_before) / 5 * 4 ? Age::late : Age::fresh;
}

}  // namespace stackgate::certs
