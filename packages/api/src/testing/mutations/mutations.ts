import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { type ReflectList, type ReflectMap, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import type { Any, Duration } from "@bufbuild/protobuf/wkt";
import { schemaOf } from "../../messages/v2-names.js";
import { typeNameOf } from "../../names/identifiers.js";
import type { Registry } from "../../registry/registry.js";
import { wrongBytes, wrongNumbers, wrongTexts } from "./wrong-values.js";

/** One way to change a message. */
export interface Mutation {
  /** `virtual_hosts[0].domains[0] = "*" again` */
  readonly says: string;
  readonly apply: () => void;
}

/** The possible changes at one place of a message. */
export interface Site {
  readonly path: string;
  readonly mutations: readonly Mutation[];
}

/** Called after a change inside an `Any`, whose bytes must follow. */
type Commit = () => void;

/** Deeper messages are not searched. */
const depthLimit = 40;

/** All places in a message that can be changed; each change is made in place. A resource's own name stays. */
export function sitesOf(schema: DescMessage, message: Message, registry: Registry): readonly Site[] {
  const sites: Site[] = [];
  new Walk(registry, sites).message(reflect(schema, message), "", () => {}, 0);
  return sites.filter(({ path }) => path !== "name" && path !== "cluster_name");
}

class Walk {
  readonly #registry: Registry;
  readonly #sites: Site[];

  constructor(registry: Registry, sites: Site[]) {
    this.#registry = registry;
    this.#sites = sites;
  }

  message(here: ReflectMessage, path: string, commit: Commit, depth: number): void {
    if (depth > depthLimit) return;
    for (const field of here.fields) {
      if (!here.isSet(field)) continue;
      const at = path === "" ? field.name : `${path}.${field.name}`;
      if (field.message?.typeName === "google.protobuf.Struct") {
        if (field.fieldKind === "message") this.#struct(here, field, at, commit);
      } else if (field.fieldKind === "list") this.#list(here.get(field), field, at, commit, depth);
      else if (field.fieldKind === "map") this.#map(here.get(field), at, commit, depth);
      else this.#single(here, field, at, commit, depth);
    }
  }

  #single(here: ReflectMessage, field: DescField, at: string, commit: Commit, depth: number): void {
    const set = (what: string, value: unknown): Mutation => ({
      says: `${at} ${what}`,
      apply: () => {
        here.set(field, value);
        commit();
      },
    });
    const mutations: Mutation[] = [
      {
        says: `${at} is left out`,
        apply: () => {
          here.clear(field);
          commit();
        },
      },
      ...otherMembers(here, field, at, commit),
    ];
    const value: unknown = here.get(field);
    if (field.fieldKind === "message") {
      const inner = value as ReflectMessage;
      mutations.push(set("is empty", reflect(inner.desc, create(inner.desc))));
      this.#sites.push({ path: at, mutations });
      this.#inner(inner, at, commit, depth);
      return;
    }
    for (const [shown, wrong] of wrongValues(field, value)) mutations.push(set(`= ${shown}`, wrong));
    this.#sites.push({ path: at, mutations });
  }

  /** A struct is plain JSON in memory. */
  #struct(here: ReflectMessage, field: DescField, at: string, commit: Commit): void {
    const odd = [undefined, {}, { "": "a" }, { a: null }, { a: [1, "b"] }, { a: { b: { c: true } } }, { a: 1e300 }];
    const mutations = odd.map(
      (json): Mutation => ({
        says: `${at} = ${JSON.stringify(json)}`,
        apply: () => {
          Object.assign(here.message, { [field.localName]: json });
          commit();
        },
      }),
    );
    this.#sites.push({ path: at, mutations });
  }

  #list(list: ReflectList, field: DescField & { fieldKind: "list" }, at: string, commit: Commit, depth: number): void {
    const items = [...list];
    const all = (what: string, values: readonly unknown[]): Mutation => ({
      says: `${at} ${what}`,
      apply: () => {
        list.clear();
        for (const value of values) list.add(value);
        commit();
      },
    });
    const mutations = [all("is left out", []), all("has its first twice", [copyOf(items[0]), ...items])];
    if (items.length > 1)
      mutations.push(all("is reversed", items.toReversed()), all("lacks its first", items.slice(1)));
    this.#sites.push({ path: at, mutations });
    for (const [index, item] of items.entries()) {
      const place = `${at}[${index}]`;
      if (field.listKind === "message") {
        const inner = item as ReflectMessage;
        const empty = [...items];
        empty[index] = reflect(inner.desc, create(inner.desc));
        this.#sites.push({ path: place, mutations: [all(`has an empty [${index}]`, empty)] });
        this.#inner(inner, place, commit, depth);
      } else {
        const wrong = wrongValues(field, item).map(
          ([shown, value]): Mutation => ({
            says: `${place} = ${shown}`,
            apply: () => {
              list.set(index, value);
              commit();
            },
          }),
        );
        this.#sites.push({ path: place, mutations: wrong });
      }
    }
  }

  #map(map: ReflectMap, at: string, commit: Commit, depth: number): void {
    const clear: Mutation = {
      says: `${at} is left out`,
      apply: () => {
        map.clear();
        commit();
      },
    };
    const unnamed: Mutation = {
      says: `${at} has an empty key`,
      apply: () => {
        const [first] = map.values();
        if (map.field().mapKey === ScalarType.STRING && first !== undefined) map.set("", copyOf(first));
        commit();
      },
    };
    this.#sites.push({ path: at, mutations: [clear, unnamed] });
    for (const [key, item] of map)
      if (map.field().mapKind === "message")
        this.#inner(item as ReflectMessage, `${at}[${String(key)}]`, commit, depth);
  }

  #inner(inner: ReflectMessage, at: string, commit: Commit, depth: number): void {
    const { typeName } = inner.desc;
    if (typeName === "google.protobuf.Any") this.#any(inner.message as unknown as Any, at, commit, depth);
    else if (typeName === "google.protobuf.Duration") this.#span(inner.message as unknown as Duration, at, commit);
    else this.message(inner, at, commit, depth + 1);
  }

  #any(any: Any, at: string, commit: Commit, depth: number): void {
    const schema = schemaOf(typeNameOf(any.typeUrl), this.#registry);
    const become = (what: string, typeUrl: string, value: Uint8Array): Mutation => ({
      says: `${at} ${what}`,
      apply: () => {
        any.typeUrl = typeUrl;
        any.value = value;
        commit();
      },
    });
    const nothing = new Uint8Array();
    const prefix = "type.googleapis.com/";
    this.#sites.push({
      path: at,
      mutations: [
        become("is of an unknown type", `${prefix}example.v3.Unknown`, any.value),
        become("is of another type", `${prefix}envoy.config.core.v3.Locality`, nothing),
        become("is another filter", `${prefix}envoy.extensions.filters.http.cors.v3.Cors`, nothing),
        become("has no type", "", any.value),
        become("has bytes that are no message", any.typeUrl, new Uint8Array([0xff, 0xff, 0xff])),
        become("has no content", any.typeUrl, nothing),
      ],
    });
    if (schema === undefined) return;
    const content = fromBinary(schema, any.value);
    const repacked = (): void => {
      any.value = toBinary(schema, content);
      commit();
    };
    this.message(reflect(schema, content), at, repacked, depth + 1);
  }

  #span(span: Duration, at: string, commit: Commit): void {
    const spans: readonly (readonly [bigint, number])[] = [
      [0n, 0],
      [-1n, 0],
      [0n, -1],
      [1n, -1],
      [0n, 1],
      [1n, 1_000_000_000],
      [315_576_000_001n, 0],
      [9_223_372_036n, 0],
      [-9_223_372_036_854_775_808n, 0],
      [86_400_000n, 0],
    ];
    const mutations = spans.map(
      ([seconds, nanos]): Mutation => ({
        says: `${at} = ${seconds} s and ${nanos} ns`,
        apply: () => {
          span.seconds = seconds;
          span.nanos = nanos;
          commit();
        },
      }),
    );
    this.#sites.push({ path: at, mutations });
  }
}

