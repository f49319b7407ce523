import type {
  EnumFacts,
  ExtensionFacts,
  FieldFacts,
  FileFacts,
  Label,
  Life,
  MessageFacts,
  MethodFacts,
  Named,
  OneofFacts,
  Options,
  PackageFacts,
  ServiceFacts,
  ValueFacts,
} from "./facts.js";
import { scalarNumbers } from "./facts.js";
import { type OptionOwner, optionOf, split, wordsIn } from "./words.js";

/** A line with its indented lines. */
interface Line {
  readonly number: number;
  readonly words: readonly string[];
  readonly below: Line[];
}

/** Reads the output of `formatPackage`. Throws a plain error with `source` and the line for any other text. */
export function parsePackage(text: string, source: string): PackageFacts {
  const [head, ...rest] = linesOf(text, source);
  if (head === undefined || head.words[0] !== "package" || head.words[1] === undefined || head.words.length > 2)
    throw new Error(`${source}:1: expected package NAME`);
  const name = head.words[1];
  const files: FileFacts[] = [];
  const removedMessages: MessageFacts[] = [];
  const removedEnums: EnumFacts[] = [];
  for (const line of rest) {
    try {
      if (line.words[0] === "file") files.push(readFile(line, name));
      else if (line.words[0] === "message") removedMessages.push(readMessage(line, name));
      else if (line.words[0] === "enum") removedEnums.push(readEnum(line));
      else throw new LineProblem(line, "expected file, message or enum");
    } catch (cause) {
      const at = cause instanceof LineProblem ? cause.line : line;
      throw new Error(`${source}:${at.number}: ${(cause as Error).message}`, { cause });
    }
  }
  return { name, files, removedMessages, removedEnums };
}

class LineProblem extends Error {
  readonly line: Line;
  constructor(line: Line, message: string) {
    super(message);
    this.line = line;
  }
}

function linesOf(text: string, source: string): Line[] {
  const top: Line[] = [];
  const open: Line[][] = [top];
  for (const [index, raw] of text.split("\n").entries()) {
    if (raw.trim() === "") continue;
    const indent = raw.length - raw.trimStart().length;
    const into = open[indent / 2];
    if (into === undefined) throw new Error(`${source}:${index + 1}: indented by ${indent} spaces, too far`);
    const line: Line = { number: index + 1, words: wordsIn(raw), below: [] };
    into.push(line);
    open.splice(indent / 2 + 1, open.length, line.below);
  }
  return top;
}

/** The words after those with a fixed position: life, options, and those that `special` takes. */
function readWords(
  line: Line,
  words: readonly string[],
  owner: OptionOwner,
  special: Readonly<Record<string, (value: string) => void>> = {},
): { options: Options } & Life {
  const options: Options = {};
  const life: { since?: string; removed?: string } = {};
  for (const word of words) {
    try {
      const [name, value] = word.startsWith("{") ? ["", word] : split(word);
      if (name === "since" || name === "removed") life[name] = String(value);
      else if (Object.hasOwn(special, name)) special[name]?.(String(value));
      else {
        const [option, its] = optionOf(word, owner);
        options[option] = its;
      }
    } catch (cause) {
      throw new LineProblem(line, `cannot read ${word}: ${(cause as Error).message}`);
    }
  }
  return { ...life, options };
}

function readNamed(line: Line, owner: OptionOwner): Named {
  const [, name, ...words] = line.words;
  if (name === undefined) throw new LineProblem(line, "a name is missing");
  return { name, ...readWords(line, words, owner) };
}

function typeName(type: string, packageName: string): string {
  return /^[A-Z]/.test(type) ? `${packageName}.${type}` : type;
}

function readFile(line: Line, packageName: string): FileFacts {
  const [, path, ...words] = line.words;
  if (path === undefined) throw new LineProblem(line, "a path is missing");
  let syntax: FileFacts["syntax"] = "proto3";
  const { options } = readWords(line, words, "file", {
    syntax(value) {
      if (value !== "proto2") throw new Error("only proto2 is said");
      syntax = value;
    },
  });
  const publicImports: string[] = [];
  const extensions: ExtensionFacts[] = [];
  const messages: MessageFacts[] = [];
  const enums: EnumFacts[] = [];
  const services: ServiceFacts[] = [];
  for (const part of line.below) {
    const [keyword, name = ""] = part.words;
    if (keyword === "public") publicImports.push(name);
    else if (keyword === "extend") {
      const fields = part.below.map((field) => readField(field, packageName));
      extensions.push({ extended: typeName(name, packageName), fields });
    } else if (keyword === "message") messages.push(readMessage(part, packageName));
    else if (keyword === "enum") enums.push(readEnum(part));
    else if (keyword === "service") services.push(readService(part, packageName));
    else throw new LineProblem(part, "expected public, extend, message, enum or service");
  }
  return { path, syntax, options, publicImports, extensions, messages, enums, services };
}

