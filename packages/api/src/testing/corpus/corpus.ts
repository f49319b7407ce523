import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { envoyRegistry, type Registry } from "../../registry/registry.js";
import { brokenValues } from "./broken.js";
import { configurableExtensions, type Extensions } from "./extensions.js";
import { placeholders } from "./hints/blocks.js";
import { anyOf, fullName, Messages } from "./messages.js";
import { type Reached, reachedFrom, resourceWith } from "./paths.js";
import { createRuleBook, type RuleBook } from "./rules.js";
import { adjustments, detours, rootTypes } from "./settings.js";

/** One resource of the corpus. */
export interface Case {
  /**
   * Names the tested value, and is unique: `envoy.config.cluster.v3.Cluster.lb_policy = MAGLEV`, or `… without
   * string.min_len`.
   */
  readonly name: string;
  /** The rule that it breaks; undefined if it breaks none. */
  readonly breaks: string | undefined;
  /** The full name of the resource's message. */
  readonly type: string;
  /** The full name of the tested field. */
  readonly field: string;
  /** The extensions on the way to the field. */
  readonly extensions: readonly string[];
  /** The resource in JSON, its `@type` included. */
  readonly resource: JsonObject;
}

/** The environment that the resources of a corpus need. */
export interface CorpusOptions {
  readonly registry?: Registry;
  readonly extensions?: Extensions;
  /** A certificate and its key, as PEM. */
  readonly certificate?: string;
  readonly key?: string;
  /** An existing folder. */
  readonly folder?: string;
}

/**
 * Resources of every named type in Envoy's API: for each field of each message that they reach, through every
 * extension, one resource that sets it to each of its values, and for each rule one that breaks only that rule. Always
 * the same, in the same order.
 */
export function corpus(options: CorpusOptions = {}): readonly Case[] {
  const registry = options.registry ?? envoyRegistry();
  const book = createRuleBook(registry);
  const messages = new Messages(registry, options.extensions ?? configurableExtensions(), book);
  const roots = rootTypes.map((name) => {
    const root = registry.getMessage(name);
    if (root === undefined) throw new Error(`there is no ${name}`);
    return root;
  });
  const cases: Case[] = [];
  const names = new Set<string>();
  const add = (reached: Reached, field: string, what: string, breaks: string | undefined, made: () => JsonObject) => {
    const name = `${field} ${what}`;
    if (names.has(name)) return;
    names.add(name);
    const extensions = reached.steps.flatMap(({ extension }) => extension?.name ?? []);
    const resource = filled(adjusted(made(), reached, field, what), cases.length, options);
    cases.push({
      name,
      breaks,
      field,
      extensions,
      type: reached.root.typeName,
      resource: anyOf(reached.root.typeName, resource),
    });
  };
  for (const reached of reachedFrom(roots, registry, messages, detours)) {
    addMessage(reached, registry, messages, book, (...rest) => add(reached, ...rest));
  }
  return cases;
}

type Add = (field: string, what: string, breaks: string | undefined, made: () => JsonObject) => void;

function addMessage(reached: Reached, registry: Registry, messages: Messages, book: RuleBook, add: Add): void {
  const { desc, context } = reached;
  const where = (leaf: (object: JsonObject) => void) => () => resourceWith(reached, messages, leaf);
  const isChecked = !reached.steps.some(({ field }) => book.of(field).skip);
  for (const field of desc.fields) {
    const name = fullName(field);
    const put = (value: JsonValue) => where((object) => messages.set(object, field, value));
    const extensions = messages.extensionsOf(field, context);
    for (const extension of extensions) {
      const message = registry.getMessage(extension.type);
      if (message === undefined) continue;
      add(
        name,
        `= ${extension.name} ${extension.type}`,
        undefined,
        where((object) => {
          const content = messages.wrapped(field, extension, messages.minimal(message, undefined));
          messages.set(object, field, content, extension);
        }),
      );
    }
    const values = extensions.length > 0 ? [] : messages.values(field, context);
    for (const { label, value } of values) add(name, label === "" ? "is set" : `= ${label}`, undefined, put(value));
    if (isChecked) addBroken(field, values[0]?.value, messages, book, reached, add);
  }
  for (const oneof of desc.oneofs) {
    if (!isChecked || !book.requires(oneof)) continue;
    add(
      `${desc.typeName}.${oneof.name}`,
      "without oneof.required",
      "oneof.required",
      where((object) => {
        for (const { name } of oneof.fields) delete object[name];
      }),
    );
  }
}

