#include "services/stackgate/plan/plan_command.hpp"

#include <algorithm>
#include <deque>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "reconcile/plan/stack_common.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/yaml/parse.hpp"
#include "services/kit/yaml_writer/write.hpp"
#include "services/stackgate/validate/inputs.hpp"
#include "validators/children.hpp"

namespace stackgate {
namespace {

using reconcile::ChildType;
using reconcile::Condition;
using reconcile::DesiredChild;
using reconcile::Plan;

/// An owner reference needs a uid, and only the API server gives one.
constexpr std::string_view no_uid = "00000000-0000-0000-0000-000000000000";
constexpr unsigned minor_with_autoscaling_v2 = 23;

struct PlannedChild {
  std::string owner;  // "InferenceService llm"
  reconcile::ChildBody body;
};

class PlanRun {
 public:
  PlanRun(const PlanOptions& options, const Console& console) : options_(options), console_(console) {}

  int run() {
    for (Input& input : read_inputs(options_.paths, console_.in)) load(std::move(input));
    for (const auto& [name, object] : objects_) plan(name, *object);
    if (options_.json)
      write_list();
    else
      write_documents();
    if (objects_.empty() && status_ == 0) {
      console_.err << "stackgate: there is no resource of " << crds::api_group << " to plan\n";
      return 2;
    }
    return status_;
  }

 private:
  struct File {
    Input input;
    yaml::Stream stream;
  };

  void load(Input given) {
    File& file = files_.emplace_back(File{std::move(given), {}});
    if (!file.input.problem.empty()) return unreadable(file.input.name, file.input.problem);
    file.stream = yaml::parse(file.input.text);
    for (const json::Document& document : file.stream.documents) add(file.input.name, document.root);
    if (file.stream.failed) {
      const yaml::Place place = yaml::locate(file.input.text, file.stream.error.offset);
      unreadable(fmt::format("{}:{}:{}", file.input.name, place.line, place.column), file.stream.error.message);
    }
  }

  void unreadable(std::string_view place, std::string_view why) {
    console_.err << place << ": " << why << '\n';
    status_ = 2;
  }

  void add(const std::string& file, const json::Value& object) {
    const json::Value* items = object.find("items");
    if (items != nullptr && items->is_array() && json::text(&object, {"kind"}).ends_with("List")) {
      for (const json::Value& item : items->items()) add(file, item);
      return;
    }
    if (json::text(&object, {"apiVersion"}) != crds::api_group_version) return;
    if (crds::kind_named(json::text(&object, {"kind"}))) objects_.emplace_back(file, &object);
  }

  /// As a ready cache would be: the one of that name among the inputs, or one with the usual claim.
  reconcile::CacheFacts cache_of(const json::Value* spec) const {
    const std::string_view name = json::text(spec, {"storage", "nimCache", "name"});
    if (name.empty()) return {};
    reconcile::CacheFacts out{
        .exists = true, .state = "Ready", .claim = validate::claim_name(name, {}), .sub_path = {}, .message = {}};
    for (const auto& [file, object] : objects_) {
      if (json::text(object, {"kind"}) != crds::info(crds::Kind::inference_cache).name) continue;
      if (json::text(object, {"metadata", "name"}) != name) continue;
      out.claim = validate::claim_name(name, json::text(object, {"spec", "storage", "pvc", "name"}));
      out.sub_path = json::text(object, {"spec", "storage", "pvc", "subPath"});
    }
    return out;
  }

  /// The administrator's Secret of the StackDatastore among the inputs that `spec` names.
  std::string_view datastore_admin_of(const json::Value* spec, std::string_view ns) const {
    const std::string_view name = reconcile::stack::datastore_named(spec, ns);
    for (const auto& [file, object] : objects_)
      if (json::text(object, {"kind"}) == crds::info(crds::Kind::stack_datastore).name &&
          json::text(object, {"metadata", "name"}) == name)
        return reconcile::stack::admin_secret_of(*object);
    return {};
  }

  void plan(const std::string& file, const json::Value& object) {
    static const json::Value nothing = json::Value::make_object({}, 0);
    const auto known = crds::kind_named(json::text(&object, {"kind"}));
    if (!known) return;
    const crds::Kind kind = *known;
    const std::string_view written_ns = json::text(&object, {"metadata", "namespace"});
    const std::string_view uid = json::text(&object, {"metadata", "uid"});
    const json::Value* spec = object.find("spec");
    const reconcile::Resource resource{.kind = kind,
                                       .ns = written_ns.empty() ? std::string_view(options_.ns) : written_ns,
                                       .name = json::text(&object, {"metadata", "name"}),
                                       .uid = uid.empty() ? no_uid : uid,
                                       .object = &object,
                                       .spec = spec == nullptr ? &nothing : spec,
                                       .status = nullptr};
    const std::string owner = fmt::format("{} {}", crds::info(kind).name, resource.name);
    const validate::Findings findings =
        validate::review({.kind = kind, .object = &object, .old = nullptr, .ns = resource.ns}, nullptr, options_.rules);
    reconcile::Observed observed;
    observed.cache = kind == crds::Kind::inference_service ? cache_of(resource.spec) : reconcile::CacheFacts{};
    if (kind == crds::Kind::stack_entitystore)
      observed.datastore_admin = datastore_admin_of(resource.spec, resource.ns);
    observed.served = {
        .autoscaling = options_.kubernetes_minor < minor_with_autoscaling_v2 ? "autoscaling/v2beta2" : "autoscaling/v2",
        .http_routes = true,
        .service_monitors = true,
        .leader_worker_sets = true};
    observed.findings = findings;
    const Plan made = reconcile::make_plan(resource, observed, options_.settings);
    if (made.status.state == reconcile::State::failed) complain(file, owner, made);
    for (const DesiredChild& child : made.children) {
      planned_.push_back({owner, child.body});
      if (child.type == ChildType::inference_service) plan(file, child.body.root());
    }
  }

  void complain(const std::string& file, const std::string& owner, const Plan& made) {
    status_ = std::max(status_, 1);
    for (const Condition& condition : made.status.conditions)
      if (condition.type == "Ready") console_.err << file << ": " << owner << ":\n" << condition.message << '\n';
  }

  void write_list() const {
    std::string out;
    json::Writer writer(out);
    writer.object([&] {
      writer.member("apiVersion", "v1");
      writer.member("kind", "List");
      writer.array("items", [&] {
        for (const PlannedChild& child : planned_) writer.raw(child.body.text());
      });
    });
    console_.out << out << '\n';
  }

  void write_documents() const {
    for (const PlannedChild& child : planned_)
      console_.out << "---\n# of " << child.owner << '\n' << yaml::to_yaml(child.body.root());
  }

  const PlanOptions& options_;
  const Console& console_;
  std::deque<File> files_;
  std::vector<std::pair<std::string, const json::Value*>> objects_;
  std::vector<PlannedChild> planned_;
  int status_ = 0;
};

}  // namespace

int run_plan(const PlanOptions& options, const Console& console) { return PlanRun(options, console).run(); }

}  // namespace stackgate
