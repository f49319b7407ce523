import { type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { createUnpack, type Unpack } from "../messages/any.js";
import { anyDepth } from "../messages/depths.js";
import { createPlans, fieldValue, type WalkPlan } from "../messages/walk-plan.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";

const ext = "envoy.extensions.";

/** What it takes an Envoy to judge, by the message that holds it. */
const kinds: Readonly<Record<string, string>> = {
  [`${ext}filters.http.lua.v3.Lua`]: "Lua",
  [`${ext}filters.http.lua.v3.LuaPerRoute`]: "Lua",
  [`${ext}router.cluster_specifiers.lua.v3.LuaConfig`]: "Lua",
  [`${ext}access_loggers.filters.cel.v3.ExpressionFilter`]: "CEL",
  "cel.expr.Expr": "CEL",
  "google.api.expr.v1alpha1.Expr": "CEL",
  "xds.type.v3.CelExpression": "CEL",
  [`${ext}filters.http.jwt_authn.v3.JwtProvider`]: "JWKS",
  [`${ext}wasm.v3.VmConfig`]: "WebAssembly",
  [`${ext}dynamic_modules.v3.DynamicModuleConfig`]: "dynamic modules",
};

const anyName = "google.protobuf.Any";
const planOf = createPlans(
  ({ typeName }) => typeName === anyName || Object.hasOwn(kinds, typeName),
  ({ typeName }) => kinds[typeName],
);

/**
 * What a serialized message holds that only an Envoy can judge, such as scripts: `Lua`, `CEL`, `JWKS`. Its code is not
 * compiled here.
 */
export function judgedByEnvoyOnly(
  schema: DescMessage,
  body: Uint8Array,
  registry: Registry = envoyRegistry(),
): ReadonlySet<string> {
  const found = new Set<string>();
  visit(planOf(schema), fromBinary(schema, body), createUnpack(registry), found, 0);
  return found;
}

function visit(
  plan: WalkPlan<string | undefined>,
  message: Message,
  unpack: Unpack,
  found: Set<string>,
  depth: number,
): void {
  if (plan.own !== undefined) found.add(plan.own);
  if (plan.schema.typeName === anyName) {
    const content = depth < anyDepth ? unpack(message as Any) : undefined;
    if (content !== undefined) visit(planOf(content.schema), content.message, unpack, found, depth + 1);
    return;
  }
  for (const { field, shape, jsonStruct, plan: inner } of plan.paths) {
    const value = fieldValue(message, field);
    if (value === undefined || jsonStruct) continue;
    const items =
      shape === "one" ? [value] : shape === "list" ? (value as readonly unknown[]) : Object.values(value as object);
    for (const item of items) visit(inner, item as Message, unpack, found, depth);
  }
}
