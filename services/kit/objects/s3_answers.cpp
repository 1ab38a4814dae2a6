#include "services/kit/objects/s3_answers.hpp"

#include <algorithm>

#include <pugixml.hpp>

#include "services/kit/base/number.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::objects {
namespace s3_answers_detail {

// Without parse_doctype and parse_pi those are skipped; entities beyond XML's five and characters by number are left
// as they stand.
constexpr unsigned how = pugi::parse_cdata | pugi::parse_escapes | pugi::parse_eol;
constexpr std::size_t longest_word = 1'024;

// Prefixes of namespaces may stand before a name; S3 and its imitators declare a default one.
bool named(const pugi::xml_node& node, std::string_view name) {
  std::string_view own = node.name();
  if (const std::size_t colon = own.rfind(':'); colon != std::string_view::npos) own.remove_prefix(colon + 1);
  return node.type() == pugi::node_element && own == name;
}

pugi::xml_node child(const pugi::xml_node& node, std::string_view name) {
  for (const pugi::xml_node& below : node.children())
    if (named(below, name)) return below;
  return {};
}

std::string text_of(const pugi::xml_node& node, std::string_view name) {
  return std::string(child(node, name).text().get());
}

std::expected<pugi::xml_node, std::string> root_of(pugi::xml_document& document, std::string_view xml,
                                                   std::string_view name) {
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size(), how, pugi::encoding_utf8);
  if (!parsed) return std::unexpected("the server's answer is no XML: " + std::string(parsed.description()));
  for (const pugi::xml_node& node : document.children())
    if (named(node, name)) return node;
  return std::unexpected("the server's answer is no <" + std::string(name) + ">");
}

std::expected<Entry, std::string> entry_of(const pugi::xml_node& node) {
  std::string encoded = text_of(node, "Key");
  std::ranges::replace(encoded, '+', ' ');
  auto key = percent_decoded(encoded);
  if (!key || key->empty()) return std::unexpected("the list has an entry without readable key");
  const auto size = to_number<std::uint64_t>(text_of(node, "Size"));
  if (!size) return std::unexpected("the list has an entry without size");
  return Entry{
      std::move(*key),
      {*size, from_rfc3339(text_of(node, "LastModified")).value_or(std::chrono::sys_seconds{}), text_of(node, "ETag")}};
}

struct Advice {
  std::string_view code;
  Fault fault;
  std::string_view advice;
};

// Amazon's "Error responses", the ones that somebody can do something about, and Ceph's spelling of them.
constexpr Advice table[] = {
    {"NoSuchKey", Fault::missing, ""},
    {"NoSuchUpload", Fault::missing, "the upload in parts was completed or given up before"},
    {"NoSuchBucket", Fault::refused, "create the bucket, or correct --s3-bucket:"},
    {"InvalidAccessKeyId", Fault::refused, "the server knows no such access key: correct S3_ACCESS_KEY"},
    {"SignatureDoesNotMatch", Fault::refused,
     "S3_SECRET_KEY is not the secret of S3_ACCESS_KEY, or a proxy changes host or path on the way"},
    {"AccessDenied", Fault::refused,
     "give the user of S3_ACCESS_KEY the right to read, write, list and delete in the bucket of --s3-bucket"},
    {"RequestTimeTooSkewed", Fault::refused,
     "this machine's clock and the server's differ by more than 15 minutes: set them right"},
    {"ExpiredToken", Fault::refused, "the session token has expired: give a new one"},
    {"InvalidToken", Fault::refused, "the session token is not valid: give a new one"},
    {"AuthorizationHeaderMalformed", Fault::refused, "--s3-region is probably wrong: set the bucket's"},
    {"PermanentRedirect", Fault::refused,
     "the bucket is in another region: set --s3-region and --s3-endpoint to the bucket's"},
    {"IllegalLocationConstraintException", Fault::refused, "the bucket is in another region: set --s3-region to it"},
    {"InvalidBucketName", Fault::refused, "correct --s3-bucket"},
    {"XAmzContentSHA256Mismatch", Fault::broken, "the bytes changed on the way"},
    {"BadDigest", Fault::broken, "the bytes changed on the way"},
    {"QuotaExceeded", Fault::full, "raise the user's or the bucket's quota, or delete objects"},
    {"EntityTooLarge", Fault::refused, "the object is larger than the server takes"},
    {"SlowDown", Fault::away, "the server asks to slow down"},
    {"ServiceUnavailable", Fault::away, "the server is not ready"},
    {"InternalError", Fault::away, "the server failed; look into its log"},
    {"RequestTimeout", Fault::away, "the bytes came too slowly for the server"},
};

}  // namespace s3_answers_detail

