import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { tableFolder } from "./table.js";

/** An extension of the standard Envoy, without contrib. */
export interface EnvoyExtension {
  /** Its category: `envoy.filters.http`. */
  readonly category: string;
  /** Unique within its category: `envoy.filters.http.router`. */
  readonly name: string;
  /** The messages that configure it, the newest first. Empty if nothing configures it. */
  readonly types: readonly string[];
}

export const extensionsFile = new URL("extensions.txt", tableFolder);

/**
 * The extensions of the newest Envoy in the table. Throws a plain error with file and line if the file is malformed.
 */
export function readExtensions(file: URL = extensionsFile): readonly EnvoyExtension[] {
  const extensions: EnvoyExtension[] = [];
  let category: string | undefined;
  for (const [index, line] of readFileSync(file, "utf8").split("\n").entries()) {
    const [first = "", ...rest] = line.trim().split(" ");
    if (first === "" || first === "envoy") continue;
    const isInside = line.startsWith("  ");
    if (!isInside && first === "category" && rest[0] !== undefined) [category] = rest;
    else if (isInside && category !== undefined) extensions.push({ category, name: first, types: rest });
    else throw new Error(`${fileURLToPath(file)}:${index + 1}: neither a category nor an extension of one`);
  }
  return extensions;
}

/** The same as text, in a fixed order. */
export function formatExtensions(version: string, extensions: readonly EnvoyExtension[]): string {
  const categories = [...new Set(extensions.map(({ category }) => category))].sort();
  const lines = categories.flatMap((category) => [
    `category ${category}`,
    ...extensions
      .filter((each) => each.category === category)
      .map(({ name, types }) => `  ${[name, ...types].join(" ")}`)
      .sort(),
  ]);
  return `${[`envoy ${version}`, ...lines].join("\n")}\n`;
}
