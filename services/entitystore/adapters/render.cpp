#include "services/entitystore/adapters/render.hpp"

#include <cmath>

#include <fmt/format.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::entitystore {
namespace render_detail {

void number(json::Writer& w, std::string_view name, double value) {
  w.key(name);
  if (value == std::floor(value) && std::abs(value) < 1e15)
    w.value(static_cast<std::int64_t>(value));
  else
    w.value(value);
}

void texts(json::Writer& w, std::string_view name, const std::vector<std::string>& list) {
  w.array(name, [&] {
    for (const std::string& text : list) w.value(text);
  });
}

void given(json::Writer& w, std::string_view name, const std::string& text) {
  if (!text.empty()) w.member(name, std::string_view(text));
}

void raw(json::Writer& w, std::string_view name, const std::string& json) {
  w.key(name);
  w.raw(json.empty() ? std::string_view("{}") : std::string_view(json));
}

void head(json::Writer& w, const Record& r) {
  w.member("id", std::string_view(r.id));
  w.member("name", std::string_view(r.name));
  w.member("base_model", std::string_view(r.base_model));
  w.member("version", std::string_view(r.version));
  w.member("created_at", std::string_view(r.created_at));
  w.member("status", to_string(r.status));
}

void lora(json::Writer& w, const Record& r) {
  w.object("lora_config", [&] {
    w.member("rank", r.lora.rank);
    number(w, "alpha", r.lora.alpha);
    number(w, "dropout", r.lora.dropout);
    texts(w, "target_modules", r.lora.target_modules);
  });
}

/// The members of an object that is held as text, without its braces.
void spread(json::Writer& w, const std::string& object) {
  if (object.size() > 2) w.raw(std::string_view(object).substr(1, object.size() - 2));
}

void training(json::Writer& w, const Record& r) {
  w.object("training", [&] {
    w.member("dataset", std::string_view(r.dataset));
    w.member("job_id", std::string_view(r.job_id));
    raw(w, "hyperparameters", r.hyperparameters);
    spread(w, r.training);
  });
}

void storage(json::Writer& w, const Record& r) {
  w.object("storage", [&] {
    w.member("repository", std::string_view(r.repository));
    w.member("tag", tag_of(r.version));
    given(w, "commit", r.commit);
    w.member("archive", "adapter.tar.gz");
    w.member("archive_sha256", std::string_view(r.archive_sha256));
    w.member("archive_bytes", r.archive_bytes);
  });
}

}  // namespace render_detail

std::string to_summary(const Record& record) {
  return json::object_text([&](json::Writer& w) { render_detail::head(w, record); });
}

std::string to_detail(const Record& r, const DetailOptions& options) {
  namespace d = render_detail;
  return json::object_text([&](json::Writer& w) {
    d::head(w, r);
    w.member("namespace", std::string_view(r.name_space));
    w.member("updated_at", std::string_view(r.updated_at));
    d::given(w, "reason", r.reason);
    d::given(w, "description", r.description);
    d::given(w, "project", r.project);
    d::lora(w, r);
    if (!options.download_url.empty()) w.member("download_url", options.download_url);
    w.object("metadata", [&] {
      w.member("dataset", std::string_view(r.dataset));
      w.member("training_job", std::string_view(r.job_id));
    });
    d::training(w, r);
    d::raw(w, "metrics", r.metrics);
    d::texts(w, "tags", r.tags);
    d::storage(w, r);
    if (options.with_notes) d::texts(w, "warnings", r.notes);
  });
}

std::string to_nemo_model(const Record& r) {
  namespace d = render_detail;
  return json::object_text([&](json::Writer& w) {
    w.member("id", fmt::format("model-{}", r.id));
    w.member("name", fmt::format("{}@{}", r.name, r.version));
    w.member("namespace", std::string_view(r.name_space));
    w.member("description", std::string_view(r.description));
    w.member("base_model", std::string_view(r.base_model));
    w.object("artifact", [&] {
      w.member("status", "upload_completed");
      w.member("backend_engine", "peft");
      w.member("files_url", fmt::format("hf://{}@{}", r.repository, tag_of(r.version)));
    });
    w.object("peft", [&] {
      w.member("finetuning_type", "lora");
      w.member("rank", r.lora.rank);
      d::number(w, "alpha", r.lora.alpha);
    });
    w.member("schema_version", "1.0");
    d::given(w, "project", r.project);
    w.object("custom_fields", [&] {
      w.member("adapter_id", std::string_view(r.id));
      w.member("version", std::string_view(r.version));
      w.member("status", to_string(r.status));
    });
    w.member("created_at", std::string_view(r.created_at));
    w.member("updated_at", std::string_view(r.updated_at));
  });
}

std::string to_provenance(const Record& r, const std::vector<StoredFile>& files) {
  namespace d = render_detail;
  return json::object_text([&](json::Writer& w) {
    w.member("id", std::string_view(r.id));
    w.member("name", std::string_view(r.name));
    w.member("version", std::string_view(r.version));
    w.member("base_model", std::string_view(r.base_model));
    d::training(w, r);
    d::raw(w, "metrics", r.metrics);
    d::storage(w, r);
    w.array("files", [&] {
      for (const StoredFile& file : files)
        w.object([&] {
          w.member("path", std::string_view(file.path));
          w.member("size", file.size);
          w.member("sha256", std::string_view(file.sha256));
          w.member("lfs", file.large);
        });
    });
    d::texts(w, "warnings", r.notes);
  });
}

}  // namespace stackgate::entitystore
