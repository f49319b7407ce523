import type { DescMessage } from "@bufbuild/protobuf";
import { envoyRegistry } from "./registry.js";

/**
 * The schema of one of Envoy's messages from the registry, typed like its generated module: `envoySchema<typeof
 * NodeSchema>("envoy.config.core.v3.Node")`. It is meant for rarely used messages: a generated module loads all its
 * imports and duplicates descriptors that the registry has read. Throws a plain error if there is no such message.
 */
export function envoySchema<Schema extends { readonly typeName: string }>(typeName: Schema["typeName"]): Schema {
  const schema: DescMessage | undefined = envoyRegistry().getMessage(typeName);
  if (schema === undefined) throw new Error(`Envoy has no message ${typeName}`);
  return schema as DescMessage & Schema;
}
