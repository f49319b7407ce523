/**
 * The answers of servers of one store to each other, by the name of the question. Both are JSON. The state of nodes
 * never goes through the store: a server that needs it asks all others.
 */
export type ReplicaAnswers = Readonly<Record<string, (asked: never) => Promise<unknown>>>;

/** Questions are sent to this path, with the name of the question behind it. */
export const askPath = "/replica/v1/";

/** The longest question, in bytes. */
export const maxAskedBytes = 4 * 1024 * 1024;

/** Undefined: it is no JSON. Node's own message would show a part of the text, which may be a secret. */
export function parsedBody(bytes: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(bytes.toString("utf8")) };
  } catch {
    return undefined;
  }
}
