import { generatedFile } from "../generated-file.js";

let types: ReadonlySet<string> | undefined;

/** Whether a message configures an extension that the newest known Envoy has, as it is shipped. */
export function isExtensionType(typeName: string): boolean {
  types ??= new Set(JSON.parse(new TextDecoder().decode(generatedFile("extensions.json"))) as string[]);
  return types.has(typeName);
}