function readMessage(line: Line, packageName: string): MessageFacts {
  const fields: FieldFacts[] = [];
  const oneofs: OneofFacts[] = [];
  const reserved: string[] = [];
  const messages: MessageFacts[] = [];
  const enums: EnumFacts[] = [];
  for (const part of line.below) {
    const [keyword, name = "", ...words] = part.words;
    if (keyword === "message") messages.push(readMessage(part, packageName));
    else if (keyword === "enum") enums.push(readEnum(part));
    else if (keyword === "reserved") reserved.push(...part.words.slice(1));
    else if (keyword === "oneof") {
      oneofs.push({ name, options: readWords(part, words, "oneof").options });
      for (const field of part.below) fields.push(readField(field, packageName, name));
    } else fields.push(readField(part, packageName));
  }
  return { ...readNamed(line, "message"), fields, oneofs, reserved, messages, enums };
}

function readField(line: Line, packageName: string, oneof?: string): FieldFacts {
  const [number, name, ...rest] = line.words;
  const label: Label = isLabel(rest[0]) ? rest[0] : "";
  const [type, ...words] = label === "" ? rest : rest.slice(1);
  if (name === undefined || type === undefined || !/^\d+$/.test(number ?? ""))
    throw new LineProblem(line, "expected a field: NUMBER NAME TYPE");
  const map = /^map<(\w+),(.+)>$/.exec(type);
  const ofValue = typeName(map?.[2] ?? type, packageName);
  if (!Object.hasOwn(scalarNumbers, ofValue) && !ofValue.includes("."))
    throw new LineProblem(line, `${type} is no type`);
  const extra: { jsonName?: string; defaultValue?: string } = {};
  const read = readWords(line, words, "field", {
    json: (value) => {
      extra.jsonName = value;
    },
    default: (value) => {
      extra.defaultValue = value;
    },
  });
  return {
    number: Number(number),
    name,
    label: map === null ? label : "repeated",
    type: ofValue,
    ...(map === null ? {} : { mapKey: map[1] }),
    ...(oneof === undefined ? {} : { oneof }),
    ...extra,
    ...read,
  };
}

function isLabel(word: string | undefined): word is Label {
  return word === "optional" || word === "required" || word === "repeated";
}

function readEnum(line: Line): EnumFacts {
  const isReserved = ({ words }: Line) => words[0] === "reserved";
  const reserved = line.below.filter(isReserved).flatMap(({ words }) => words.slice(1));
  const lines = line.below.filter((part) => !isReserved(part));
  const values = lines.map((part): ValueFacts => {
    const number = Number(part.words[0]);
    if (!Number.isInteger(number)) throw new LineProblem(part, "expected a value: NUMBER NAME");
    return { number, ...readNamed(part, "value") };
  });
  return { ...readNamed(line, "enum"), values, reserved };
}

function readService(line: Line, packageName: string): ServiceFacts {
  const methods = line.below.map((part): MethodFacts => {
    const [, name, ...rest] = part.words;
    const arrow = rest.indexOf("->");
    const input = rest.slice(0, arrow);
    const streamsInput = input[0] === "stream";
    const streamsOutput = rest[arrow + 1] === "stream";
    const end = arrow + (streamsOutput ? 3 : 2);
    const [from, to] = [input.at(-1), rest[end - 1]];
    if (part.words[0] !== "rpc" || name === undefined || arrow === -1 || from === undefined || to === undefined)
      throw new LineProblem(part, "expected a method: rpc NAME [stream] TYPE -> [stream] TYPE");
    return {
      name,
      input: typeName(from, packageName),
      output: typeName(to, packageName),
      streamsInput,
      streamsOutput,
      ...readWords(part, rest.slice(end), "method"),
    };
  });
  return { ...readNamed(line, "service"), methods };
}
