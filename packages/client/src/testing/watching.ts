import type { CollectionWatcher, ResourceWatcher, XdsClient } from "../contract/xds-client.js";
import { createClientWith } from "../create-client.js";
import type { ClientEvent } from "../events/client-event.js";
import type { ClientOptions } from "../options/client-options.js";
import { manualClock } from "./manual-clock.js";
import { type ScriptedUpstream, scriptedUpstreams } from "./scripted/scripted-upstream.js";

/** The tools of a test of watchers. */
export interface Tools {
  readonly client: XdsClient;
  of(server: string): ScriptedUpstream;
  /** The only server. */
  readonly one: ScriptedUpstream;
  readonly clock: ReturnType<typeof manualClock>;
  readonly events: ClientEvent[];
}

/** Runs a test with a client whose servers are scripts, and whose clock the test moves. */
export async function withClient(
  test: (tools: Tools) => Promise<void>,
  options: Partial<ClientOptions> = {},
): Promise<void> {
  const clock = manualClock();
  const { create, of } = scriptedUpstreams();
  const client = createClientWith({ servers: ["one:1"], node: { id: "me" }, clock, ...options }, create);
  const events: ClientEvent[] = [];
  client.on((event) => events.push(event));
  try {
    await test({ client, of, one: of("one:1"), clock, events });
  } finally {
    await client.close();
  }
}

/** Writes down each call: `web new`, `error XDSKIT_…`, `beside XDSKIT_…`. */
export function recorder(): ResourceWatcher & { readonly log: string[]; take(): string[] } {
  const log: string[] = [];
  return {
    log,
    onChanged: ({ name, message }) =>
      void log.push(`${name} ${"altStatName" in message ? message.altStatName : ""}`.trim()),
    onError: ({ code }) => void log.push(`error ${code}`),
    onAmbient: ({ code }) => void log.push(`beside ${code}`),
    take: () => log.splice(0),
  };
}

/** `a,b +a -c`. */
export function collector(): CollectionWatcher & { take(): string[] } {
  const log: string[] = [];
  return {
    onChanged({ resources, upserted, removed }) {
      log.push(`${[...resources.keys()].sort()} +${upserted.map(({ name }) => name).sort()} -${[...removed].sort()}`);
    },
    onError: ({ code }) => void log.push(`error ${code}`),
    onAmbient: ({ code }) => void log.push(`beside ${code}`),
    take: () => log.splice(0),
  };
}
