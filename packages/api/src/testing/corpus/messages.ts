import type { DescField, DescMessage, DescOneof, JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Registry } from "../../registry/registry.js";
import { contexts } from "./contexts.js";
import type { Extension, Extensions } from "./extensions.js";
import { contentHints, fieldHints } from "./hints/field-hints.js";
import { messageHints } from "./hints/message-hints.js";
import { siblingHints } from "./hints/sibling-hints.js";
import type { RuleBook } from "./rules.js";
import type { Labelled } from "./scalars.js";
import { type Context, type Slot, slots } from "./slots.js";
import { emptyScalar, ownValues } from "./values.js";

const anyType = "google.protobuf.Any";
const typedConfigs = new Set(["envoy.config.core.v3.TypedExtensionConfig", "xds.core.v3.TypedExtensionConfig"]);
const deepest = 40;

/** `envoy.config.cluster.v3.Cluster.name` */
export function fullName(field: DescField): string {
  return `${field.parent.typeName}.${field.name}`;
}

/** Whether extensions stand in the field. */
export function isSlot(field: DescField): boolean {
  const type = field.message?.typeName;
  return type === anyType || (type !== undefined && typedConfigs.has(type));
}

/** An `Any` in JSON. */
export function anyOf(type: string, content: JsonObject): JsonObject {
  const any = { "@type": `type.googleapis.com/${type}` };
  if (type in contentHints && type !== "google.protobuf.Empty") return { ...any, value: contentHints[type]! };
  return { ...any, ...content };
}

/** Makes messages as JSON with proto names: the smallest valid ones, and values of their fields. */
export class Messages {
  private readonly registry: Registry;
  private readonly extensions: Extensions;
  private readonly book: RuleBook;
  private readonly carriers = new Map<string, boolean>();
  private depth = 0;

  constructor(registry: Registry, extensions: Extensions, book: RuleBook) {
    this.registry = registry;
    this.extensions = extensions;
    this.book = book;
  }

  /** The smallest message of the type that Envoy accepts in its context. */
  minimal(desc: DescMessage, context: Context | undefined): JsonObject {
    if (this.depth > deepest) throw new Error(`${desc.typeName} cannot be made: it needs itself`);
    this.depth++;
    try {
      const hint = context?.messages?.[desc.typeName] ?? messageHints[desc.typeName];
      const object: JsonObject = hint === undefined ? {} : structuredClone(hint);
      for (const field of desc.fields) {
        if (field.name in object || field.oneof !== undefined || !this.mustBeSet(field)) continue;
        this.setOrdinary(object, field, context);
      }
      for (const oneof of desc.oneofs) {
        if (this.book.requires(oneof) && oneof.fields.every(({ name }) => !(name in object)))
          this.setOrdinary(object, easiest(oneof), context);
      }
      return object;
    } finally {
      this.depth--;
    }
  }

  /**
   * The values of a field, the ordinary one first. Empty if none is known, and for slots, whose extensions come from
   * `extensionsOf`.
   */
  values(field: DescField, context: Context | undefined): readonly Labelled[] {
    const hint = fieldHints[fullName(field)];
    if (hint !== undefined) return hint.map((value, index) => ({ label: index === 0 ? "" : `${index + 1}`, value }));
    const own = ownValues(field, "whole", this.book);
    if (own !== undefined) return own;
    if (field.message === undefined || typedConfigs.has(field.message.typeName)) return [];
    return [{ label: "", value: this.minimal(field.message, this.below(field, context)) }];
  }

  /** The extensions that a slot may hold. */
  extensionsOf(field: DescField, context: Context | undefined): readonly Extension[] {
    if (!isSlot(field)) return [];
    const slot: Slot | undefined = context?.slots[fullName(field)] ?? slots[fullName(field)];
    if (slot === undefined) return [];
    const ofCategories = (slot.categories ?? []).flatMap((category) => this.extensions.get(category) ?? []);
    const all = [...(slot.extensions ?? []), ...ofCategories];
    return slot.only === undefined ? all : all.filter(({ type }) => slot.only?.test(type));
  }

  /** A slot's value: `Any`, or a message that names and holds one. */
  wrapped(field: DescField, extension: Extension, content: JsonObject): JsonObject {
    const any = anyOf(extension.type, content);
    return field.message?.typeName === anyType ? any : { name: extension.name, typed_config: any };
  }

  /**
   * Sets a field to one value, item or entry, with its required siblings. `extension` is the content of an `Any` in the
   * value.
   */
  set(object: JsonObject, field: DescField, value: JsonValue, extension?: Extension): void {
    for (const other of field.oneof?.fields ?? []) delete object[other.name];
    object[field.name] = this.whole(field, value, object[field.name], extension);
    // The message may name the extension beside the `Any` that holds it.
    const isOne = field.fieldKind === "message" && field.message.typeName === anyType;
    if (extension !== undefined && isOne && "name" in object) object.name = extension.name;
    const beside = { ...siblingHints[fullName(field)], ...siblingHints[`${fullName(field)} ${extension?.name}`] };
    for (const [name, sibling] of Object.entries(beside)) {
      if (sibling === null) delete object[name];
      else object[name] = JSON.parse(JSON.stringify(sibling).replaceAll("$TYPE", extension?.type ?? ""));
    }
  }

