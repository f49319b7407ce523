import type { Registry } from "@bufbuild/protobuf";
import type { FieldProblem } from "../errors/field-problem.js";
import { explainJson } from "../json/json-explain.js";
import { isOfTypedStruct, isTypedStruct, type TypedStruct, type UnpackedAny } from "../messages/any.js";
import { unknownTypeMessage } from "../messages/unknown-type.js";
import { schemaOf } from "../messages/v2-names.js";
import { withV2Names } from "../messages/v2-names-registry.js";
import { typeNameOf } from "../names/identifiers.js";

/** Packages whose types are all known. A TypedStruct is also for types of which nobody here has a schema. */
const ofEnvoy = /^(?:envoy|udpa|xds)\./;

/** How to look at the content of an `Any`. */
interface StructLook {
  readonly registry: Registry;
  /** Otherwise only a value that cannot be read is a problem. */
  readonly rules: boolean;
  /** Whether an extension is configured, so that its type must be known. */
  readonly isExtension: boolean;
}

/** What is wrong with the TypedStruct in an `Any`, besides the rules of the message that it stands for. */
export function structProblems(
  content: UnpackedAny,
  { registry, rules, isExtension }: StructLook,
): readonly FieldProblem[] {
  const { schema: own, message: whole, struct, isUnread } = content;
  if (struct === undefined && !isTypedStruct(own)) return none;
  const { typeUrl, value = {} } = struct?.message ?? (whole as TypedStruct);
  const schema = struct === undefined && !isUnread ? undefined : schemaOf(typeNameOf(typeUrl), registry);
  if (schema !== undefined) {
    if (struct !== undefined && !rules) return none;
    const problems = explainJson(schema, value, withV2Names(registry), !rules);
    if (problems.length > 0 || !isUnread) return problems.map((each) => ({ ...each, steps: ["value", ...each.steps] }));
    return [{ code: "XDSKIT_FIELD_INVALID", steps: ["value"], message: `is not a ${schema.typeName}` }];
  }
  if (!rules) return none;
  const steps = ["type_url"];
  // Extensions such as those in Go read a value without a type.
  if (typeUrl === "")
    return isExtension
      ? [{ code: "XDSKIT_TYPE_MISSING", steps, message: "must be set: it says what the value is" }]
      : none;
  if (!ofEnvoy.test(typeNameOf(typeUrl))) return none;
  const message = isOfTypedStruct({ typeUrl })
    ? "a TypedStruct holds no other one"
    : unknownTypeMessage(typeUrl, registry);
  return [{ code: "XDSKIT_TYPE_UNKNOWN", steps, message }];
}

const none: readonly FieldProblem[] = [];
