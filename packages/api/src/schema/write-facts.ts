import type {
  EnumFacts,
  ExtensionFacts,
  FieldFacts,
  FileFacts,
  Life,
  MessageFacts,
  Named,
  PackageFacts,
  ServiceFacts,
} from "./facts.js";
import { assigned, type OptionOwner, wordsOf } from "./words.js";

/** The text of one package, as described in `packages/api/schema/README.md`. `parsePackage` reads it. */
export function formatPackage(facts: PackageFacts): string {
  const lines: string[] = [];
  /** Types of the same package are written without its name. */
  const nameOf = (type: string): string =>
    type.startsWith(`${facts.name}.`) && /^[A-Z]/.test(type.slice(facts.name.length + 1))
      ? type.slice(facts.name.length + 1)
      : type;
  const add = (depth: number, ...words: readonly string[]) => lines.push("  ".repeat(depth) + words.join(" "));
  const named = (owner: OptionOwner, { name, options, ...life }: Named) => [
    name,
    ...lifeWords(life),
    ...wordsOf(options, owner),
  ];

  function addField(depth: number, field: FieldFacts): void {
    const { number, name, label, mapKey, jsonName, defaultValue, options } = field;
    const type = mapKey === undefined ? nameOf(field.type) : `map<${mapKey},${nameOf(field.type)}>`;
    const extra = [
      ...(jsonName === undefined ? [] : [assigned("json", jsonName)]),
      ...(defaultValue === undefined ? [] : [assigned("default", defaultValue)]),
    ];
    const often = label === "" || mapKey !== undefined ? [] : [label];
    add(depth, String(number), name, ...often, type, ...extra, ...lifeWords(field), ...wordsOf(options, "field"));
  }

  function addMessage(depth: number, message: MessageFacts): void {
    add(depth, "message", ...named("message", message));
    let oneof: string | undefined;
    for (const field of message.fields) {
      if (field.oneof !== undefined && field.oneof !== oneof) {
        const { options } = message.oneofs.find(({ name }) => name === field.oneof)!;
        add(depth + 1, "oneof", field.oneof, ...wordsOf(options, "oneof"));
      }
      oneof = field.oneof;
      addField(oneof === undefined ? depth + 1 : depth + 2, field);
    }
    addReserved(depth + 1, message);
    for (const nested of message.messages) addMessage(depth + 1, nested);
    for (const nested of message.enums) addEnum(depth + 1, nested);
  }

  function addEnum(depth: number, facts: EnumFacts): void {
    add(depth, "enum", ...named("enum", facts));
    for (const value of facts.values) add(depth + 1, String(value.number), ...named("value", value));
    addReserved(depth + 1, facts);
  }

  function addReserved(depth: number, { reserved }: Pick<MessageFacts, "reserved">): void {
    if (reserved.length > 0) add(depth, "reserved", ...reserved);
  }

  function addService(depth: number, service: ServiceFacts): void {
    add(depth, "service", ...named("service", service));
    for (const method of service.methods) {
      const { name, input, output, streamsInput, streamsOutput, options, ...life } = method;
      const takes = [...(streamsInput ? ["stream"] : []), nameOf(input)];
      const gives = [...(streamsOutput ? ["stream"] : []), nameOf(output)];
      add(depth + 1, "rpc", name, ...takes, "->", ...gives, ...lifeWords(life), ...wordsOf(options, "method"));
    }
  }

  function addExtensions(depth: number, { extended, fields }: ExtensionFacts): void {
    add(depth, "extend", nameOf(extended));
    for (const field of fields) addField(depth + 1, field);
  }

  function addFile(file: FileFacts): void {
    const syntax = file.syntax === "proto3" ? [] : [`syntax=${file.syntax}`];
    add(0, "file", file.path, ...syntax, ...wordsOf(file.options, "file"));
    for (const path of file.publicImports) add(1, "public", path);
    for (const extensions of file.extensions) addExtensions(1, extensions);
    for (const message of file.messages) addMessage(1, message);
    for (const each of file.enums) addEnum(1, each);
    for (const service of file.services) addService(1, service);
  }

  add(0, "package", facts.name);
  for (const file of facts.files) addFile(file);
  for (const message of facts.removedMessages) addMessage(0, message);
  for (const each of facts.removedEnums) addEnum(0, each);
  return `${lines.join("\n")}\n`;
}

function lifeWords({ since, removed }: Life): string[] {
  return [
    ...(since === undefined ? [] : [assigned("since", since)]),
    ...(removed === undefined ? [] : [assigned("removed", removed)]),
  ];
}