  /** The context of the slots below a field. */
  below(field: DescField, context: Context | undefined): Context | undefined {
    const entered = contexts[fullName(field)];
    if (entered !== undefined) return entered;
    const isOn = context !== undefined && field.message !== undefined && this.carries(field.message, context);
    return isOn ? context : undefined;
  }

  private setOrdinary(object: JsonObject, field: DescField, context: Context | undefined): void {
    const [extension] = this.extensionsOf(field, context);
    const desc = extension === undefined ? undefined : this.registry.getMessage(extension.type);
    if (extension !== undefined && desc !== undefined) {
      this.set(object, field, this.wrapped(field, extension, this.minimal(desc, undefined)), extension);
      return;
    }
    // A slot for which Envoy has no extension: its refusal says so.
    const unknown = { label: "", value: { name: "text", typed_config: contentHints[anyType]! } };
    const [first = isSlot(field) ? unknown : undefined] = this.values(field, context);
    if (first === undefined) throw new Error(`no value for ${fullName(field)}`);
    this.set(object, field, first.value);
  }

  private mustBeSet(field: DescField): boolean {
    const rules = this.book.of(field);
    if (rules.required) return true;
    if (field.fieldKind === "list") return Number(rules.set.min_items ?? 0) > 0;
    if (field.fieldKind === "map") return Number(rules.set.min_pairs ?? 0) > 0;
    if (field.fieldKind === "message") return false;
    return !this.book.keeps(field, "whole", field.fieldKind === "enum" ? 0 : emptyScalar(field.scalar));
  }

  /** A list of the value with as many more as the rules require, or a map with it. */
  private whole(
    field: DescField,
    value: JsonValue,
    before: JsonValue | undefined,
    extension: Extension | undefined,
  ): JsonValue {
    const isHinted = fullName(field) in fieldHints && extension === undefined;
    if (field.fieldKind === "list") {
      if (isHinted && Array.isArray(value)) return value;
      if (Array.isArray(before) && keptBehind.has(fullName(field)) && !endsList(value)) return [value, ...before];
      const least = Number(this.book.of(field).set.min_items ?? 1);
      const more = Array.from({ length: Math.max(least - 1, 0) }, () => structuredClone(value));
      return [value, ...more];
    }
    if (field.fieldKind !== "map" || (isHinted && typeof value === "object")) return value;
    const [key] = extension === undefined ? ownValues(field, "keys", this.book)! : [{ value: extension.name }];
    return { [String(key?.value ?? "key")]: value };
  }

  /** Whether a message leads to slots of the context, without another context in between. */
  private carries(desc: DescMessage, context: Context): boolean {
    const key = `${context.name} ${desc.typeName}`;
    const known = this.carriers.get(key);
    if (known !== undefined) return known;
    this.carriers.set(key, false);
    const found = desc.fields.some((field) => {
      if (fullName(field) in context.slots) return true;
      return field.message !== undefined && !(fullName(field) in contexts) && this.carries(field.message, context);
    });
    this.carriers.set(key, found);
    return found;
  }
}

/** The member of a oneof that requires least, without a message that may lead back here. */
function easiest(oneof: DescOneof): DescField {
  const cost = (field: DescField): number => {
    if (fullName(field) in fieldHints) return 0;
    if (field.message === undefined) return 1;
    if (field.message.typeName in messageHints) return 2;
    if (field.message.typeName.startsWith(oneof.parent.typeName)) return 3;
    return isSlot(field) ? 4 : 5;
  };
  const members = oneof.fields.filter(({ deprecated }) => !deprecated);
  return members.sort((a, b) => cost(a) - cost(b))[0] ?? oneof.fields[0]!;
}

/** Lists whose last member must stay, such as the terminal filter. */
const keptBehind = new Set([
  "envoy.config.listener.v3.FilterChain.filters",
  "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.http_filters",
  "envoy.extensions.filters.http.router.v3.Router.upstream_http_filters",
  "envoy.extensions.upstreams.http.v3.HttpProtocolOptions.http_filters",
  "envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy.thrift_filters",
]);

/** Filters that must be the last. */
const last =
  /\.(TcpProxy|Echo|HttpConnectionManager|direct_response\.v3\.Config|DubboProxy|RedisProxy|ThriftProxy|GenericProxy|ReverseTunnel|DrainAwareHttpConnectionManager|Router|McpRouter|UpstreamCodec)$/;

function endsList(value: JsonValue): boolean {
  const { typed_config, config_discovery } = value as Readonly<Record<string, JsonObject | undefined>>;
  const type = (typed_config ?? (config_discovery?.default_config as JsonObject | undefined))?.["@type"];
  return typeof type === "string" && last.test(type);
}
