import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { SotwOrDelta } from "@xdskit/protocol";
import type { XdsClient } from "../../contract/xds-client.js";
import { createClient } from "../../create-client.js";
import type { ClientEvent } from "../../events/client-event.js";
import type { ClientOptions } from "../../options/client-options.js";
import type { Told } from "../told.js";
import { waitFor } from "../wait-for.js";
import { type OddResponse, responseBytes } from "./odd-responses.js";
import { createOddServer, type OddServer, type OddStream } from "./odd-server.js";

/** A client of an odd server. */
export interface Odd {
  readonly server: OddServer;
  readonly client: XdsClient;
  readonly events: readonly ClientEvent[];
  /** The next stream, and its first request. */
  stream(): Promise<OddStream>;
}

/** A client of a server whose actions the test chooses. Afterwards no stream may be left. */
export async function odd(
  t: TestContext,
  variant: SotwOrDelta,
  options: Partial<ClientOptions> = {},
  given?: OddServer,
): Promise<Odd> {
  const server = given ?? (await createOddServer());
  const client = createClient({
    servers: [{ kind: "grpc", address: server.address, variant }],
    node: { id: "n" },
    backoff: { firstMs: 10, maxMs: 50 },
    ...options,
  });
  const events: ClientEvent[] = [];
  client.on((event) => events.push(event));
  t.after(async () => {
    await client.close();
    assert.equal(server.open, 0, "streams are left");
    await server.close();
  });
  return {
    server,
    client,
    events,
    async stream() {
      const stream = await server.nextStream();
      await stream.next();
      return stream;
    },
  };
}

/** Sends a response on a stream of either variant. */
export function send(stream: OddStream, response: OddResponse): void {
  stream.send(responseBytes(stream.variant, response));
}

/** Waits until a watcher has something, and asserts that it was told nothing else meanwhile. */
export async function has(told: Told, now: string, ...lines: readonly string[]): Promise<void> {
  await waitFor(`${now}; was told ${told.lines.join("; ")}`, () => told.now === now);
  if (lines.length > 0) assert.deepEqual(told.lines, lines);
}
