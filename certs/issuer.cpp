#include "certs/issuer.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include "certs/openssl.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::certs {
namespace issuer_detail {

std::unexpected<Error> fail(std::string_view step) {
  return std::unexpected(Error{fmt::format("cannot make a certificate: {}: {}", step, openssl_reason())});
}

bool add_extension(X509& certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, &certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension && X509_add_ext(&certificate, extension.get(), -1) == 1;
}

// Built as objects, not as OpenSSL's comma-separated text: a name with a comma must not become two.
std::expected<void, Error> add_names(X509& certificate, const Subject& subject) {
  if (subject.dns_names.empty() && subject.ip_addresses.empty()) {
    return std::unexpected(Error{"cannot make a certificate: it needs a DNS name or an IP address"});
  }
  const std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>> names(sk_GENERAL_NAME_new_null());
  const auto add = [&](int type, const void* bytes, std::size_t size) {
    std::unique_ptr<GENERAL_NAME, Freed<GENERAL_NAME_free>> name(GENERAL_NAME_new());
    ASN1_STRING* text = type == GEN_DNS ? ASN1_IA5STRING_new() : ASN1_OCTET_STRING_new();
    ASN1_STRING_set(text, bytes, static_cast<int>(size));
    GENERAL_NAME_set0_value(name.get(), type, text);
    sk_GENERAL_NAME_push(names.get(), name.release());
  };
  for (const auto& name : subject.dns_names) add(GEN_DNS, name.data(), name.size());
  for (const auto& address : subject.ip_addresses) {
    unsigned char bytes[16];
    if (::inet_pton(AF_INET, address.c_str(), bytes) == 1) {
      add(GEN_IPADD, bytes, 4);
    } else if (::inet_pton(AF_INET6, address.c_str(), bytes) == 1) {
      add(GEN_IPADD, bytes, 16);
    } else {
      return std::unexpected(Error{fmt::format("cannot make a certificate: \"{}\" is no IP address", address)});
    }
  }
  if (X509_add1_ext_i2d(&certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) != 1)
    return fail("names");
  return {};
}

// 127 random bits: positive, and within the 20 octets of RFC 5280.
bool set_serial(X509& certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7fU) | 0x40U);
  const std::unique_ptr<BIGNUM, Freed<BN_free>> number(BN_bin2bn(bytes, sizeof bytes, nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr;
}

bool set_times(X509& certificate, const Subject& subject) {
  const auto set = [](ASN1_TIME* field, Time time) {
    return ASN1_TIME_set(field, std::chrono::system_clock::to_time_t(time)) != nullptr;
  };
  return set(X509_getm_notBefore(&certificate), subject.not_before) &&
         set(X509_getm_notAfter(&certificate), subject.not_after);
}

bool set_subject(X509& certificate, const Subject& subject) {
  const Name name(X509_NAME_new());
  return name &&
         X509_NAME_add_entry_by_NID(name.get(), NID_commonName, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(subject.common_name.data()),
                                    static_cast<int>(subject.common_name.size()), -1, 0) == 1 &&
         X509_set_subject_name(&certificate, name.get()) == 1;
}

std::expected<PemPair, Error> to_pem(X509& certificate, EVP_PKEY& key) {
  const Bio certificate_text(BIO_new(BIO_s_mem()));
  const Bio key_text(BIO_new(BIO_s_secmem()));
  if (PEM_write_bio_X509(certificate_text.get(), &certificate) != 1 ||
      PEM_write_bio_PrivateKey(key_text.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return fail("PEM");
  }
  return PemPair{text_of(certificate_text), text_of(key_text)};
}

// Issuer and signing key, when they are not the certificate itself.
struct Authority {
  Certificate certificate;
  Key key;
};

// An encrypted key is an error, not a question on the terminal.
int no_password(char*, int, int, void*) { return -1; }

std::expected<Authority, Error> read_authority(const PemPair& pair) {
  ERR_clear_error();
  Authority authority{Certificate(PEM_read_bio_X509(bio_over(pair.certificates).get(), nullptr, nullptr, nullptr)),
                      Key(PEM_read_bio_PrivateKey(bio_over(pair.key).get(), nullptr, no_password, nullptr))};
  if (!authority.certificate || !authority.key) return fail("the CA cannot be read");
  if (X509_check_private_key(authority.certificate.get(), authority.key.get()) != 1)
    return fail("the CA's key is not its own");
  if (X509_check_ca(authority.certificate.get()) != 1) return fail("what should sign is no CA");
  return authority;
}

std::expected<PemPair, Error> make(const Subject& subject, const Authority* authority) {
  ERR_clear_error();
  if (subject.not_after <= subject.not_before)
    return std::unexpected(Error{"cannot make a certificate: it ends before it begins"});
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  if (!key || !certificate) return fail("key");
  X509& leaf = *certificate;
  X509* issuer = authority != nullptr ? authority->certificate.get() : &leaf;
  if (X509_set_version(&leaf, X509_VERSION_3) != 1 || !set_serial(leaf) || !set_times(leaf, subject) ||
      !set_subject(leaf, subject) || X509_set_issuer_name(&leaf, X509_get_subject_name(issuer)) != 1 ||
      X509_set_pubkey(&leaf, key.get()) != 1) {
    return fail("fields");
  }
  const bool is_ca = authority == nullptr;
  if (!add_extension(leaf, issuer, NID_basic_constraints, is_ca ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE") ||
      !add_extension(leaf, issuer, NID_key_usage,
                     is_ca ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature") ||
      !add_extension(leaf, issuer, NID_subject_key_identifier, "hash") ||
      !add_extension(leaf, issuer, NID_authority_key_identifier, "keyid:always") ||
      (!is_ca && !add_extension(leaf, issuer, NID_ext_key_usage, "serverAuth"))) {
    return fail("extensions");
  }
  if (!is_ca) {
    TRY(add_names(leaf, subject));
  }
  if (X509_sign(&leaf, authority != nullptr ? authority->key.get() : key.get(), EVP_sha256()) == 0)
    return fail("signature");
  return to_pem(leaf, *key);
}

}  // namespace issuer_detail

std::expected<PemPair, Error> make_self_signed_ca(const Subject& subject) {
  return issuer_detail::make(subject, nullptr);
}

std::expected<PemPair, Error> issue_leaf(const PemPair& ca, const Subject& subject) {
  const auto authority = TRY(issuer_detail::read_authority(ca));
  return issuer_detail::make(subject, &authority);
}

}  // namespace stackgate::certs
