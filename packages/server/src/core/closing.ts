import { statusCode } from "@xdskit/protocol";
import { checkServerCall } from "../configuration/option-tables.js";
import type { Source } from "../contracts/source.js";
import type { XdsServer } from "../contracts/xds-server.js";
import type { Services } from "../services/services.js";
import type { AdmissionControl, Discovery } from "./answering.js";
import type { ServerCore } from "./server-core.js";

/** The parts of a server that its end ends. */
interface ClosedParts {
  readonly core: ServerCore;
  readonly discovery: Pick<Discovery, "polls">;
  readonly admission: Pick<AdmissionControl, "refuseFurther">;
  readonly services: Pick<Services, "stop">;
  /** Gives one promise for each transport, which keeps to the time. */
  readonly listeners: { close(timeoutMs: number): readonly Promise<void>[] };
  /** Everything that must close with the server. */
  readonly sources: Iterable<Source>;
}

/** Ends a server once, whoever asks, and however often. */
export function createClose(parts: ClosedParts): XdsServer["close"] {
  let closing: Promise<void> | undefined;
  return async (options = {}) => {
    checkServerCall("server.close", options);
    const { timeoutMs = 4_000 } = options;
    parts.admission.refuseFurther();
    closing ??= shutDown(parts, timeoutMs);
    await closing;
  };
}

async function shutDown(
  { core, discovery, services, listeners, sources }: ClosedParts,
  timeoutMs: number,
): Promise<void> {
  core.loop?.stop();
  core.parts.closing();
  discovery.polls.close();
  // This comes first: a client that sees its stream end before its connection would open another stream there, in vain.
  const transportsClosed = listeners.close(timeoutMs);
  services.stop();
  for (const session of core.sessions) session.end(statusCode.ok, "");
  await allClosed(transportsClosed, [...sources], timeoutMs, () => core.end());
}

/** Waits until transports and sources are closed, then calls `over`. Throws if one of them failed. */
async function allClosed(
  transports: readonly Promise<void>[],
  sources: readonly Source[],
  timeoutMs: number,
  over: () => void,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  const closed = await Promise.allSettled([
    ...transports,
    // A source may hang, a transport may not: its contract bounds the time.
    ...sources.map((source) => Promise.race([source.close(), late])),
  ]);
  clearTimeout(timer);
  // Not earlier: unary calls may still wait for a decision.
  over();
  for (const result of closed) if (result.status === "rejected") throw result.reason;
}
