import { generatedFile } from "../registry/generated-file.js";

let types: ReadonlySet<string> | undefined;

/** Whether a message configures an extension of the newest known standard Envoy. */
export function isExtensionType(typeName: string): boolean {
  types ??= new Set(JSON.parse(new TextDecoder().decode(generatedFile("extensions.json"))) as string[]);
  return types.has(typeName);
}
