// The rules, one function per kind or concern. Each takes the whole object (apiVersion, kind, metadata, spec) and
// reports into the context; the table in rulebook.cpp says which run for which kind.
#pragma once
#include "validators/rules/context.hpp"

namespace stackgate::validate {

using Check = void (*)(Context& context, Field object);

void check_metadata(Context& context, Field object);  // names, labels, annotations, names of children: every kind

void check_inference_service(Context& context, Field object);
void check_inference_cache(Context& context, Field object);
void check_inference_pipeline(Context& context, Field object);

/// What the five stack kinds share: image, expose, replicas, resources, env, metrics, otel, databaseConfig, pod knobs.
/// Runs before the kind's own function.
void check_stack_common(Context& context, Field object);
void check_stack_datastore(Context& context, Field object);
void check_stack_entitystore(Context& context, Field object);
void check_stack_customizer(Context& context, Field object);
void check_stack_evaluator(Context& context, Field object);
void check_stack_guardrail(Context& context, Field object);

/// Objects that the resource names (lookup.hpp). Run only with a lookup.
void check_references(Context& context, Field object);
void check_neighbours(Context& context, Field object);

/// Rules that compare with what is stored. Run only on an update.
void check_update(Context& context, Field object, Field old);

/// The users of an InferenceCache that shall be deleted.
void check_deletion(Context& context, Field object);

}  // namespace stackgate::validate
