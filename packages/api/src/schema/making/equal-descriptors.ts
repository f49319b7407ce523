import { create, createFileRegistry, type FileRegistry, toJson } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { descriptorsOf, inOrder } from "../descriptors.js";
import type { PackageFacts } from "../facts.js";
import { ofOtherLanguages } from "./facts-of.js";

/**
 * Throws a plain error if the descriptors made from a table differ from the originals, except for parts that are
 * omitted on purpose: options for other languages, unused imports, comments, and the order of map entry messages.
 */
export function refuseLosses(originals: readonly FileDescriptorProto[], table: readonly PackageFacts[]): void {
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: inOrder(originals) }));
  const made = new Map(descriptorsOf(table).map((file) => [file.name, file]));
  for (const original of originals) {
    const again = made.get(original.name);
    if (again === undefined) throw new Error(`the table loses ${original.name}`);
    const [before, after] = [original, again].map((file) => comparable(file, registry));
    if (before !== after) throw new Error(`the table changes ${original.name}:\n${firstDifference(before!, after!)}`);
  }
}

function comparable(original: FileDescriptorProto, registry: FileRegistry): string {
  const file = structuredClone(original);
  file.sourceCodeInfo = undefined;
  file.dependency = file.publicDependency.map((index) => file.dependency[index] ?? "");
  file.publicDependency = [];
  if (file.syntax === "proto2") file.syntax = "";
  for (const message of file.messageType) mapsLast(message);
  const json = toJson(FileDescriptorProtoSchema, file, { registry });
  return JSON.stringify(json, (_, value: unknown) => (isJsonObject(value) ? inOneOrder(value) : value), 1);
}

function isJsonObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sorted by key, without options for other languages, and without empty options. */
function inOneOrder(object: object): object {
  const entries = Object.entries(object).filter(([name]) => !ofOtherLanguages(name));
  const isLeft = ([name, value]: [string, unknown]) =>
    name !== "options" || !isJsonObject(value) || Object.keys(inOneOrder(value)).length > 0;
  return Object.fromEntries(entries.filter(isLeft).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function mapsLast(message: DescriptorProto): void {
  message.nestedType.sort((a, b) => Number(a.options?.mapEntry ?? false) - Number(b.options?.mapEntry ?? false));
  for (const nested of message.nestedType) mapsLast(nested);
}

function firstDifference(before: string, after: string): string {
  const [old, made] = [before.split("\n"), after.split("\n")];
  const at = old.findIndex((line, index) => line !== made[index]);
  const around = (lines: readonly string[]) => lines.slice(Math.max(0, at - 12), at + 4).join("\n");
  return `before:\n${around(old)}\nafter:\n${around(made)}`;
}
