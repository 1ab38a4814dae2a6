#include "services/inference/api/other_answers.hpp"

#include <bit>

#include <fmt/format.h>

#include "services/inference/api/answer.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::inference {
namespace {

void write_model(json::Writer& w, const ServedModel& model) {
  w.member("id", model.id);
  w.member("object", "model");
  w.member("created", model.created);
  w.member("owned_by", model.owned_by);
  w.member("root", model.root);
  if (model.parent.empty())
    w.member("parent", nullptr);
  else
    w.member("parent", model.parent);
  w.member("max_model_len", model.context);
  w.array("permission", [] {});
}

std::string little_endian(std::span<const float> values) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(float));
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes += static_cast<char>(static_cast<unsigned char>(bits >> shift));
  }
  return bytes;
}

}  // namespace

std::string models_answer(std::span<const ServedModel> models) {
  return json::object_text([&](json::Writer& w) {
    w.member("object", "list");
    w.array("data", [&] {
      for (const ServedModel& each : models) w.object([&] { write_model(w, each); });
    });
  });
}

std::string model_answer(const ServedModel& model) {
  return json::object_text([&](json::Writer& w) { write_model(w, model); });
}

std::string embeddings_answer(std::string_view model, std::span<const std::vector<float>> vectors, bool base64,
                              std::uint64_t prompt_tokens) {
  return json::object_text([&](json::Writer& w) {
    w.member("object", "list");
    w.array("data", [&] {
      for (std::size_t i = 0; i < vectors.size(); ++i)
        w.object([&] {
          w.member("object", "embedding");
          w.member("index", static_cast<std::uint64_t>(i));
          if (base64)
            w.member("embedding", base64::encode(little_endian(vectors[i])));
          else
            w.array("embedding", [&] {
              for (const float value : vectors[i]) write_float(w, value);
            });
        });
    });
    w.member("model", model);
    w.object("usage", [&] {
      w.member("prompt_tokens", prompt_tokens);
      w.member("total_tokens", prompt_tokens);
    });
  });
}

std::string tokenize_answer(std::span<const TokenId> tokens, std::uint32_t context,
                            const std::optional<std::vector<std::string>>& names) {
  return json::object_text([&](json::Writer& w) {
    w.member("count", static_cast<std::uint64_t>(tokens.size()));
    w.member("max_model_len", context);
    w.array("tokens", [&] {
      for (const TokenId id : tokens) w.value(id);
    });
    if (!names) return w.member("token_strs", nullptr);
    w.array("token_strs", [&] {
      for (const std::string& name : *names) w.value(name);
    });
  });
}

std::string detokenize_answer(std::string_view text) {
  return json::object_text([&](json::Writer& w) { w.member("prompt", text); });
}

std::string version_answer() {
  return json::object_text([](json::Writer& w) {
    w.member("release", version);
    w.member("api", "1.0.0");
    w.member("version", version);
  });
}

std::string adapter_loaded(std::string_view name) {
  return fmt::format("Success: LoRA adapter '{}' added successfully.", name);
}

std::string adapter_unloaded(std::string_view name) {
  return fmt::format("Success: LoRA adapter '{}' removed successfully.", name);
}

}  // namespace stackgate::inference
