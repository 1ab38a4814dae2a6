#include "services/datastore/lfs/parts.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "services/datastore/lfs/http.hpp"
#include "services/datastore/lfs/statements.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::datastore::lfs {

namespace {

constexpr std::uint64_t mebibyte = 1ULL << 20U;
constexpr std::string_view at_store = "s3:", at_ours = "own:";

std::string part_prefix(std::int64_t repository, std::string_view oid, std::string_view upload) {
  return incoming_key(repository, oid) + "." + std::string(upload) + "/";
}
std::string part_key(std::int64_t repository, std::string_view oid, std::string_view upload, unsigned number) {
  return fmt::format("{}{:05d}", part_prefix(repository, oid, upload), number);
}

web::Failure part_failure(int status, std::string message) { return {.status = status, .message = std::move(message)}; }

/// One part after the other, as if it were one file.
class PartsSource {
 public:
  PartsSource(objects::Store& store, std::vector<std::string> keys) : store_(store), keys_(std::move(keys)) {}
  Expected<std::size_t> operator()(std::span<char> space) {
    for (;;) {
      if (!open_) {
        if (at_ == keys_.size()) return 0;
        auto file = store_.open(keys_[at_]);
        if (!file && file.error().fault == objects::Fault::missing)
          return std::unexpected(
              ServiceError{ServiceFault::invalid, fmt::format("part {} has not been uploaded", at_ + 1)});
        if (!file) return std::unexpected(file.error());
        open_ = std::move(*file);
        ++at_;
      }
      auto got = from(*open_)(space);
      if (!got || *got > 0) return got;
      open_.reset();
    }
  }

 private:
  objects::Store& store_;
  std::vector<std::string> keys_;
  std::size_t at_ = 0;
  std::unique_ptr<objects::Download> open_;
};

using PartTags = std::vector<std::pair<unsigned, std::string>>;

/// `{"oid", "parts":[{"partNumber","etag"}]}`, each part once.
std::expected<PartTags, web::Failure> read_tags(const json::Value& body, std::string_view oid, unsigned count) {
  const auto wrong = [](std::string message) { return std::unexpected(part_failure(422, std::move(message))); };
  if (const json::Value* id = body.find("oid"); id != nullptr && id->string() != oid)
    return wrong("\"oid\" is not that of the URL");
  const json::Value* parts = body.find("parts");
  if (parts == nullptr || !parts->is_array()) return wrong("\"parts\" must be an array");
  PartTags out;
  for (const json::Value& part : parts->items()) {
    const json::Value* number = part.find("partNumber");
    const json::Value* etag = part.find("etag");
    if (number == nullptr || etag == nullptr || number->integer() < 1 || number->integer() > count ||
        etag->string().empty())
      return wrong("each of \"parts\" must have an \"etag\" and a \"partNumber\" between 1 and " +
                   std::to_string(count));
    out.emplace_back(static_cast<unsigned>(number->integer()), std::string(etag->string()));
  }
  std::ranges::sort(out);
  for (std::size_t i = 0; i < count; ++i)
    if (out.size() != count || out[i].first != i + 1)
      return wrong("\"parts\" must name each of the " + std::to_string(count) + " parts once");
  return out;
}

}  // namespace

bool can_presign(objects::Store& store) { return store.presigned_get("lfs/probe", {}).has_value(); }

PartPlan plan_parts(std::uint64_t size) {
  const std::uint64_t least = (size + 999) / 1000;
  const std::uint64_t chunk = std::max(64 * mebibyte, (least + mebibyte - 1) / mebibyte * mebibyte);
  return {chunk, static_cast<unsigned>(std::max<std::uint64_t>(1, (size + chunk - 1) / chunk))};
}