using namespace s3_answers_detail;

std::expected<ListPage, std::string> parse_list(std::string_view xml) {
  pugi::xml_document document;
  const auto root = TRY(root_of(document, xml, "ListBucketResult"));
  ListPage page;
  for (const pugi::xml_node& node : root.children()) {
    if (!named(node, "Contents")) continue;
    page.entries.push_back(TRY(entry_of(node)));
  }
  if (text_of(root, "IsTruncated") == "true") {
    page.next = text_of(root, "NextContinuationToken");
    if (page.next.empty()) return std::unexpected("the list says that it goes on and does not say where");
  }
  return page;
}

std::expected<std::string, std::string> parse_upload_id(std::string_view xml) {
  pugi::xml_document document;
  const auto root = TRY(root_of(document, xml, "InitiateMultipartUploadResult"));
  std::string id = text_of(root, "UploadId");
  if (id.empty() || id.size() > longest_word) return std::unexpected("the server gave no upload id");
  return id;
}

std::optional<S3Fault> parse_fault(std::string_view xml) {
  pugi::xml_document document;
  const auto root = root_of(document, xml, "Error");
  if (!root) return std::nullopt;
  S3Fault fault{.code = text_of(*root, "Code").substr(0, 80), .message = text_of(*root, "Message").substr(0, 300)};
  for (std::string* text : {&fault.code, &fault.message})
    std::ranges::replace_if(*text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  return fault;
}

std::string complete_body(const std::vector<std::pair<unsigned, std::string>>& parts) {
  std::string out = "<CompleteMultipartUpload>";
  for (const auto& [part, etag] : parts) {
    out += "<Part><PartNumber>" + std::to_string(part) + "</PartNumber><ETag>";
    for (const char c : etag) {
      if (c == '&')
        out += "&amp;";
      else if (c == '<')
        out += "&lt;";
      else if (c == '>')
        out += "&gt;";
      else
        out += c;
    }
    out += "</ETag></Part>";
  }
  return out + "</CompleteMultipartUpload>";
}

StoreError explain(int status, const std::optional<S3Fault>& fault, std::string_view what, std::string_view bucket) {
  StoreError error{Fault::broken, std::string(what) + ": "};
  if (fault) {
    error.message += fault->code.empty() ? "status " + std::to_string(status) : fault->code;
    if (!fault->message.empty()) error.message += " (" + fault->message + ")";
    const auto* const known = std::ranges::find(table, std::string_view(fault->code), &Advice::code);
    if (known != std::end(table)) {
      error.fault = known->fault;
      if (!known->advice.empty()) error.message.append("; ").append(known->advice);
      if (fault->code == "NoSuchBucket") error.message.append(" \"").append(bucket).append("\"");
      return error;
    }
  } else {
    error.message += "the server answered with status " + std::to_string(status);
  }
  if (status == 404) {
    error.fault = Fault::missing;
  } else if (status == 403 || status == 401) {
    error.fault = Fault::refused;
    error.message += "; S3_ACCESS_KEY and S3_SECRET_KEY, or their rights in the bucket of --s3-bucket, are wrong";
  } else if (status == 301 || status == 307) {
    error.fault = Fault::refused;
    error.message += "; the bucket is in another region: set --s3-region and --s3-endpoint to the bucket's";
  } else if (status == 507) {
    error.fault = Fault::full;
  } else if (status >= 500 || status == 429) {
    error.fault = Fault::away;
  } else if (status >= 400) {
    error.fault = Fault::refused;
  }
  return error;
}

}  // namespace stackgate::objects
