import { statusCode } from "@xdskit/protocol";
import type { Call, CallHandler, Refusal } from "../contracts/transport.js";
import { type Caller, type CallFrom, type Gate, notKnown } from "../identity/caller.js";
import { type Evidence, nothingShown } from "../identity/evidence.js";
import { PacedCall } from "./paced-call.js";
import type { Shares } from "./shares.js";
import type { UnprovenCall } from "./unproven-call.js";

/** What brings a call to its handler. */
export interface Gated {
  readonly gate: Pick<Gate, "callerOf">;
  readonly shares: Shares;
  readonly from: CallFrom;
  /** Takes over the call, once it is known who calls. */
  accept(caller: Caller, evidence: () => Evidence): CallHandler | Refusal;
  /** Records that nobody knows the caller, or that its identity has its share, and returns that. */
  refuse(refusal: Refusal): Refusal;
  /** What holds the call's messages, until it is known who calls. */
  waiting(): UnprovenCall;
}

const refusedCaller: Refusal = { code: statusCode.permissionDenied, message: notKnown };
const tooMuch = (message: string): Refusal => ({ code: statusCode.resourceExhausted, message });

/** Finds out who calls, and only then takes over the call, within the share of its caller. */
export function gated(call: Pick<Call, "evidence" | "end">, options: Gated): CallHandler | Refusal {
  const { gate, shares, from, accept, refuse, waiting } = options;
  const { evidence = nothingShown } = call;
  const tooFast = () => refuse(tooMuch(shares.tooFast()));
  const decide = (caller: Caller | undefined) => {
    if (caller === undefined) return refuse(refusedCaller);
    const full = shares.full(caller, "stream");
    if (full !== undefined) return refuse(tooMuch(full));
    const handler = accept(caller, evidence);
    const opened = "code" in handler ? undefined : shares.open(caller, "stream");
    if ("code" in handler || opened === undefined) return handler;
    const { share, close } = opened;
    return new PacedCall(call, handler, { share, close, late: shares.late, refuse: tooFast });
  };
  const caller = gate.callerOf(evidence, from);
  if (!(caller instanceof Promise)) return decide(caller);
  const holding = waiting();
  // Whose proof cannot be judged has shown none.
  void caller.then(
    (known) => holding.decided(() => decide(known)),
    () => holding.decided(() => refuse(refusedCaller)),
  );
  return holding;
}
