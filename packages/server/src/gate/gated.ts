import { statusCode } from "@xdskit/protocol";
import type { Call, CallHandler, Refusal } from "../contracts/transport.js";
import { type Caller, type CallFrom, type Gate, notKnown } from "../identity/caller.js";
import { type Evidence, nothingShown } from "../identity/evidence.js";

/** What brings a call to its handler. */
export interface Gated<Handler extends CallHandler> {
  readonly gate: Pick<Gate, "callerOf">;
  readonly from: CallFrom;
  /** Takes over the call, once it is known who calls. */
  accept(caller: Caller, evidence: () => Evidence): Handler | Refusal;
  /** What holds the call's messages, until it is known who calls. */
  waiting(): Handler & { decided(accept: () => CallHandler | Refusal): void };
}

export const refusedCaller: Refusal = { code: statusCode.permissionDenied, message: notKnown };

/** Finds out who calls, and only then takes over the call. */
export function gated<Handler extends CallHandler>(
  call: Pick<Call, "evidence">,
  { gate, from, accept, waiting }: Gated<Handler>,
): Handler | Refusal {
  const { evidence = nothingShown } = call;
  const caller = gate.callerOf(evidence, from);
  const decide = (known: Caller | undefined) => (known === undefined ? refusedCaller : accept(known, evidence));
  if (!(caller instanceof Promise)) return decide(caller);
  const holding = waiting();
  // Whose proof cannot be judged has shown none.
  void caller.then(
    (known) => holding.decided(() => decide(known)),
    () => holding.decided(() => refusedCaller),
  );
  return holding;
}
