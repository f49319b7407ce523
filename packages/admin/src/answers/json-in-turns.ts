import { inTurns, type Steps } from "@xdskit/api";

/**
 * The JSON of an answer, made in several turns of the event loop: a list may have ten thousand items. `space`: as of
 * `JSON.stringify`; if above 0, a line break ends it.
 */
export async function jsonInTurns(value: object, space = 0): Promise<Buffer<ArrayBuffer>> {
  return inTurns(jsonOf(value, space));
}

function* jsonOf(value: object, space: number): Steps<Buffer<ArrayBuffer>> {
  const parts: Buffer[] = [];
  const [line, colon] = space === 0 ? ["", ":"] : [`\n${" ".repeat(space)}`, ": "];
  let before = "{";
  for (const [key, content] of Object.entries(value)) {
    if (content === undefined) continue;
    const list: readonly unknown[] | undefined = Array.isArray(content) && content.length > 0 ? content : undefined;
    let text = `${before}${line}${JSON.stringify(key)}${colon}${list === undefined ? indented(content, space, 1) : "["}`;
    for (const [index, item] of list?.entries() ?? []) {
      text += `${index === 0 ? "" : ","}${line}${" ".repeat(space)}${indented(item, space, 2)}`;
      if (text.length < partLength) continue;
      parts.push(Buffer.from(text));
      text = "";
      yield;
    }
    parts.push(Buffer.from(list === undefined ? text : `${text}${line}]`));
    before = ",";
  }
  parts.push(Buffer.from(before === "{" ? "{}" : space === 0 ? "}" : "\n}\n"));
  return Buffer.concat(parts);
}

/** Others may have a turn after this many characters. */
const partLength = 64 * 1024;

function indented(value: unknown, space: number, levels: number): string {
  const text = JSON.stringify(value, undefined, space) ?? "null";
  return space === 0 ? text : text.replaceAll("\n", `\n${" ".repeat(levels * space)}`);
}
