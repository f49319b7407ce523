import { readFileSync } from "node:fs";

/** An extension: its name, and the message that configures it. */
export interface Extension {
  readonly name: string;
  readonly type: string;
}

/** What Envoy has compiled in, by category. An extension with several messages is there once for each of them. */
export type Extensions = ReadonlyMap<string, readonly Extension[]>;

/**
 * What a plain Envoy 1.40 says of itself (the `extensions` of its node), without what has no configuration of its own.
 * A test that asks Envoy keeps the file true. It is read where it stands, since the build copies no text.
 */
const file = new URL("../../../src/testing/corpus/extensions.txt", import.meta.url);

/** Reads `extensions.txt`: a line for each category, below it a line for each extension with its messages. */
export function readExtensions(text: string = readFileSync(file, "utf8")): Extensions {
  const extensions = new Map<string, Extension[]>();
  let members: Extension[] = [];
  for (const line of text.split("\n").filter((each) => each !== "")) {
    if (!line.startsWith(" ")) {
      members = [];
      extensions.set(line, members);
      continue;
    }
    const [name = "", ...types] = line.trim().split(" ");
    members.push(...types.map((type) => ({ name, type })));
  }
  return extensions;
}
