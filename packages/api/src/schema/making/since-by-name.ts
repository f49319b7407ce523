import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  type FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";

/** Envoy's own API at one minor version. */
export interface VersionReading {
  readonly version: string;
  readonly files: readonly FileDescriptorProto[];
  /** Contrib's; empty if it is not published for that version. */
  readonly contrib: readonly FileDescriptorProto[];
}

/**
 * The versions of Envoy that introduced the messages, fields, enums and values of the last reading, by full name:
 * `envoy.config.cluster.v3.Cluster.stats_matcher` is `1.40`. Elements as old as their message or enum, or as the first
 * reading, are left out.
 */
export function sinceByName(readings: readonly VersionReading[]): ReadonlyMap<string, string> {
  const read = readings.map(({ version, files, contrib }) => ({
    version,
    hasContrib: contrib.length > 0,
    elements: elementsOf([...files, ...contrib]),
    ofContrib: [...elementsOf(contrib).keys()],
  }));
  const ofContrib = new Set(read.flatMap((each) => each.ofContrib));
  function sinceOf(key: string): string | undefined {
    // A version whose contrib is not published proves nothing about a part of contrib.
    const known = read.filter(({ hasContrib, elements }) => hasContrib || elements.has(key) || !ofContrib.has(key));
    const before = known.findLastIndex(({ elements }) => !elements.has(key));
    return before === -1 ? undefined : known[before + 1]?.version;
  }
  const found = new Map<string, string>();
  for (const [key, { name, parent }] of read.at(-1)?.elements ?? []) {
    const since = sinceOf(key);
    if (since !== undefined && (parent === undefined || since !== sinceOf(parent))) found.set(name, since);
  }
  return found;
}

interface Element {
  readonly name: string;
  /** The key of the message or enum around it; undefined for a top-level element. */
  readonly parent: string | undefined;
}

/**
 * The elements of files by key. An element is the same in two versions if its key is the same: a field of another type
 * is another field, even under the same number.
 */
function elementsOf(files: readonly FileDescriptorProto[]): ReadonlyMap<string, Element> {
  const elements = new Map<string, Element>();
  const add = (name: string, parent: string | undefined, kind: string): string => {
    const key = `${name} ${kind}`;
    elements.set(key, { name, parent });
    return key;
  };
  const addTypes = (
    scope: string,
    messages: readonly DescriptorProto[],
    enums: readonly EnumDescriptorProto[],
    parent?: string,
  ): void => {
    for (const message of messages) {
      if (message.options?.mapEntry) continue;
      const name = `${scope}.${message.name}`;
      const key = add(name, parent, "message");
      for (const field of message.field) add(`${name}.${field.name}`, key, `${field.number} ${typeOf(field, message)}`);
      addTypes(name, message.nestedType, message.enumType, key);
    }
    for (const { name, value } of enums) {
      const key = add(`${scope}.${name}`, parent, "enum");
      for (const each of value) add(`${scope}.${name}.${each.name}`, key, String(each.number));
    }
  };
  for (const file of files) addTypes(file.package, file.messageType, file.enumType);
  return elements;
}

/** Of a map, the types of its keys and values: its entry message is no element of its own. */
function typeOf(field: FieldDescriptorProto, message: DescriptorProto): string {
  const entry = message.nestedType.find(
    ({ name, options }) => options?.mapEntry && field.typeName.endsWith(`.${message.name}.${name}`),
  );
  const types = (entry?.field ?? [field]).map(({ type, typeName }) => `${type}${typeName}`);
  return `${field.label === FieldDescriptorProto_Label.REPEATED} ${types}`;
}
