// POST /v1/adapters: multipart/form-data with the parts `adapter` and `metadata`, in either order.
#include <algorithm>

#include <fmt/format.h>

#include "services/entitystore/adapters/render.hpp"
#include "services/entitystore/api/handlers.hpp"
#include "services/entitystore/registration/intake.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/answer.hpp"
#include "services/kit/web/body_schema.hpp"
#include "services/kit/web/multipart.hpp"

namespace stackgate::entitystore {
namespace upload_detail {

constexpr std::size_t metadata_bytes = std::size_t{1} << 20U;

web::Failure storage_failure(ServiceError why) {
  log::error("an upload could not be kept", {{"reason", why.message}});
  if (why.fault == ServiceFault::full) why.message += "; free space on the service's data volume and upload again";
  return web::to_failure(why);
}

class Upload {
 public:
  Upload(const Api& api, std::string id)
      : api_(api), id_(std::move(id)), intake_(api.spool, id_, api.registrar.options().inspect) {
    api_.registrar.hold(id_);
  }
  ~Upload() {
    if (!entered_) api_.spool.remove(id_);
    api_.registrar.release(id_);
  }
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  web::PartEvents events() {
    return {.begin = [this](const web::PartHead& head) { return begin(head); },
            .data = [this](std::string_view bytes) { return data(bytes); },
            .end = [] { return std::expected<void, web::Failure>(); }};
  }

  std::expected<Record, web::Failure> enter() {
    validate::Findings findings = std::move(findings_);
    const auto missing = [&](std::string_view part, std::string_view what) {
      peft::add(findings, "upload-part-missing", std::string(part), "is missing",
                fmt::format("send a part \"{}\" with {}", part, what));
    };
    if (!has_metadata_) missing("metadata", "JSON: name, base_model and version");
    if (!has_adapter_) missing("adapter", "the adapter's tar.gz");
    MetadataRead metadata;
    if (has_metadata_) metadata = read_metadata(metadata_);
    append_findings(findings, metadata.findings);
    std::optional<Intake::Outcome> upload;
    if (has_adapter_) {
      auto finished = intake_.finish(true);
      if (!finished) return std::unexpected(storage_failure(finished.error()));
      upload = std::move(*finished);
      append_findings(findings,
                      judge(upload->inspected, metadata.metadata, shape_of(metadata.metadata.record), api_.serving));
    }
    if (validate::has_errors(findings)) return std::unexpected(web::unprocessable(std::move(findings)));
    Record record = std::move(metadata.metadata.record);
    for (const validate::Finding& finding : findings)
      record.notes.push_back(fmt::format("{} {}", finding.path, validate::to_line(finding)));
    record.id = id_;
    record.created_at = record.updated_at = timestamp();
    entered_ = true;  // from here on the registrar decides what stays in the spool
    return api_.registrar.enter(std::move(record), *upload, silence_);
  }

  std::uint64_t bytes() const { return bytes_; }

 private:
  /// The base model's own sizes, if the datastore has that model.
  std::optional<peft::ModelShape> shape_of(const Record& record) {
    const bool plain = std::ranges::count(record.base_model, '/') == 1 && !record.base_model.contains("..") &&
                       record.base_model.find_first_of(":@\\ ?#") == std::string::npos;
    if (!plain) return std::nullopt;
    const auto text = api_.datastore.small_file(record.base_model, "config.json");
    if (!text && text.error().silent()) silence_ = text.error();
    return text && *text ? peft::read_model_shape(**text) : std::nullopt;
  }

  std::expected<void, web::Failure> begin(const web::PartHead& head) {
    at_ = Part::other;
    if (head.name == "adapter" || head.name == "metadata") {
      bool& had = head.name == "adapter" ? has_adapter_ : has_metadata_;
      if (had)
        return std::unexpected(
            web::Failure{.status = 400, .message = fmt::format("the part \"{}\" comes twice", head.name)});
      had = true;
      at_ = head.name == "adapter" ? Part::adapter : Part::metadata;
    } else {
      peft::warn(findings_, "upload-part-unknown", head.name.substr(0, 100), "is a part that means nothing here",
                 "send adapter and metadata");
    }
    if (at_ == Part::adapter && head.file_name && head.file_name->ends_with(".nemo"))
      findings_.push_back(peft::nemo_finding());
    return {};
  }

  std::expected<void, web::Failure> data(std::string_view bytes) {
    if (at_ == Part::metadata) {
      if (metadata_.size() + bytes.size() > metadata_bytes)
        return std::unexpected(web::Failure{.status = 413, .message = "the metadata has more than 1 MiB"});
      metadata_ += bytes;
    } else if (at_ == Part::adapter) {
      bytes_ += bytes.size();
      if (bytes_ > api_.archive_bytes)
        return std::unexpected(web::Failure{
            .status = 413,
            .message = fmt::format("the archive has more than {} bytes (--max-archive)", api_.archive_bytes)});
      if (auto kept = intake_.add(bytes); !kept) return std::unexpected(storage_failure(kept.error()));
    }
    return {};
  }

  enum class Part : std::uint8_t { other, adapter, metadata };

  const Api& api_;
  const std::string id_;
  Intake intake_;
  Part at_ = Part::other;
  bool has_adapter_ = false, has_metadata_ = false, entered_ = false;
  std::string metadata_;
  std::uint64_t bytes_ = 0;
  std::optional<DatastoreError> silence_;
  validate::Findings findings_;
};

}  // namespace upload_detail

web::Answer upload_adapter(const Api& api, web::Call& call) {
  upload_detail::Upload upload(api, "adapter-" + crypto::random_hex(12));
  if (auto read = web::read_multipart(call, upload.events(), {.parts = 10}); !read) return read.error();
  auto record = TRY(upload.enter());
  note_access(api, call, record.id, "upload", upload.bytes());
  const auto listed = api.catalogue.snapshot()->find(record.id);
  const Record& now = listed ? listed->record : record;
  return http::Response{.status = 201,
                        .headers = {{"Location", fmt::format("/v1/adapters/{}", now.id)}},
                        .body = to_detail(now, {.download_url = download_url(api, call, now), .with_notes = true})};
}

}  // namespace stackgate::entitystore
