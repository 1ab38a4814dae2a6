// Renders a Helm chart as `helm template` does, for machines without Helm: values merged and held against
// values.schema.json, templates with sprig, include, required, tpl and toYaml, objects in the order of installation.
//
//	render [flags] CHART
//
// Stricter than Helm, because it is for tests: a value that is missing, a document that is not an object and an object
// that is there twice are errors.
//
// The libraries are those that Helm itself uses (or, for YAML, the one that its was made from), in Debian's versions.
// Source of the rules: https://helm.sh/docs/chart_template_guide/ and https://helm.sh/docs/topics/charts_hooks/
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/semver"
	"github.com/Masterminds/sprig"
	"github.com/ghodss/yaml"
	"github.com/xeipuuv/gojsonschema"
)

type object = map[string]interface{}

// The order in which Helm installs kinds; unknown ones come last.
var installOrder = strings.Fields(`Namespace NetworkPolicy ResourceQuota LimitRange PodDisruptionBudget ServiceAccount
	Secret ConfigMap StorageClass PersistentVolume PersistentVolumeClaim CustomResourceDefinition ClusterRole
	ClusterRoleBinding Role RoleBinding Service DaemonSet Pod ReplicaSet Deployment HorizontalPodAutoscaler StatefulSet
	Job CronJob IngressClass Ingress APIService MutatingWebhookConfiguration ValidatingWebhookConfiguration`)

// What a server of today serves, as far as charts ask; -api-versions replaces it.
const apiVersions = "v1,apps/v1,batch/v1,policy/v1,autoscaling/v2,networking.k8s.io/v1,rbac.authorization.k8s.io/v1"

type listFlag []string

func (l *listFlag) String() string     { return strings.Join(*l, ",") }
func (l *listFlag) Set(s string) error { *l = append(*l, s); return nil }

type versionSet []string

// Has answers for "policy/v1" and for "policy/v1/PodDisruptionBudget".
func (v versionSet) Has(wanted string) bool {
	for _, each := range v {
		if each == wanted || strings.HasPrefix(wanted, each+"/") {
			return true
		}
	}
	return false
}

// The chart's own files, as templates read them.
type chartFiles string

func (f chartFiles) Get(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(string(f), filepath.Clean("/"+name)))
	return string(text), err
}

type kubeVersion struct{ Version, Major, Minor string }

func (k kubeVersion) String() string     { return k.Version }
func (k kubeVersion) GitVersion() string { return k.Version }

type manifest struct {
	source, text, json, kind, name string
	hook                           bool
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}

func run() error {
	var files, sets listFlag
	flag.Var(&files, "f", "values `file`; several are merged in order")
	flag.Var(&sets, "set", "`a.b=value`, the value in YAML")
	release := flag.String("release", "stackgate", "name of the release")
	namespace := flag.String("namespace", "stackgate-system", "its namespace")
	manager := flag.String("manager", "Helm", "what .Release.Service says")
	kube := flag.String("kube-version", "1.28.0", "version of Kubernetes")
	apis := flag.String("api-versions", apiVersions, "what the server serves, with commas")
	upgrade := flag.Bool("is-upgrade", false, "an upgrade, not an installation")
	noHooks := flag.Bool("no-hooks", false, "leave hooks out")
	asJson := flag.Bool("json", false, "print one line of JSON for each object")
	onlyValues := flag.Bool("values", false, "print the merged values as JSON instead")
	notes := flag.Bool("notes", false, "print NOTES.txt instead")
	flag.Parse()
	if flag.NArg() != 1 {
		return errors.New("it takes the chart's folder; -help tells the flags")
	}
	chart := flag.Arg(0)

	metadata, err := chartMetadata(chart, *kube)
	if err != nil {
		return err
	}
	values, err := mergedValues(chart, files, sets)
	if err != nil {
		return err
	}
	if err := checkSchema(chart, values); err != nil {
		return err
	}
	if *onlyValues {
		return json.NewEncoder(os.Stdout).Encode(values)
	}
	version, err := semver.NewVersion(*kube)
	if err != nil {
		return fmt.Errorf("-kube-version %s: %w", *kube, err)
	}
	top := object{
		"Files":  chartFiles(chart),
		"Chart":  metadata,
		"Values": values,
		"Release": object{"Name": *release, "Namespace": *namespace, "Service": *manager, "Revision": 1,
			"IsInstall": !*upgrade, "IsUpgrade": *upgrade},
		"Capabilities": object{"APIVersions": versionSet(strings.Split(*apis, ",")),
			"KubeVersion": kubeVersion{"v" + version.String(), fmt.Sprint(version.Major()), fmt.Sprint(version.Minor())}},
	}
	rendered, err := renderAll(chart, metadata["Name"].(string), top)
	if err != nil {
		return err
	}
	if *notes {
		fmt.Print(rendered["templates/NOTES.txt"])
		return nil
	}
	manifests, err := split(rendered)
	if err != nil {
		return err
	}
	for _, each := range manifests {
		switch {
		case each.hook && *noHooks:
		case *asJson:
			fmt.Println(each.json)
		default:
			fmt.Printf("---\n# Source: %s/%s\n%s\n", metadata["Name"], each.source, each.text)
		}
	}
	return nil
}

