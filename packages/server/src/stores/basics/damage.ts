import { type Finding, XdskitError } from "@xdskit/api";

/** The cause of the errors of a store that lacks, or cannot read, a part of what it holds. */
class StoreDamage extends Error {}

/** An error under XDSKIT_STORE for what the store must have and cannot give. */
export function damaged(
  what: string,
  where: Pick<Finding, "file" | "type" | "resource"> = {},
  cause?: unknown,
): XdskitError {
  return XdskitError.of("XDSKIT_STORE", `it is damaged: ${what}`, where, { cause: new StoreDamage(what, { cause }) });
}

/** Whether the store is damaged, in contrast to a store that cannot be read or written now. */
export function isDamage(error: unknown): boolean {
  return error instanceof XdskitError && error.cause instanceof StoreDamage;
}
