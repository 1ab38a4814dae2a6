// Holds what tests/e2e/model/adapter.sh draws against a base: a JSON line {"config": text, "tensors": {name: shape}}
// in, a JSON line {"modules": {name: [rank, scale]}} or {"errors": [...]} out. The base has three layers of the widths
// below.
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/model/adapter/adapter.hpp"

namespace {

using namespace stackgate;

const model::Config base{.hidden = 8,
                         .intermediate = 12,
                         .layers = 3,
                         .heads = 4,
                         .key_value_heads = 2,
                         .head_width = 6,
                         .vocabulary = 30,
                         .context = 16};

safetensors::FileHeader header(const json::Value& tensors) {
  safetensors::FileHeader out;
  for (const json::Member& each : tensors.members()) {
    safetensors::Tensor tensor{.name = std::string(each.key), .dtype = "F32", .shape = {}};
    for (const json::Value& size : each.value.items())
      tensor.shape.push_back(static_cast<std::uint64_t>(size.integer()));
    out.header.tensors.push_back(std::move(tensor));
  }
  return out;
}

std::string answer(const json::Value& job) {
  const json::Value tensors = *job.find("tensors");
  const auto [adapter, findings] = model::check_adapter(base, json::text_at(job, "config"), header(tensors));
  return json::object_text([&](json::Writer& writer) {
    if (validate::has_errors(findings))
      return writer.array("errors", [&] {
        for (const auto& each : findings) writer.value(each.path + ": " + each.problem);
      });
    writer.object("modules", [&] {
      for (const model::AdapterModule& each : adapter.modules) {
        const bool in_layer = each.linear != model::Linear::head;
        const std::string layer = in_layer ? fmt::format("model.layers.{}.", each.layer) : "";
        writer.array(layer + std::string(to_string(each.linear)), [&] {
          writer.value(each.rank);
          writer.value(each.scale);
        });
      }
    });
  });
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    json::Document document;
    std::cout << answer(json::parse(line, document).value()) << '\n';
  }
}
