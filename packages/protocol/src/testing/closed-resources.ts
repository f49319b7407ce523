import type { Reference, Resource } from "@xdskit/api";
import type { Random } from "./random.js";
import { sampleResource } from "./sample-resources.js";
import { typeOf } from "./sample-world.js";

/** The types that each type names. Clusters name each other: there are aggregate clusters. */
const edges: { readonly [from: string]: readonly string[] } = {
  cluster: ["endpoint", "secret", "cluster"],
  extension: ["cluster", "secret"],
  listener: ["route", "cluster", "secret", "extension"],
  "scoped-route": ["route"],
  route: ["cluster"],
};

/** The types of closed resources, in the words of transcripts. */
export const closedTypes = ["secret", "cluster", "endpoint", "extension", "listener", "scoped-route", "route"];

/** The names that they may have. */
export const closedNames = ["a", "b", "c", "d"];

/** A sample with its own references; its label names them, so that its version differs with them. */
export function naming(
  word: string,
  name: string,
  label: number,
  references: readonly (readonly [word: string, name: string])[],
): Resource {
  const text = references.map(([to, name]) => `${to} ${name}`).join();
  return {
    ...sampleResource(word, name, `${label} ${text}`),
    references: references.map(([to, name]): Reference => ({ type: typeOf(to).typeUrl, name })),
  };
}

/** Resources of all types; each names only resources that exist. */
export function closedResources(random: Random): readonly Resource[] {
  const there = new Map(closedTypes.map((word) => [word, random.some(closedNames, 0.6)]));
  return closedTypes.flatMap((word) =>
    (there.get(word) ?? []).map((name) => {
      const references = (edges[word] ?? []).flatMap((to) =>
        random.some(there.get(to) ?? [], 0.3).map((name) => [to, name] as const),
      );
      return naming(word, name, random.int(2), references);
    }),
  );
}
