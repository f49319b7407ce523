import type { DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";
import type { Registry } from "../../registry/registry.js";
import type { Extension } from "./extensions.js";
import { fullName, isSlot, type Messages } from "./messages.js";
import type { Context } from "./slots.js";

/** From a message into one of its fields, and through an `Any` into its content. */
export interface Step {
  readonly field: DescField;
  /** The context of the slots of the message that has the field. */
  readonly context: Context | undefined;
  readonly extension: Extension | undefined;
}

/** A message, and how it is reached from a resource. */
export interface Reached {
  readonly root: DescMessage;
  readonly steps: readonly Step[];
  readonly desc: DescMessage;
  readonly context: Context | undefined;
}

/** Fields that lead to messages with a better way to them, or that nobody uses any more. */
const detour = 50;

/** Extensions that Envoy refuses whatever they hold, since the files that they load do not exist. */
const loaded = /dynamic_modules|wasm|geoip/;

/**
 * Each message that the resources lead to, in each context, by the shortest way. Deprecated fields are taken where
 * there is no other.
 */
export function reachedFrom(
  roots: readonly DescMessage[],
  registry: Registry,
  messages: Messages,
  detours: ReadonlySet<string>,
): readonly Reached[] {
  const waiting = new Map<number, Reached[]>([
    [0, roots.map((root) => ({ root, steps: [], desc: root, context: undefined }))],
  ]);
  const found = new Map<string, Reached>();
  const put = (cost: number, reached: Reached): void => {
    const list = waiting.get(cost);
    if (list === undefined) waiting.set(cost, [reached]);
    else list.push(reached);
  };
  for (let cost = 0; cost < 40 * detour; cost++) {
    for (const reached of waiting.get(cost) ?? []) {
      const key = `${reached.desc.typeName} ${reached.context?.name ?? ""}`;
      if (found.has(key)) continue;
      found.set(key, reached);
      for (const next of nextOf(reached, registry, messages)) {
        const step = next.steps.at(-1)!;
        const isDetour =
          step.field.deprecated || detours.has(fullName(step.field)) || loaded.test(step.extension?.name ?? "");
        put(cost + (isDetour ? detour : 1), next);
      }
    }
    waiting.delete(cost);
    if (waiting.size === 0) break;
  }
  return [...found.values()];
}

function nextOf(reached: Reached, registry: Registry, messages: Messages): Reached[] {
  const { root, steps, desc, context } = reached;
  return desc.fields.flatMap((field): Reached[] => {
    if (field.message === undefined) return [];
    const go = (to: DescMessage, below: Context | undefined, extension?: Extension): Reached => ({
      root,
      steps: [...steps, { field, context, extension }],
      desc: to,
      context: below,
    });
    const extensions = messages.extensionsOf(field, context);
    if (extensions.length > 0) {
      return extensions.flatMap((extension) => {
        const to = registry.getMessage(extension.type);
        return to === undefined || isProtobufs(to) ? [] : [go(to, undefined, extension)];
      });
    }
    return isProtobufs(field.message) || isSlot(field) ? [] : [go(field.message, messages.below(field, context))];
  });
}

function isProtobufs(desc: DescMessage): boolean {
  return desc.file.proto.package === "google.protobuf";
}

/** The resource that has the message, which `leaf` changes at the end of the steps. */
export function resourceWith(reached: Reached, messages: Messages, leaf: (object: JsonObject) => void): JsonObject {
  const at = (index: number, desc: DescMessage, context: Context | undefined): JsonObject => {
    const object = messages.minimal(desc, context);
    const step = reached.steps[index];
    if (step === undefined) {
      leaf(object);
      return object;
    }
    const { field, extension } = step;
    const next = reached.steps[index + 1];
    const inner = next?.field.parent ?? reached.desc;
    const content = at(index + 1, inner, next?.context ?? reached.context);
    const value = extension === undefined ? content : messages.wrapped(field, extension, content);
    messages.set(object, field, value, extension);
    return object;
  };
  return at(0, reached.root, undefined);
}