// chartMetadata is Chart.yaml with the names that templates use.
func chartMetadata(chart, kube string) (object, error) {
	raw := object{}
	if err := readYaml(filepath.Join(chart, "Chart.yaml"), &raw); err != nil {
		return nil, err
	}
	out := object{}
	for key, value := range raw {
		out[strings.ToUpper(key[:1])+key[1:]] = value
	}
	for _, key := range []string{"Name", "Version", "ApiVersion"} {
		if text, ok := out[key].(string); !ok || text == "" {
			return nil, fmt.Errorf("Chart.yaml: %s is missing", key)
		}
	}
	if _, err := semver.NewVersion(out["Version"].(string)); err != nil {
		return nil, fmt.Errorf("Chart.yaml: version: %w", err)
	}
	if wanted, ok := out["KubeVersion"].(string); ok {
		constraint, err := semver.NewConstraint(wanted)
		if err != nil {
			return nil, fmt.Errorf("Chart.yaml: kubeVersion: %w", err)
		}
		if version, err := semver.NewVersion(kube); err == nil && !constraint.Check(version) {
			return nil, fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", wanted, kube)
		}
	}
	return out, nil
}

func readYaml(path string, into interface{}) error {
	text, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func mergedValues(chart string, files, sets []string) (object, error) {
	values := object{}
	for _, path := range append([]string{filepath.Join(chart, "values.yaml")}, files...) {
		more := object{}
		if err := readYaml(path, &more); err != nil {
			return nil, err
		}
		merge(values, more)
	}
	for _, set := range sets {
		path, text, found := strings.Cut(set, "=")
		if !found {
			return nil, fmt.Errorf("-set %s: write path=value", set)
		}
		var value interface{}
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			return nil, fmt.Errorf("-set %s: %w", set, err)
		}
		keys := strings.Split(path, ".")
		for i := len(keys) - 1; i > 0; i-- {
			value = object{keys[i]: value}
		}
		merge(values, object{keys[0]: value})
	}
	return values, nil
}

// merge puts `more` over `base`: maps member by member, null removes, everything else replaces.
func merge(base, more object) {
	for key, value := range more {
		before, was := base[key].(object)
		after, is := value.(object)
		switch {
		case value == nil:
			delete(base, key)
		case was && is:
			merge(before, after)
		default:
			base[key] = value
		}
	}
}

func checkSchema(chart string, values object) error {
	schema, err := os.ReadFile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		return err
	}
	text, err := json.Marshal(values)
	if err != nil {
		return err
	}
	result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(schema), gojsonschema.NewBytesLoader(text))
	if err != nil {
		return fmt.Errorf("values.schema.json: %w", err)
	}
	if result.Valid() {
		return nil
	}
	words := []string{"values don't meet the specifications of the schema(s):"}
	for _, fault := range result.Errors() {
		words = append(words, "- "+fault.String())
	}
	return errors.New(strings.Join(words, "\n"))
}

func renderAll(chart, name string, top object) (map[string]string, error) {
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	toYaml := func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	functions["toYaml"] = toYaml
	functions["fromYaml"] = func(text string) (out object, err error) { err = yaml.Unmarshal([]byte(text), &out); return }
	functions["required"] = func(words string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(words)
		}
		return value, nil
	}
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out bytes.Buffer
		err := all.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	functions["tpl"] = func(text string, data interface{}) (string, error) {
		copied, err := all.Clone()
		if err != nil {
			return "", err
		}
		var out bytes.Buffer
		if copied, err = copied.New("tpl").Parse(text); err == nil {
			err = copied.Execute(&out, data)
		}
		return out.String(), err
	}
	all.Funcs(functions)

	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s has no templates", chart)
	}
	sort.Strings(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if _, err := all.New("templates/" + filepath.Base(file)).Parse(string(text)); err != nil {
			return nil, err
		}
	}
	out := map[string]string{}
	for _, file := range files {
		path := "templates/" + filepath.Base(file)
		if strings.HasPrefix(filepath.Base(file), "_") {
			continue
		}
		data := object{"Template": object{"Name": name + "/" + path, "BasePath": name + "/templates"}}
		for key, value := range top {
			data[key] = value
		}
		var text bytes.Buffer
		if err := all.ExecuteTemplate(&text, path, data); err != nil {
			return nil, err
		}
		if strings.Contains(text.String(), "<no value>") {
			return nil, fmt.Errorf("%s: a value is missing (<no value>)", path)
		}
		out[path] = text.String()
	}
	return out, nil
}

var separator = regexp.MustCompile(`(?m)^---[ \t]*$`)

func split(rendered map[string]string) ([]manifest, error) {
	var out []manifest
	seen := map[string]string{}
	for path, text := range rendered {
		if strings.HasSuffix(path, ".txt") {
			continue
		}
		for _, document := range separator.Split(text, -1) {
			document = strings.TrimSpace(document)
			parsed := object{}
			if err := yaml.Unmarshal([]byte(document), &parsed, yaml.DisallowUnknownFields); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", path, err, document)
			}
			if len(parsed) == 0 {
				continue
			}
			kind, _ := parsed["kind"].(string)
			metadata, _ := parsed["metadata"].(object)
			name, _ := metadata["name"].(string)
			if kind == "" || name == "" || parsed["apiVersion"] == nil {
				return nil, fmt.Errorf("%s: a document without apiVersion, kind or metadata.name:\n%s", path, document)
			}
			key := fmt.Sprint(kind, " ", metadata["namespace"], " ", name)
			if other, twice := seen[key]; twice {
				return nil, fmt.Errorf("%s: %s stands in %s, too", path, key, other)
			}
			seen[key] = path
			annotations, _ := metadata["annotations"].(object)
			_, hook := annotations["helm.sh/hook"]
			line, err := json.Marshal(parsed)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			out = append(out, manifest{path, document, string(line), kind, name, hook})
		}
	}
	rank := func(kind string) int {
		for i, each := range installOrder {
			if each == kind {
				return i
			}
		}
		return len(installOrder)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.hook != b.hook {
			return b.hook
		}
		if rank(a.kind) != rank(b.kind) {
			return rank(a.kind) < rank(b.kind)
		}
		if a.name != b.name {
			return a.name < b.name
		}
		return a.text < b.text
	})
	return out, nil
}
