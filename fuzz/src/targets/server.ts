import assert from "node:assert/strict";
import { type ApiVersion, resourceTypes } from "@xdskit/api";
import { type SotwOrDelta, statusCode } from "@xdskit/protocol";
import type { MemoryStream, Method } from "@xdskit/server";
import fc from "fast-check";
import type { FuzzTarget } from "../kit/target.js";
import { requestBytes } from "../requests.js";
import { openServerUnderFuzz, type ServerUnderFuzz, within } from "../server-under-fuzz.js";

/** The ways in which a client leaves. */
type Leave = "finish" | "cancel" | "finish-unread";

/** A client's life. */
export interface HostileStream {
  readonly variant: SotwOrDelta;
  readonly api: ApiVersion;
  readonly only: string | undefined;
  readonly unary: boolean;
  readonly requests: readonly Uint8Array[];
  readonly leave: Leave;
}

export const hostileStreams: fc.Arbitrary<readonly HostileStream[]> = fc.array(
  fc.constantFrom("sotw" as const, "delta" as const).chain((variant) =>
    fc.record({
      variant: fc.constant(variant),
      api: fc.constantFrom<ApiVersion>("v3", "v2"),
      only: fc.constantFrom(undefined, undefined, "cluster", "endpoint", "listener"),
      unary: fc.boolean(),
      requests: fc.array(requestBytes(variant), { maxLength: 5 }),
      leave: fc.constantFrom<Leave>("finish", "finish", "cancel", "finish-unread"),
    }),
  ),
  { minLength: 1, maxLength: 3 },
);

/** Statuses that a client's mistakes may end a stream with. */
export const mistakes: readonly number[] = [
  statusCode.ok,
  statusCode.invalidArgument,
  statusCode.permissionDenied,
  statusCode.resourceExhausted,
];

export const server: FuzzTarget = {
  name: "server",
  suiteRuns: 150,
  async open() {
    let under = await openServerUnderFuzz();
    const property = fc.asyncProperty(hostileStreams, async (streams) => {
      try {
        await Promise.all(streams.map((one) => live(under, one)));
        await under.assertHealthy();
        await under.assertNothingLeft();
      } catch (error) {
        // The next events must be seen by themselves.
        await under.close();
        under = await openServerUnderFuzz();
        throw error;
      }
    });
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      finish: () => under.assertNothingLeft(),
      close: () => under.close(),
      show: (input) => fc.stringify(input),
    };
  },
};

async function live({ transport, address }: ServerUnderFuzz, one: HostileStream): Promise<void> {
  const { variant, api, requests, leave } = one;
  const only = one.only === undefined ? undefined : resourceTypes.find(one.only);
  const unary = one.unary && only !== undefined && variant === "sotw";
  const method: Method = { variant, api, only, unary };
  const stream: MemoryStream = transport.open(address, method, () => {});
  if (leave === "finish-unread") stream.pause();
  for (const bytes of requests) stream.send(bytes);
  if (leave === "cancel") {
    stream.cancel();
    return;
  }
  stream.finish();
  await Promise.resolve();
  stream.resume();
  const { code, message } = await within("the end", stream.status);
  assert.ok(mistakes.includes(code), `ended with ${code}: ${message}`);
  assert.ok(message.length < 1_500, `a message of ${message.length} characters`);
}
