import { statusCode } from "@xdskit/protocol";
import type { Refusal } from "./transport.js";

/** Why a server lets no further stream or call in, with so many of them open in all of its threads; undefined where it does. */
export function serverRefusal(isClosing: boolean, open: number, most: number): Refusal | undefined {
  if (isClosing) return { code: statusCode.unavailable, message: "the server is shutting down" };
  if (open < most) return undefined;
  return { code: statusCode.resourceExhausted, message: `the server has ${open} streams open and takes no more` };
}
