#include <algorithm>
#include <set>

#include "services/kit/base/ascii.hpp"
#include "services/kit/grammar/names.hpp"
#include "tests/reconcile/plan/plan_checks.hpp"

namespace stackgate::reconcile::tests {
namespace {

namespace grammar = validate::grammar;

class Checker {
 public:
  explicit Checker(const Planned& planned) : planned_(planned) {}

  std::vector<std::string> run() {
    std::set<std::pair<ChildType, std::string>> seen;
    ChildType last = ChildType::service_account;
    for (std::size_t i = 0; i < planned_.bodies.size(); ++i) {
      const DesiredChild& child = planned_.plan.children[i];
      where_ = std::string(info(child.type).kind) + " " + child.name;
      expect(seen.emplace(child.type, child.name).second, "is planned twice");
      expect(child.type >= last, "comes too late");
      last = child.type;
      check_head(child, planned_.bodies[i]);
      // A resource of ours keeps what is empty.
      if (child.type != ChildType::inference_service) check_no_empty(planned_.bodies[i], "");
      if (child.type == ChildType::service) check_service(planned_.bodies[i]["spec"]);
      if (child.type == ChildType::deployment) check_deployment(planned_.bodies[i]["spec"]);
    }
    return std::move(faults_);
  }

 private:
  void expect(bool holds, const std::string& otherwise) {
    if (!holds) faults_.push_back(where_ + " " + otherwise);
  }
  template <class Grammar>
  void expect_name(Grammar&& grammar, const std::string& text, const std::string& what) {
    if (const auto bad = grammar(text)) faults_.push_back(where_ + ": " + what + " \"" + text + "\" " + bad->problem);
  }
  void expect_unique(std::set<std::string>& seen, const std::string& text, const std::string& what) {
    expect(seen.insert(text).second, "has two " + what + " \"" + text + "\"");
  }

  void check_labels(const Tree& labels) {
    for (const auto& [key, value] : labels.items()) {
      expect_name(grammar::check_label_key, key, "label key");
      expect_name(grammar::check_label_value, value.get<std::string>(), "label " + key);
    }
  }

  void check_head(const DesiredChild& child, const Tree& body) {
    const Tree& meta = body["metadata"];
    expect(body["kind"] == info(child.type).kind, "has another kind");
    expect(meta["name"] == child.name, "has another name inside");
    expect(meta["namespace"] == "team", "has another namespace");
    if (child.type == ChildType::service)
      expect_name(grammar::check_dns1035_label, child.name, "name");
    else
      expect_name(grammar::check_dns_subdomain, child.name, "name");
    check_labels(meta["labels"]);
    if (meta.contains("annotations"))
      for (const auto& [key, value] : meta["annotations"].items())
        expect_name(grammar::check_annotation_key, key, "annotation key");
    const bool kept = child.type == ChildType::persistent_volume_claim && !meta.contains("ownerReferences");
    expect(kept || meta["ownerReferences"].size() == 1, "has no owner");
  }

  /// The API server drops what is empty, so that it would never be found again. Objects that mean "all" or "this kind
  /// of volume" are kept.
  void check_no_empty(const Tree& tree, const std::string& key) {
    static const std::set<std::string> meaningful{"emptyDir",       "labelSelector",       "namespaceSelector",
                                                  "affinity",       "podAffinity",         "podAntiAffinity",
                                                  "nodeAffinity",   "preference",          "podAffinityTerm",
                                                  "seLinuxOptions", "nodeSelectorTerms[]", "selector"};
    if (!tree.is_structured()) return expect(!tree.is_null(), "has a null at " + key);
    expect(!tree.empty() || (tree.is_object() && meaningful.contains(key)), "has an empty " + key);
    for (const auto& [name, value] : tree.items()) check_no_empty(value, tree.is_array() ? key + "[]" : name);
  }

  void check_service(const Tree& spec) {
    std::set<std::string> names, numbers;
    for (const Tree& port : spec["ports"]) {
      const auto name = port["name"].get<std::string>();
      expect_name(grammar::check_dns_label, name, "port name");
      expect(name.size() <= 15 && !name.contains("--"), "has a port name that RFC 6335 does not allow: " + name);
      expect(std::ranges::any_of(name, ascii::is_lower), "has a port name without a letter: " + name);
      expect_unique(names, port["name"], "ports called");
      expect_unique(numbers, port["port"].dump(), "ports with the number");
    }
  }

  void check_container(const Tree& container, const std::set<std::string>& volumes, std::set<std::string>& mounted) {
    expect_name(grammar::check_dns_label, container["name"].get<std::string>(), "container name");
    expect(!container["image"].get<std::string>().empty(), "has no image");
    std::set<std::string> variables, paths, ports, numbers;
    for (const Tree& each : container.value("env", Tree::array())) {
      expect_name(grammar::check_env_name, each["name"].get<std::string>(), "variable");
      expect_unique(variables, each["name"], "variables");
    }
    for (const Tree& each : container.value("volumeMounts", Tree::array())) {
      expect_unique(paths, each["mountPath"], "mounts at");
      expect(volumes.contains(each["name"].get<std::string>()), "mounts a volume that is not there: " + each.dump());
      mounted.insert(each["name"].get<std::string>());
    }
    for (const Tree& each : container.value("ports", Tree::array())) {
      expect_unique(ports, each["name"], "container ports called");
      expect_unique(numbers, each["containerPort"].dump(), "container ports with the number");
    }
  }

  void check_deployment(const Tree& spec) {
    const Tree& pod = spec["template"];
    check_labels(pod["metadata"]["labels"]);
    for (const auto& [key, value] : spec["selector"]["matchLabels"].items())
      expect(pod["metadata"]["labels"].value(key, Tree()) == value, "selects by " + key + ", which its pods have not");
    std::set<std::string> volumes, mounted, containers;
    for (const Tree& volume : pod["spec"].value("volumes", Tree::array())) {
      expect_name(grammar::check_dns_label, volume["name"].get<std::string>(), "volume name");
      expect_unique(volumes, volume["name"], "volumes");
    }
    for (const char* list : {"initContainers", "containers"})
      for (const Tree& container : pod["spec"].value(list, Tree::array())) {
        expect_unique(containers, container["name"], "containers");
        check_container(container, volumes, mounted);
      }
    expect(mounted == volumes, "has a volume that nothing mounts");
  }

  const Planned& planned_;
  std::string where_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> faults_of(const Planned& planned) { return Checker(planned).run(); }

}  // namespace stackgate::reconcile::tests
