import { nameList } from "../verdicts/names.js";
import type { ReceivedResponse, SentRequest } from "./messages.js";

/** Lines that are kept of one check: the first ones, which say how it began, and the last ones. */
const mostLines = 40;

/**
 * What went over the wire during a check, one line for each message, in the form of our transcripts: `> cluster a ack`
 * went out, `< cluster a=1 b=1` came in. A content has the number of its first appearance, a nonce and a version that
 * of their response: `n=#1`.
 */
export class Transcript {
  readonly #lines: string[] = [];
  #left = 0;
  readonly #contents = new Map<string, string[]>();

  add(line: string): void {
    if (this.#lines.length < mostLines) this.#lines.push(line);
    else {
      // Half of them stay as the beginning; the oldest of the rest goes.
      this.#lines.splice(mostLines / 2, 1);
      this.#lines.push(line);
      this.#left++;
    }
  }

  /** A name for the content of a resource: equal contents have one number. */
  content(type: string, name: string, body: Uint8Array): string {
    const key = `${type} ${name}`;
    const contents = this.#contents.get(key) ?? [];
    this.#contents.set(key, contents);
    const hex = Buffer.from(body).toString("base64");
    if (!contents.includes(hex)) contents.push(hex);
    return `${name}=${contents.indexOf(hex) + 1}`;
  }

  get lines(): readonly string[] {
    if (this.#left === 0) return [...this.#lines];
    const half = mostLines / 2;
    return [...this.#lines.slice(0, half), `# ${this.#left} lines are left out`, ...this.#lines.slice(half)];
  }
}

/** The words of a request after its type. `earlier`: the responses of the type on this stream, in order. */
export function requestWords(request: SentRequest, earlier: readonly ReceivedResponse[]): string {
  const { names = [], subscribe = [], unsubscribe = [], initial = {}, version = "", nonce = "", error } = request;
  const words: string[] = [];
  if (names.length > 0) words.push(nameList(names));
  words.push(...limited(subscribe.map((name) => `+${name}`)), ...limited(unsubscribe.map((name) => `-${name}`)));
  if (Object.keys(initial).length > 0) words.push("has", ...limited(Object.keys(initial)));
  const answered = earlier.findIndex((response) => response.nonce === nonce);
  const isLast = answered !== -1 && answered === earlier.length - 1;
  if (error !== undefined) words.push("nack");
  else if (isLast && (version === "" || version === earlier[answered]?.version)) return [...words, "ack"].join(" ");
  if (version !== "")
    words.push(
      `v=${labelOf(
        earlier.findIndex((one) => one.version === version),
        version,
      )}`,
    );
  if (nonce !== "" && !(isLast && error !== undefined)) words.push(`n=${labelOf(answered, nonce)}`);
  return words.join(" ");
}

const labelOf = (index: number, text: string): string => (index === -1 ? text : `#${index + 1}`);

/** The words of a response after its type: `a=1~30s@b` is a content, its TTL, its alias, `a!5` why there is none. */
export function responseWords({ type, resources, removed, errors }: ReceivedResponse, transcript: Transcript): string {
  const words = resources.map(({ name, bodyType, body, aliases, ttlMs }) => {
    const content = bodyType === "" ? `${name}=∅` : transcript.content(type, name, body);
    return [content, ...(ttlMs === undefined ? [] : [`~${ttlMs / 1_000}s`]), ...aliases.map((one) => `@${one}`)].join(
      "",
    );
  });
  const failed = errors.map(({ name, code }) => `${name}!${code}`);
  return [...limited(words), ...limited(removed.map((name) => `-${name}`)), ...limited(failed)].join(" ") || "[]";
}

function limited(words: readonly string[]): readonly string[] {
  return words.length === 0 ? [] : [nameList(words)];
}
