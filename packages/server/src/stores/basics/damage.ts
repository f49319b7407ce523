import { type Finding, XdskitError } from "@xdskit/api";

/** An error under XDSKIT_STORE for what the store must have and cannot give. */
export function damaged(
  what: string,
  where: Pick<Finding, "file" | "type" | "resource"> = {},
  cause?: unknown,
): XdskitError {
  return XdskitError.of("XDSKIT_STORE", `it is damaged: ${what}`, where, { cause });
}
