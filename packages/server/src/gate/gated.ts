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
  const { evidence = nothingShown } = call;
  const caller = options.gate.callerOf(evidence, options.from);
  if (!(caller instanceof Promise)) return decideNow(call, options, caller);
  return decideLater(call, options, caller);
}

function decideNow(
  call: Pick<Call, "evidence" | "end">,
  { shares, accept, refuse }: Gated,
  caller: Caller | undefined,
): CallHandler | Refusal {
  if (caller === undefined) return refuse(refusedCaller);
  const full = shares.full(caller, "stream");
  if (full !== undefined) return refuse(tooMuch(full));
  const handler = accept(caller, call.evidence ?? nothingShown);
  const opened = "code" in handler ? undefined : shares.open(caller, "stream");
  return "code" in handler || opened === undefined ? handler : paced(call, handler, opened, shares, refuse);
}

/** Not a part of `decideNow`: most callers have no share, and are spared its closures. */
function paced(
  call: Pick<Call, "end">,
  handler: CallHandler,
  { share, close }: NonNullable<ReturnType<Shares["open"]>>,
  shares: Shares,
  refuse: Gated["refuse"],
): CallHandler {
  const tooFast = () => refuse(tooMuch(shares.tooFast()));
  return new PacedCall(call, handler, { share, close, late: shares.late, refuse: tooFast });
}

function decideLater(
  call: Pick<Call, "evidence" | "end">,
  options: Gated,
  caller: Promise<Caller | undefined>,
): CallHandler {
  const holding = options.waiting();
  // Whose proof cannot be judged has shown none.
  void caller.then(
    (known) => holding.decided(() => decideNow(call, options, known)),
    () => holding.decided(() => options.refuse(refusedCaller)),
  );
  return holding;
}
