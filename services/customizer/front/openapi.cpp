#include "services/kit/web/openapi.hpp"

#include "services/customizer/front/route_table.hpp"
#include "services/kit/json/write.hpp"
#include "services/model/hyperparameters/hyperparameters.hpp"

namespace stackgate::customizer {
namespace openapi_detail {

constexpr std::string_view texts[] = {"name",         "model",       "config",      "dataset",     "dataset_repo",
                                      "dataset_path", "dataset_ref", "description", "output_model"};

void write_text(json::Writer& w, std::string_view name) {
  w.object(name, [&] { w.member("type", "string"); });
}

void write_hyperparameters_schema(json::Writer& w) {
  w.object("hyperparameters", [&] {
    w.member("type", "object");
    w.object("properties", [&] {
      for (const model::HyperparameterRange& each : model::hyperparameter_ranges())
        w.object(each.name, [&] {
          w.member("type", each.whole ? "integer" : "number");
          w.member("minimum", each.least);
          w.member("maximum", each.most);
        });
    });
  });
}

std::string customization_schema() {
  return json::object_text([&](json::Writer& w) {
    w.member("type", "object");
    w.member("additionalProperties", false);
    w.array("required", [&] { w.value("name"); });
    w.object("properties", [&] {
      for (const std::string_view each : texts) write_text(w, each);
      w.object("tags", [&] {
        w.member("type", "array");
        w.object("items", [&] { w.member("type", "string"); });
      });
      write_hyperparameters_schema(w);
    });
  });
}

}  // namespace openapi_detail

const std::string& openapi_document() {
  static const std::string schema = openapi_detail::customization_schema();
  static const web::NamedSchema schemas[] = {
      {"Customization", schema},
      {"Job", R"({"description": "a customization job as NeMo's customizer has it", "type": "object"})"},
  };
  static const std::string text =
      web::openapi_document("stackgate-customizer", web::to_operations(route_table()), schemas);
  return text;
}

}  // namespace stackgate::customizer