Expected<Link> begin_parts(const Backend& backend, const Repository& repository, Grant grant, const std::string& base,
                           const std::string& path, std::chrono::system_clock::time_point now) {
  const PartPlan plan = plan_parts(grant.size);
  const std::string object = path + "/objects/" + grant.oid + "/parts";
  Link out{.expires_in = url_life.count()};
  out.header.emplace_back("chunk_size", std::to_string(plan.chunk));
  grant.parts = plan.count;
  std::vector<std::string> urls;
  if (backend.serve_direct) {
    auto begun =
        TRY(backend.store.begin_parts(incoming_key(repository.id, grant.oid), plan.count, {.valid = url_life}));
    if (begun) {
      urls = std::move(begun->urls);
      grant.upload = std::string(at_store) + begun->id;
    }
  }
  if (grant.upload.empty()) {
    grant.upload = std::string(at_ours) + crypto::random_hex(8);
    for (unsigned number = 1; number <= plan.count; ++number) {
      const std::string part = fmt::format("{}/{}", object, number);
      urls.push_back(base + part + "?" + sign_url(backend.jwt_key, "PUT", part, grant, now));
    }
  }
  for (unsigned number = 1; number <= plan.count; ++number)
    out.header.emplace_back(fmt::format("{:05d}", number), urls.at(number - 1));
  out.href = base + object + "?" + sign_url(backend.jwt_key, "POST", object, grant, now);
  return out;
}

web::Answer put_part(const Backend& backend, web::Call& call) {
  const std::string_view oid = call.parameter("oid"), text = call.parameter("number");
  auto may = TRY(permit(backend, call, Operation::upload, oid));
  if (!may.grant || !may.grant->upload.starts_with(at_ours))
    return part_failure(403, "parts are uploaded by the URLs that the batch call gave");
  const unsigned number = to_number<unsigned>(text).value_or(0);
  if (number < 1 || number > may.grant->parts) return part_failure(404, "there is no such part");
  const PartPlan plan = plan_parts(may.grant->size);
  const std::uint64_t size = number < plan.count ? plan.chunk : may.grant->size - plan.chunk * (plan.count - 1);
  const auto differs = [&](std::uint64_t came) {
    return part_failure(422, fmt::format("part {} has {} bytes, not {}", number, size, came));
  };
  http::BodyReader& body = call.stream();
  if (body.length() && *body.length() != size) return differs(*body.length());
  auto upload = TRY(
      backend.store.create(part_key(may.repository.id, oid, may.grant->upload.substr(at_ours.size()), number), size));
  crypto::Sha256Stream hash;
  std::uint64_t came = 0;
  const auto space = std::make_unique<char[]>(256 * 1024);
  for (;;) {
    const auto got = body.read({space.get(), 256 * 1024});
    if (!got) return web::to_failure(got.error());
    if (*got == 0) break;
    came += *got;
    if (came > size) return differs(came);
    const std::string_view piece(space.get(), *got);
    hash.add(piece);
    TRY(upload->write(piece));
  }
  if (came != size) return differs(came);
  TRY(upload->commit());
  http::Response out = answer(200, "");
  out.headers.emplace_back("ETag", "\"" + crypto::to_hex(hash.finish()) + "\"");
  return out;
}

web::Answer finish_parts(const Backend& backend, web::Call& call) {
  const std::string_view oid = call.parameter("oid");
  auto may = TRY(permit(backend, call, Operation::upload, oid));
  if (!may.grant || may.grant->upload.empty())
    return part_failure(403, "an upload in parts is finished by the URL that the batch call gave");
  const auto body = TRY(read_body(call));
  const Grant& grant = *may.grant;
  const auto tags = TRY(read_tags(*body, oid, grant.parts));
  const std::int64_t id = may.repository.id;
  std::string_view upload = grant.upload;
  if (upload.starts_with(at_store)) {
    upload.remove_prefix(at_store.size());
    auto finished = backend.store.finish_parts(incoming_key(id, oid), std::string(upload), tags);
    if (!finished) {
      // Sent twice because the first answer was lost? Then the file is there.
      if (finished.error().fault == objects::Fault::away || finished.error().fault == objects::Fault::full)
        return to_failure(finished.error());
      log_cause(finished.error().message);
    }
    TRY(backend.large_files.confirm(id, oid, grant.size));
    return answer(200, "{}");
  }
  upload.remove_prefix(std::min(upload.size(), at_ours.size()));
  if (auto already = backend.large_files.confirm(id, oid, grant.size); already) return answer(200, "{}");
  std::vector<std::string> keys;
  for (unsigned number = 1; number <= grant.parts; ++number) keys.push_back(part_key(id, oid, upload, number));
  TRY(backend.large_files.receive(id, oid, grant.size,
                                  [source = std::make_shared<PartsSource>(backend.store, keys)](std::span<char> space) {
                                    return (*source)(space);
                                  }));
  for (const std::string& key : keys)
    if (auto gone = backend.store.remove(key); !gone) log_cause(gone.error().message);
  return answer(200, "{}");
}

}  // namespace stackgate::datastore::lfs
