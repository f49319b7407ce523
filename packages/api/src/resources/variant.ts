import { type DescMessage, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import type { DynamicParameterConstraints } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { XdskitError } from "../errors/errors.js";
import type { ResourceName } from "../names/identifiers.js";
import { canonicalName } from "../names/xdstp.js";
import { envoyRegistry } from "../registry/registry.js";

/**
 * The clients that a variant is for: conditions on their dynamic parameters (`DynamicParameterConstraints`, xRFC TP2).
 * A client sends parameters with the name (`ResourceLocator`), or none.
 */
export type Constraints =
  | { readonly kind: "value"; readonly key: string; readonly value: string }
  | { readonly kind: "exists"; readonly key: string }
  /** At least one is satisfied. An empty list never is. */
  | { readonly kind: "any"; readonly of: readonly Constraints[] }
  /** All are satisfied. An empty list always is. */
  | { readonly kind: "all"; readonly of: readonly Constraints[] }
  | { readonly kind: "not"; readonly of: Constraints };

/** One of several resources with the same name. */
export interface Variant {
  readonly constraints: Constraints;
  /** The constraints in canonical form: equal constraints in any order are one variant. */
  readonly text: string;
  /** A serialized `DynamicParameterConstraints`. */
  readonly body: Uint8Array;
}

const messageName = "envoy.service.discovery.v3.DynamicParameterConstraints";
const deepest = 16;
const most = 500;

/** Separates the name from the variant in a key. No name from the wire can contain two high surrogates in a row. */
const separator = "\ud800\ud800";

/** A resource's key: its canonical name and the constraints of a variant. */
export function keyOf(name: ResourceName, variant: Variant | undefined): ResourceName {
  const canonical = canonicalName(name);
  return variant === undefined ? canonical : `${canonical}${separator}${variant.text}`;
}

/**
 * Whether a variant is for a client with these dynamic parameters. Parameters without a constraint do not matter (xRFC
 * TP2, "Unconstrained Parameters").
 */
export function holdsFor(constraints: Constraints, parameters: ReadonlyMap<string, string>): boolean {
  switch (constraints.kind) {
    case "value":
      return parameters.get(constraints.key) === constraints.value;
    case "exists":
      return parameters.has(constraints.key);
    case "any":
      return constraints.of.some((one) => holdsFor(one, parameters));
    case "all":
      return constraints.of.every((one) => holdsFor(one, parameters));
    case "not":
      return !holdsFor(constraints.of, parameters);
  }
}

/** Throws XDSKIT_CONSTRAINTS if they are nested too deeply or there are too many. */
export function variantOf(constraints: Constraints): Variant {
  const json = jsonOf(constraints, 1, { left: most });
  const schema = envoyRegistry().getMessage(messageName) as DescMessage;
  return { constraints, text: JSON.stringify(json), body: toBinary(schema, fromJson(schema, json)) };
}

/** Reads a `DynamicParameterConstraints` message. Throws XDSKIT_CONSTRAINTS if a part is missing. */
export function constraintsOf(message: object, depth = 1): Constraints {
  if (depth > deepest) throw tooMany();
  const { type } = message as DynamicParameterConstraints;
  switch (type.case) {
    case "constraint": {
      const { key, constraintType: by } = type.value;
      if (by.case === "value") return { kind: "value", key, value: by.value };
      if (by.case === "exists") return { kind: "exists", key };
      throw refusedConstraint(`the constraint on ${JSON.stringify(key)} says neither a value nor exists`);
    }
    case "orConstraints":
      return { kind: "any", of: type.value.constraints.map((one) => constraintsOf(one, depth + 1)) };
    case "andConstraints":
      return { kind: "all", of: type.value.constraints.map((one) => constraintsOf(one, depth + 1)) };
    case "notConstraints":
      return { kind: "not", of: constraintsOf(type.value, depth + 1) };
    default:
      throw refusedConstraint(
        "dynamic_parameter_constraints hold nothing: leave them out where a resource is for all clients",
      );
  }
}

/** The canonical JSON of constraints: sorted lists without duplicates. */
function jsonOf(constraints: Constraints, depth: number, count: { left: number }): JsonObject {
  count.left -= 1;
  if (depth > deepest || count.left < 0) throw tooMany();
  switch (constraints.kind) {
    case "value":
      return { constraint: { key: constraints.key, value: constraints.value } };
    case "exists":
      return { constraint: { key: constraints.key, exists: {} } };
    case "not":
      return { notConstraints: jsonOf(constraints.of, depth + 1, count) };
    default: {
      const parts = new Map(
        constraints.of.map((one) => {
          const json = jsonOf(one, depth + 1, count);
          return [JSON.stringify(json), json] as const;
        }),
      );
      const sorted = [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, json]) => json);
      return { [constraints.kind === "any" ? "orConstraints" : "andConstraints"]: { constraints: sorted } };
    }
  }
}

function tooMany(): XdskitError {
  return refusedConstraint(`at most ${most} constraints, ${deepest} deep, are read`);
}

function refusedConstraint(message: string): XdskitError {
  return XdskitError.of("XDSKIT_CONSTRAINTS", message, {});
}
