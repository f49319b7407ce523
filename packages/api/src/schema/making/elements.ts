import type {
  EnumFacts,
  FieldFacts,
  FileFacts,
  MessageFacts,
  MethodFacts,
  Named,
  ServiceFacts,
  ValueFacts,
} from "../facts.js";

/** A file and its proto package. */
export interface FileOfPackage {
  readonly packageName: string;
  readonly file: FileFacts;
}

/** An element that may appear and disappear. */
export interface Element {
  /** The key of the message, enum or service around it; the package's name for a top-level element. */
  readonly parent: string;
  readonly fact: Named;
}

/**
 * The keys of elements. An element is the same in two versions if its key is the same: a field of another type is
 * another field, even under the same number.
 */
export const keys = {
  message: (parent: string, { name }: MessageFacts) => `message ${pathOf(parent)}.${name}`,
  enum: (parent: string, { name }: EnumFacts) => `enum ${pathOf(parent)}.${name}`,
  service: (parent: string, { name }: ServiceFacts) => `service ${parent}.${name}`,
  method: (parent: string, { name }: MethodFacts) => `method ${pathOf(parent)}.${name}`,
  field: (parent: string, { name, number, type, label, mapKey = "" }: FieldFacts) =>
    `field ${pathOf(parent)}.${name} ${number} ${label === "repeated" ? "repeated" : ""} ${mapKey} ${type}`,
  value: (parent: string, { name, number }: ValueFacts) => `value ${pathOf(parent)}.${name} ${number}`,
} as const;

/** `message envoy.config.cluster.v3.Cluster` → `envoy.config.cluster.v3.Cluster` */
function pathOf(key: string): string {
  return key.slice(key.indexOf(" ") + 1);
}

/** All messages, enums, services, fields, values and methods of files, by key. */
export function elementsOf(files: readonly FileOfPackage[]): ReadonlyMap<string, Element> {
  const elements = new Map<string, Element>();
  const add = (key: string, parent: string, fact: Named): string => {
    elements.set(key, { parent, fact });
    return key;
  };
  const addTypes = (parent: string, { messages, enums }: Pick<MessageFacts, "messages" | "enums">) => {
    for (const message of messages) {
      const key = add(keys.message(parent, message), parent, message);
      for (const field of message.fields) add(keys.field(key, field), key, field);
      addTypes(key, message);
    }
    for (const facts of enums) {
      const key = add(keys.enum(parent, facts), parent, facts);
      for (const value of facts.values) add(keys.value(key, value), key, value);
    }
  };
  for (const { packageName, file } of files) {
    addTypes(packageName, file);
    for (const service of file.services) {
      const key = add(keys.service(packageName, service), packageName, service);
      for (const method of service.methods) add(keys.method(key, method), key, method);
    }
  }
  return elements;
}
