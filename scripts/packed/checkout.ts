import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));
export const read = (path: string) => readFileSync(join(root, path), "utf8");
export const isCi = !["", "0", "false", undefined].includes(process.env.CI);

/** A package that is published, of which the tests look at these fields. */
export interface Published {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly scripts: Readonly<Record<string, string>>;
}

/** The packages by their folders below `packages/`. */
export const packages: ReadonlyMap<string, Published> = new Map(
  readdirSync(join(root, "packages")).map((folder) => [folder, JSON.parse(read(`packages/${folder}/package.json`))]),
);

/** Every entry point that a program imports by its name. Those with a pattern are one example of each. */
export const entries: readonly string[] = [...packages.values()].flatMap(({ name, exports }) =>
  Object.keys(exports)
    .filter((entry) => !/[*]|\.json$/.test(entry))
    .map((entry) => name + entry.slice(1)),
);

/** What npm tells the scripts that it runs would have it look at this checkout. */
export const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(?:lifecycle|package|command|config_local)|^INIT_CWD|^NODE_TEST/.test(name),
  ),
);
