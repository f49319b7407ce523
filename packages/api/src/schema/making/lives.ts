import type {
  EnumFacts,
  FieldFacts,
  FileFacts,
  Life,
  MessageFacts,
  MethodFacts,
  Named,
  PackageFacts,
  ServiceFacts,
  ValueFacts,
} from "../facts.js";
import { type Element, elementsOf, type FileOfPackage, keys } from "./elements.js";

/** Envoy's own API at one minor version. */
export interface VersionReading {
  readonly version: string;
  readonly files: readonly FileOfPackage[];
  /** Contrib's, if it is published for that version. */
  readonly contrib?: readonly FileOfPackage[];
}

/**
 * The packages of the newest reading (the last), where each element says since when it exists, plus removed elements of
 * earlier ones, which say until when they did. A life that equals the parent's is left out.
 */
export function withLives(readings: readonly VersionReading[]): readonly PackageFacts[] {
  const newest = readings.at(-1);
  if (newest === undefined) throw new Error("no version was read");
  const read = readings.map(({ files, contrib = [], ...reading }) => ({
    ...reading,
    hasContrib: contrib.length > 0,
    elements: elementsOf([...files, ...contrib]),
    ofContrib: [...elementsOf(contrib).keys()],
  }));
  const now = elementsOf([...newest.files, ...(newest.contrib ?? [])]);
  const ofContrib = new Set(read.flatMap(({ ofContrib }) => ofContrib));

  /** The versions that are known to have it or not, oldest first. */
  const presence = (key: string) =>
    read
      .filter(({ hasContrib, elements }) => hasContrib || elements.has(key) || !ofContrib.has(key))
      .map(({ version, elements }) => ({ version, has: elements.has(key) }));
  function lifeOf(key: string): Life {
    const known = presence(key);
    const last = known.findLastIndex(({ has }) => has);
    const before = known.findLastIndex(({ has }, index) => index < last && !has);
    return {
      ...(before === -1 ? {} : { since: known[before + 1]?.version }),
      ...(known[last + 1] === undefined ? {} : { removed: known[last + 1]?.version }),
    };
  }

  const removed = new Map<string, Map<string, Element>>();
  for (const { elements } of read) {
    for (const [key, element] of elements) {
      if (now.has(key)) continue;
      const siblings = removed.get(element.parent) ?? new Map<string, Element>();
      removed.set(element.parent, siblings.set(key, element));
    }
  }
  /** Removed children of a parent by kind, without their content, by name and number. */
  function gone<Fact extends Named>(parent: string, kind: keyof typeof keys, bare: (fact: Fact) => Fact): Fact[] {
    return [...(removed.get(parent) ?? [])]
      .filter(([key]) => key.startsWith(`${kind} `))
      .map(([key, { fact }]) => ({ ...bare(fact as Fact), options: {}, ...lifeOf(key) }))
      .sort((a, b) => numberOf(a) - numberOf(b) || (a.name < b.name ? -1 : 1));
  }

  const goneMessages = (parent: string) => gone<MessageFacts>(parent, "message", emptyMessage);
  const goneEnums = (parent: string) =>
    gone<EnumFacts>(parent, "enum", (each) => ({ ...each, values: [], reserved: [] }));
  const goneFields = (parent: string) => gone<FieldFacts>(parent, "field", ({ oneof: _, ...field }) => field);

  /** With its life, unless its parent appeared at the same time. */
  function living<Fact extends Named>(fact: Fact, key: string, parentKey?: string): Fact {
    const life = lifeOf(key);
    return { ...fact, ...(parentKey !== undefined && lifeOf(parentKey).since === life.since ? {} : life) };
  }

  function message(facts: MessageFacts, parent: string, isNested = false): MessageFacts {
    const key = keys.message(parent, facts);
    const fields = facts.fields.map((field) => living(field, keys.field(key, field), key));
    return {
      ...living(facts, key, isNested ? parent : undefined),
      fields: [...fields, ...goneFields(key)],
      messages: [...facts.messages.map((each) => message(each, key, true)), ...goneMessages(key)],
      enums: [...facts.enums.map((each) => enumeration(each, key, true)), ...goneEnums(key)],
    };
  }

  function enumeration(facts: EnumFacts, parent: string, isNested = false): EnumFacts {
    const key = keys.enum(parent, facts);
    const values = facts.values.map((value) => living(value, keys.value(key, value), key));
    return {
      ...living(facts, key, isNested ? parent : undefined),
      values: [...values, ...gone<ValueFacts>(key, "value", (value) => value)],
    };
  }

  function service(facts: ServiceFacts, parent: string): ServiceFacts {
    const key = keys.service(parent, facts);
    const methods = facts.methods.map((method) => living(method, keys.method(key, method), key));
    return {
      ...living(facts, key),
      methods: [...methods, ...gone<MethodFacts>(key, "method", (method) => method)],
    };
  }

  const filed = new Map<string, FileFacts[]>([...removed.keys()].filter(isPackage).map((name) => [name, []]));
  for (const { packageName, file } of [...newest.files, ...(newest.contrib ?? [])]) {
    const files = filed.get(packageName) ?? [];
    filed.set(packageName, files);
    files.push({
      ...file,
      messages: file.messages.map((each) => message(each, packageName)),
      enums: file.enums.map((each) => enumeration(each, packageName)),
      services: file.services.map((each) => service(each, packageName)),
    });
  }
  return inPackages(filed, goneMessages, goneEnums);
}

function inPackages(
  filed: ReadonlyMap<string, readonly FileFacts[]>,
  goneMessages: (name: string) => readonly MessageFacts[],
  goneEnums: (name: string) => readonly EnumFacts[],
): readonly PackageFacts[] {
  return [...filed]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, files]) => ({
      name,
      files: [...files].sort((a, b) => (a.path < b.path ? -1 : 1)),
      removedMessages: goneMessages(name),
      removedEnums: goneEnums(name),
    }));
}

function emptyMessage(message: MessageFacts): MessageFacts {
  return { ...message, fields: [], oneofs: [], reserved: [], messages: [], enums: [] };
}

function numberOf(fact: Named): number {
  return "number" in fact ? Number(fact.number) : 0;
}

/** Keys of messages, enums and services begin with their kind. */
function isPackage(parent: string): boolean {
  return !parent.includes(" ");
}
