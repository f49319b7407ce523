import type { DescMessage } from "@bufbuild/protobuf";
import { envoyRegistry } from "./registry.js";

/**
 * The schema of one of Envoy's messages from the registry, typed as that of its generated module: `envoySchema<typeof NodeSchema>("envoy.config.core.v3.Node")`.
 * For what is seldom needed: a generated module is loaded with all that it imports, and what the registry has read is not kept twice.
 * Throws a plain error where there is no such message.
 */
export function envoySchema<Schema extends { readonly typeName: string }>(typeName: Schema["typeName"]): Schema {
  const schema: DescMessage | undefined = envoyRegistry().getMessage(typeName);
  if (schema === undefined) throw new Error(`Envoy has no message ${typeName}`);
  return schema as DescMessage & Schema;
}
