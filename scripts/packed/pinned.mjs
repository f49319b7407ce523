import { readFileSync } from "node:fs";

/**
 * The versions that the checkout has of what packages need, as long as there is one: other people's releases break no
 * test. npm allows none for what a program asks for itself (`asked`).
 *
 * @param {readonly string[]} asked
 * @returns {Record<string, string>}
 */
export function pinned(asked) {
  const lock = readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8");
  const versions = new Map();
  for (const [path, { version, link }] of Object.entries(JSON.parse(lock).packages)) {
    const [, name] = /^.*node_modules\/(.*)$/.exec(path) ?? [];
    if (name === undefined || link || asked.includes(name)) continue;
    versions.set(name, [...(versions.get(name) ?? []), version]);
  }
  const single = [...versions].filter(([, of]) => of.length === 1);
  return Object.fromEntries(single.map(([name, [version]]) => [name, version]));
}
