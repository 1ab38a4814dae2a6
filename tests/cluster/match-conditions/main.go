// Evaluates the match conditions of webhook configurations as an API server does, with that server's own code, for tests
// beside a server that is too old for them.
//
//	match-conditions CONFIGURATIONS < REQUESTS
//
// CONFIGURATIONS: MutatingWebhookConfigurations and ValidatingWebhookConfigurations, a stream of JSON.
// REQUESTS: {"name": …, "operation": "UPDATE", "object": {…}, "oldObject": {…} or null}, a stream of JSON.
// Prints "compiled WEBHOOK CONDITION" for each condition that the oldest API server with match conditions would store, and
// for each request and webhook "NAME WEBHOOK asked", "… not asked: CONDITION" or "… error: WHY", separated by tabs.
// Exit status 1: an expression does not compile; 2: the input is wrong.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
)

// The first version in which they are on by default; the chart leaves them out for older ones.
var oldest = version.MajorMinor(1, 28)

type request struct {
	Name              string
	Operation         admission.Operation
	Object, OldObject content
}

// content is null or an object, with whole numbers as int64, as the server has it.
type content map[string]interface{}

func (c *content) UnmarshalJSON(text []byte) error { return utiljson.Unmarshal(text, (*map[string]interface{})(c)) }

// object is nil for null: a nil map in an interface would be something else.
func (c content) object() runtime.Object {
	if c == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: c}
}

// attributes are what the API server knows of the request when it decides whether to ask.
func (r request) attributes() (*admission.VersionedAttributes, error) {
	some := r.Object
	if some == nil {
		some = r.OldObject
	}
	if some == nil {
		return nil, fmt.Errorf("the request %q has neither object nor oldObject", r.Name)
	}
	object := unstructured.Unstructured{Object: some}
	kind := object.GroupVersionKind()
	plural := schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: "resources"}
	record := admission.NewAttributesRecord(r.Object.object(), r.OldObject.object(), kind, object.GetNamespace(), object.GetName(),
		plural, "", r.Operation, nil, false, &user.DefaultInfo{Name: "somebody"})
	return &admission.VersionedAttributes{Attributes: record, VersionedObject: r.Object.object(),
		VersionedOldObject: r.OldObject.object(), VersionedKind: kind}, nil
}

// each decodes a stream of JSON.
func each[T any](in io.Reader, do func(T) error) error {
	for decoder := json.NewDecoder(in); ; {
		var one T
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := do(one); err != nil {
			return err
		}
	}
}

func readWebhooks(path string) ([]webhook.WebhookAccessor, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out []webhook.WebhookAccessor
	err = each(file, func(raw json.RawMessage) error {
		var kind struct{ Kind string }
		if err := json.Unmarshal(raw, &kind); err != nil {
			return err
		}
		switch kind.Kind {
		case "MutatingWebhookConfiguration":
			var config registration.MutatingWebhookConfiguration
			if err := json.Unmarshal(raw, &config); err != nil {
				return err
			}
			for i := range config.Webhooks {
				out = append(out, webhook.NewMutatingWebhookAccessor(config.Webhooks[i].Name, config.Name, &config.Webhooks[i]))
			}
		case "ValidatingWebhookConfiguration":
			var config registration.ValidatingWebhookConfiguration
			if err := json.Unmarshal(raw, &config); err != nil {
				return err
			}
			for i := range config.Webhooks {
				out = append(out, webhook.NewValidatingWebhookAccessor(config.Webhooks[i].Name, config.Name, &config.Webhooks[i]))
			}
		default:
			return fmt.Errorf("%s: a %s is no webhook configuration", path, kind.Kind)
		}
		return nil
	})
	return out, err
}

// compile says whether the conditions would be stored: by the environment for new expressions, which has only what the
// oldest version knows.
func compile(hooks []webhook.WebhookAccessor) (faults int) {
	compiler := cel.NewCompiler(environment.MustBaseEnvSet(oldest))
	variables := cel.OptionalVariableDeclarations{HasParams: false, HasAuthorizer: true}
	for _, hook := range hooks {
		for _, condition := range hook.GetMatchConditions() {
			expression := matchconditions.MatchCondition(condition)
			if result := compiler.CompileCELExpression(&expression, variables, environment.NewExpressions); result.Error != nil {
				fmt.Printf("refused\t%s\t%s\t%s\n", hook.GetName(), condition.Name, result.Error.Detail)
				faults++
				continue
			}
			fmt.Printf("compiled\t%s\t%s\n", hook.GetName(), condition.Name)
		}
	}
	return faults
}

func evaluate(hooks []webhook.WebhookAccessor, in io.Reader) error {
	compiler := cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	return each(in, func(one request) error {
		attributes, err := one.attributes()
		if err != nil {
			return err
		}
		for _, hook := range hooks {
			verdict := "asked"
			result := hook.GetCompiledMatcher(compiler).Match(context.Background(), attributes, nil, nil)
			switch {
			case result.Error != nil:
				verdict = "error: " + result.Error.Error()
			case !result.Matches:
				verdict = "not asked: " + result.FailedConditionName
			}
			fmt.Printf("%s\t%s\t%s\n", one.Name, hook.GetName(), verdict)
		}
		return nil
	})
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: match-conditions CONFIGURATIONS < REQUESTS")
		os.Exit(2)
	}
	hooks, err := readWebhooks(os.Args[1])
	if err == nil && len(hooks) == 0 {
		err = errors.New("there is no webhook in " + os.Args[1])
	}
	if err == nil {
		if compile(hooks) > 0 {
			os.Exit(1)
		}
		err = evaluate(hooks, os.Stdin)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "match-conditions:", err)
		os.Exit(2)
	}
}
