import { readdirSync } from "node:fs";
import { join } from "node:path";
import { read, root } from "./checkout.js";

/** TypeScript of pages that imports packages: the documented programs, and parts of programs. */
export const programs: readonly string[] = [
  "README.md",
  ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`),
]
  .filter((path) => path.endsWith(".md"))
  .flatMap((path) => Array.from(read(path).matchAll(/^```ts\n(import [\s\S]*?)^```/gm), ([, text = ""]) => text));

/** The lines of a page's section that a reader types. */
export function typed(path: string, heading: string): readonly string[] {
  return blocks(path, heading, "sh").flatMap((text) => text.trim().split("\n"));
}

/** The blocks of one language in a page's section, in order. */
export function blocks(path: string, heading: string, language: string): readonly string[] {
  const [, section = ""] = `\n${read(path)}`.split(`\n${heading}\n`);
  const pattern = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm");
  return Array.from((section.split("\n## ")[0] ?? "").matchAll(pattern), ([, text = ""]) => text);
}