/** The other members of a oneof, each with its zero. */
function otherMembers(here: ReflectMessage, field: DescField, at: string, commit: Commit): readonly Mutation[] {
  const others = field.oneof?.fields.filter((other) => other !== field) ?? [];
  return others.map((other) => ({
    says: `${at} becomes an empty ${other.name}`,
    apply: () => {
      if (other.fieldKind === "message") here.set(other, reflect(other.message, create(other.message)));
      else if (other.fieldKind === "enum") here.set(other, 0);
      else if (other.fieldKind === "scalar") here.set(other, zeroOf(other.scalar));
      commit();
    },
  }));
}

function zeroOf(scalar: ScalarType): unknown {
  switch (scalar) {
    case ScalarType.STRING:
      return "";
    case ScalarType.BOOL:
      return false;
    case ScalarType.BYTES:
      return new Uint8Array();
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return 0n;
    default:
      return 0;
  }
}

function wrongValues(field: DescField, value: unknown): readonly (readonly [string, unknown])[] {
  if (field.enum !== undefined) {
    const others = field.enum.values.filter(({ number }) => number !== value);
    return [["an unknown value", 9999], ...others.map(({ name, number }) => [name, number] as const)];
  }
  if (typeof value === "boolean") return [[String(!value), !value]];
  if (typeof value === "string") return wrongTexts(field.name, value);
  if (value instanceof Uint8Array) return wrongBytes(value);
  return wrongNumbers(field.scalar, value as number | bigint);
}

function copyOf(item: unknown): unknown {
  if (typeof item !== "object" || item === null || !("desc" in item)) return item;
  const { desc, message } = item as ReflectMessage;
  return reflect(desc, fromBinary(desc, toBinary(desc, message)));
}
