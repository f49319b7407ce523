import type { Validity } from "@xdskit/server";
import type { Log } from "../../output/log.js";

const words: Record<Validity["state"], string> = {
  expired: "the server's certificate has expired: clients that check it do not connect",
  "not-yet-valid": "the server's certificate is not valid yet: clients that check it do not connect",
  "expires-soon": "the server's certificate expires soon: put a new one in its place, which needs no restart",
};

/** Logs that clients do not trust a certificate because of its dates, or soon will not. */
export function logValidity(log: Log, { state, file, notBefore, notAfter }: Validity): void {
  log.warn({ file, from: notBefore.toISOString(), until: notAfter.toISOString() }, words[state]);
}