/** One resource for each rule of a field that breaks only this rule. */
function addBroken(
  field: DescField,
  ordinary: JsonValue | undefined,
  messages: Messages,
  book: RuleBook,
  reached: Reached,
  add: Add,
): void {
  const rules = book.of(field);
  const breaking = (rule: string, leaf: (object: JsonObject) => void) =>
    add(fullName(field), `without ${rule}`, rule, () => resourceWith(reached, messages, leaf));
  if (rules.required && field.oneof === undefined) {
    const kind = rules.set.required === true ? rules.kind : "message";
    breaking(`${kind}.required`, (object) => delete object[field.name]);
  }
  if (field.fieldKind === "list" || field.fieldKind === "map") {
    addBrokenWhole(field, ordinary, messages, book, breaking);
    for (const { rule, value } of brokenValues(field, rules, "items")) {
      const outer = field.fieldKind === "list" ? "repeated.items" : "map.values";
      breaking(`${outer}.${rule}`, (object) => {
        object[field.name] = field.fieldKind === "list" ? [value] : { key: value };
      });
    }
    for (const { rule, value } of brokenValues(field, rules, "keys")) {
      if (ordinary !== undefined)
        breaking(`map.keys.${rule}`, (object) => {
          object[field.name] = { [String(value)]: ordinary };
        });
    }
    return;
  }
  for (const { rule, value } of brokenValues(field, rules, "whole")) {
    breaking(rule, (object) => messages.set(object, field, value));
  }
}

/** Lists and maps with too few or too many entries. */
function addBrokenWhole(
  field: DescField,
  ordinary: JsonValue | undefined,
  messages: Messages,
  book: RuleBook,
  breaking: (rule: string, leaf: (object: JsonObject) => void) => void,
): void {
  const { set } = book.of(field);
  const of = (object: JsonObject): JsonValue[] => {
    if (!(field.name in object) && ordinary !== undefined) messages.set(object, field, ordinary);
    const items = object[field.name];
    return Array.isArray(items) ? items : [];
  };
  if (field.fieldKind === "map") {
    if (Number(set.min_pairs ?? 0) > 0) breaking("map.min_pairs", (object) => (object[field.name] = {}));
    return;
  }
  const least = Number(set.min_items ?? 0);
  const most = set.max_items === undefined ? undefined : Number(set.max_items);
  if (least > 0) breaking("repeated.min_items", (object) => (object[field.name] = of(object).slice(0, least - 1)));
  if (most !== undefined && most < 2_000) {
    breaking("repeated.max_items", (object) => {
      const [first = ordinary ?? null] = of(object);
      object[field.name] = Array.from({ length: most + 1 }, () => structuredClone(first));
    });
  }
  if (set.unique === true) {
    breaking("repeated.unique", (object) => {
      const [first = ordinary ?? null] = of(object);
      object[field.name] = [first, structuredClone(first)];
    });
  }
}

/** The parts that a resource needs elsewhere because of something nested in it. */
function adjusted(resource: JsonObject, { root, steps, desc }: Reached, field: string, what: string): JsonObject {
  const passed = new Set([
    root.typeName,
    desc.typeName,
    field,
    // An extension that the field is set to.
    ...what.split(" "),
    `${field} ${what}`,
    ...steps.flatMap(({ field: each, extension }) => [
      fullName(each),
      ...(extension === undefined ? [] : [extension.type, extension.name]),
    ]),
  ]);
  for (const { of, at, adjust } of adjustments) {
    if (of === root.typeName && at.some((name) => passed.has(name))) adjust(resource);
  }
  return resource;
}

/** Inserts the values of a case. */
function filled(resource: JsonObject, index: number, options: CorpusOptions): JsonObject {
  const texts: Readonly<Record<string, string>> = {
    [placeholders.name]: `case-${index}`,
    [placeholders.port]: `${10_000 + (index % 50_000)}`,
    [placeholders.certificate]: options.certificate ?? "no certificate",
    [placeholders.key]: options.key ?? "no key",
    [placeholders.folder]: options.folder ?? "/nowhere",
  };
  const fill = (value: JsonValue): JsonValue => {
    if (typeof value === "string")
      return value.replaceAll(/\$(NAME|PORT|CERTIFICATE|KEY|FOLDER)/g, (word) => texts[word] ?? word);
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each)]));
  };
  return fill(resource) as JsonObject;
}

/** Messages in configuration packages that the corpus does not reach. */
export function unreached(cases: readonly Case[], registry: Registry = envoyRegistry()): readonly string[] {
  const seen = new Set(cases.map(({ field }) => field.slice(0, field.lastIndexOf("."))));
  const all: DescMessage[] = [...registry].flatMap((type) => (type.kind === "message" ? [type] : []));
  return all
    .filter(({ typeName, fields }) => /^envoy\.(config|extensions|type)\./.test(typeName) && fields.length > 0)
    .map(({ typeName }) => typeName)
    .filter((name) => !seen.has(name) && !/Entry$/.test(name))
    .sort();
}
