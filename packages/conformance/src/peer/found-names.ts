import { createUnpack, envoyRegistry, readBody, resourceTypes } from "@xdskit/api";
import type { Bounds } from "../verdicts/bounds.js";
import { Failed, Skipped } from "../verdicts/verdicts.js";
import type { ResponseResource } from "../wire/messages.js";
import { typeNamed, typeUrlOf } from "../wire/type-words.js";
import type { XdsStream } from "../wire/xds-stream.js";

/** A type, and names of it that exist on the server. */
export interface Existing {
  readonly type: string;
  readonly names: readonly string[];
}

/** What was found on a server before the checks began: names by type URL. */
export class FoundNames {
  readonly #names: ReadonlyMap<string, readonly string[]>;

  constructor(names: ReadonlyMap<string, readonly string[]>) {
    this.#names = names;
  }

  names(type: string): readonly string[] {
    return this.#names.get(type) ?? [];
  }

  /** A type that has a wildcard, with so many resources. Throws Skipped if there is none. */
  wildcard(least: number): Existing {
    return this.#first(["cluster", "listener"], least);
  }

  /** A type that is asked for by name only, with so many resources. Throws Skipped if there is none. */
  named(least: number): Existing {
    return this.#first(["endpoint", "route"], least);
  }

  /** Any type of which so many resources are known by name. Throws Skipped if there is none. */
  any(least: number): Existing {
    return this.#first(["endpoint", "route", "cluster", "listener"], least);
  }

  /** The types that have a wildcard, and resources. Throws Skipped if there is none. */
  wildcards(): readonly string[] {
    this.wildcard(1);
    return ["cluster", "listener"].map(typeUrlOf).filter((type) => this.names(type).length > 0);
  }

  /** The types that have resources. Throws Skipped if none of them has a wildcard. */
  types(): readonly string[] {
    const named = ["endpoint", "route"].map(typeUrlOf).filter((type) => this.names(type).length > 0);
    return [...this.wildcards(), ...named];
  }

  /** Two types with resources, and what to ask for to get them. Throws Skipped if there are not two. */
  two(): readonly [Existing, Existing] {
    const [first, second] = ["cluster", "listener", "endpoint", "route"]
      .map((word) => ({ type: typeUrlOf(word), names: this.names(typeUrlOf(word)) }))
      .filter(({ names }) => names.length > 0)
      .map(({ type, names }) => ({ type, names: typeNamed(type).fullState ? [] : names }));
    if (first === undefined || second === undefined) throw new Skipped("the server has not resources of two types");
    return [first, second];
  }

  #first(words: readonly string[], least: number): Existing {
    for (const word of words) {
      const type = typeUrlOf(word);
      const names = this.names(type);
      if (names.length >= least) return { type, names };
    }
    throw new Skipped(`the server has not ${least} of any of these: ${words.join(", ")}`);
  }
}

/** What is needed to look at a server. `open` begins a stream. */
export interface Looking {
  readonly open: () => XdsStream;
  readonly bounds: Bounds;
}

/**
 * Asks for clusters and listeners by the wildcard, and for the load assignments and routes that they name. Needs as
 * little of the server as can be, one request a stream: what else does not work is for the checks to say. Throws Failed
 * if the server answers nothing.
 */
export async function findContent(looking: Looking): Promise<FoundNames> {
  const found = new Map<string, readonly string[]>();
  const named = new Map<string, Set<string>>();
  const problems: Failed[] = [];
  for (const word of ["cluster", "listener"]) {
    const { typeUrl } = typeNamed(word);
    let resources: readonly ResponseResource[] = [];
    for (const names of [[], ["*"]]) {
      if (resources.length === 0) resources = await answered(looking, typeUrl, names, problems);
    }
    found.set(typeUrl, [...new Set(resources.map(({ name }) => name))].sort());
    for (const resource of resources) {
      for (const { type, name } of referencesOf(resource)) {
        named.set(type, (named.get(type) ?? new Set()).add(name));
      }
    }
  }
  // Nothing came, of no type and in no way.
  if (problems.length === 4) throw problems[0]!;
  for (const word of ["endpoint", "route"]) {
    const { typeUrl } = typeNamed(word);
    const names = [...(named.get(typeUrl) ?? [])].sort();
    if (names.length > 0) found.set(typeUrl, await existing(looking, typeUrl, names));
  }
  return new FoundNames(found);
}

/** What a first request is answered with until it is quiet. A failure is added to the problems. */
async function answered(
  { open }: Looking,
  type: string,
  names: readonly string[],
  problems: Failed[],
): Promise<readonly ResponseResource[]> {
  const stream = open();
  try {
    stream.ask(type, names);
    await stream.next(type);
    await stream.comes();
    return stream.received(type).flatMap(({ resources }) => resources);
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    problems.push(error);
    return [];
  } finally {
    stream.cancel();
  }
}

/** Those of the names that the server has. For one that does not exist no answer is due: the time ends that. */
async function existing({ open, bounds }: Looking, type: string, names: readonly string[]): Promise<readonly string[]> {
  const stream = open();
  const end = Date.now() + bounds.answerMs;
  stream.ask(type, names);
  let there: readonly string[] = [];
  while (there.length < names.length && stream.end === undefined && Date.now() < end) {
    await stream.comes().catch(() => []);
    const came = new Set(stream.received(type).flatMap(({ resources }) => resources.map(({ name }) => name)));
    there = names.filter((name) => came.has(name));
  }
  stream.cancel();
  return there;
}

/** The resources that another one names. A body that cannot be read names none: that is for a check to say. */
export function referencesOf({
  bodyType,
  body,
}: ResponseResource): readonly { readonly type: string; readonly name: string }[] {
  const type = resourceTypes.byTypeUrl(bodyType)?.type;
  if (type === undefined) return [];
  const registry = envoyRegistry();
  try {
    return type
      .references(readBody(type, bodyType, body, registry), createUnpack(registry))
      .filter(({ name }) => !name.endsWith("*"));
  } catch {
    return [];
  }
}
