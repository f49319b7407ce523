import { statusCode } from "@xdskit/protocol";
import type { Refusal } from "../contracts/transport.js";

/** Why a server with this many streams open refuses another stream or call; undefined if it does not. */
export function serverRefusal(isClosing: boolean, open: number, most: number): Refusal | undefined {
  if (isClosing) return { code: statusCode.unavailable, message: "the server is shutting down" };
  if (open < most) return undefined;
  return { code: statusCode.resourceExhausted, message: `the server has ${open} streams open and takes no more` };
}
