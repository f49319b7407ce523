import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { GrpcServerSettings } from "@xdskit/client";
import { clusterUrl, oddCluster, responseBytes } from "../../../../client/src/testing/odd/odd-responses.js";
import { respond, startOddRestServer } from "../../../../client/src/testing/odd/odd-rest-server.js";
import { createOddServer, type OddServer, type OddStream } from "../../../../client/src/testing/odd/odd-server.js";
import type { RelayOptions } from "../../relay-options.js";
import { becomes, type Stage, see, withStage } from "../../testing/relayed.js";

const listenerUrl = "type.googleapis.com/envoy.config.listener.v3.Listener";
/** Longer than a busy machine takes for an answer. */
const silenceMs = 1_500;

/** Answers one type, and says nothing about others, as servers of the state of the world may. */
async function answerClusters(stream: OddStream): Promise<void> {
  for (let request = await stream.nextIfAny(); request !== undefined; request = await stream.nextIfAny())
    if (request.typeUrl === clusterUrl && request.nonce === "")
      stream.send(responseBytes("sotw", { clusters: [oddCluster("a")] }));
}

/** As `answerClusters`, but also says nothing to those who claim to have what it has. */
async function answerNews(stream: OddStream): Promise<void> {
  for (let request = await stream.nextIfAny(); request !== undefined; request = await stream.nextIfAny()) {
    const isNews = request.nonce === "" && request.version !== "1" && request.initial.a !== "1";
    if (request.typeUrl === clusterUrl && isNews)
      stream.send(responseBytes(stream.variant, { clusters: [oddCluster("a")] }));
  }
}

/** The start of a relay with a cache. */
interface Second {
  readonly stream: OddStream | undefined;
  /** Until the client had everything. Milliseconds. */
  readonly took: number;
}

/** Runs with a relay of an origin that follows a script, and with a client that asks for all clusters and listeners. */
async function withScript(
  script: (stream: OddStream) => Promise<void>,
  upstream: Partial<GrpcServerSettings>,
  run: (seen: Awaited<ReturnType<typeof relayOf>> & { readonly server: OddServer }) => Promise<void>,
): Promise<void> {
  const server = await createOddServer(script);
  try {
    await withStage(async (stage) => {
      const seen = await relayOf(stage, { kind: "grpc", variant: "sotw", ...upstream, address: server.address });
      await run({ ...seen, server });
    });
  } finally {
    await server.close();
  }
}

async function relayOf(stage: Stage, upstream: Parameters<Stage["relay"]>[0], options: Partial<RelayOptions> = {}) {
  const { relay, address } = await stage.relay(upstream, { silenceMs, ...options });
  const edge = stage.client(address);
  let heard = 0;
  edge.watchCollection("listener", "*", {
    onChanged() {
      heard += 1;
    },
  });
  const clusters = see(edge, "cluster");
  const group = relay.groups[0];
  return {
    relay,
    clusters: clusters.names,
    /** What the client heard about listeners, and whether the relay knows all. */
    heard: () => [heard, group?.isKnown],
    /** Nothing may happen meanwhile. */
    wait: () => delay(silenceMs * 2),
  };
}

// They wait most of the time, so they run at the same time.
describe("a type of which the origin says nothing", { concurrency: true }, () => {
  it("is empty once the origin was silent about it for a while, on a stream that it answers", () =>
    withScript(answerClusters, {}, async ({ clusters, heard }) => {
      await becomes(() => [clusters(), heard()], ["a", [1, true]]);
    }));

  it("is empty, too, if its stream is its own one", () =>
    withScript(answerClusters, { aggregated: false }, async ({ clusters, heard }) => {
      await becomes(() => [clusters(), heard()], ["a", [1, true]]);
    }));

  it("is not empty while the stream is down, and is so after a silence on the next one", async () => {
    let isBack = false;
    const script = async (stream: OddStream) => {
      if (stream.number > 1) return isBack ? answerClusters(stream) : stream.end(14, "I start");
      for (let request = await stream.next(); request.typeUrl !== clusterUrl; request = await stream.next());
      stream.send(responseBytes("sotw", { clusters: [oddCluster("a")] }));
      await delay(silenceMs / 3);
      stream.end(14, "I go");
    };
    await withScript(script, {}, async ({ clusters, heard, wait }) => {
      await becomes(clusters, "a");
      await wait();
      assert.deepEqual(heard(), [0, false]);
      isBack = true;
      await becomes(heard, [1, true]);
    });
  });

  it("is not empty if its own stream is refused, although others answer", async () => {
    const script = async (stream: OddStream) =>
      stream.path.includes("Listener") ? stream.end(7, "not for you") : answerClusters(stream);
    await withScript(script, { aggregated: false }, async ({ clusters, heard, wait }) => {
      await becomes(clusters, "a");
      await wait();
      assert.deepEqual(heard(), [0, false]);
    });
  });

  it("is empty if the origin does not know it", async () => {
    const script = async (stream: OddStream) =>
      stream.path.includes("Listener") ? stream.end(12, "unknown service") : answerClusters(stream);
    await withScript(script, { aggregated: false }, async ({ clusters, heard }) => {
      await becomes(() => [clusters(), heard()], ["a", [1, true]]);
    });
  });

  it("is not empty if the relay rejected all that came", async () => {
    const script = async (stream: OddStream) => {
      for (let request = await stream.nextIfAny(); request !== undefined; request = await stream.nextIfAny()) {
        if (request.nonce !== "") continue;
        // A cluster is no listener.
        const typeUrl = request.typeUrl === listenerUrl ? { typeUrl: listenerUrl } : {};
        stream.send(responseBytes("sotw", { clusters: [oddCluster("a")], ...typeUrl }));
      }
    };
    await withScript(script, {}, async ({ clusters, heard, wait }) => {
      await becomes(clusters, "a");
      await wait();
      assert.deepEqual(heard(), [0, false]);
    });
  });

  it("is not empty while its polls fail, and is what the first good answer says", async () => {
    let isGood = false;
    const server = await startOddRestServer((response, { path }) => {
      if (path.endsWith("clusters")) return respond(response, "1", ["a"]);
      if (isGood) return respond(response, "1", [], { typeUrl: listenerUrl });
      response.writeHead(500).end("no");
    });
    try {
      await withStage(async (stage) => {
        const upstream = { kind: "rest", url: server.url, refreshDelayMs: 50 } as const;
        const { clusters, heard, wait } = await relayOf(stage, upstream);
        await becomes(clusters, "a");
        await wait();
        assert.deepEqual(heard(), [0, false]);
        isGood = true;
        await becomes(heard, [1, true]);
      });
    } finally {
      await server.close();
    }
  });

  for (const variant of ["sotw", "delta"] as const) {
    /** Runs twice with one cache, at an origin that says nothing to those who have what it has. */
    const twice = async (isKept: boolean, secondMs: number, run: (seen: Second) => Promise<void>) => {
      const server = await createOddServer((stream) => answerNews(stream));
      try {
        await withStage(async (stage) => {
          const upstream = { kind: "grpc", variant, address: server.address } as const;
          const cache = join(stage.directory, "cache");
          const first = await relayOf(stage, upstream, { cache });
          await becomes(() => [first.clusters(), first.heard()], ["a", [1, true]]);
          await first.relay.close({ timeoutMs: 100 });
          if (!isKept) await rm(join(cache, "all", "listener.pb"));
          const from = performance.now();
          const { clusters, heard } = await relayOf(stage, upstream, { cache, silenceMs: secondMs });
          await becomes(() => [clusters(), heard()], ["a", [1, true]]);
          await run({ stream: server.streams.at(-1), took: performance.now() - from });
        });
      } finally {
        await server.close();
      }
    };

    it(`stays empty after a restart, and others do not come again: ${variant}`, () =>
      // A busy machine may need longer than the first relay waits.
      twice(true, 10 * silenceMs, async ({ stream, took }) => {
        const claimed = stream?.requests.find(({ typeUrl }) => typeUrl === clusterUrl);
        assert.deepEqual([claimed?.version, claimed?.initial], variant === "sotw" ? ["1", {}] : ["", { a: "1" }]);
        assert.ok(took < 10 * silenceMs, `${took} ms`);
      }));

    it(`is empty after another silence if the cache has no file of it: ${variant}`, () =>
      twice(false, silenceMs, async ({ stream, took }) => {
        const asked = stream?.requests.find(({ typeUrl }) => typeUrl === clusterUrl);
        assert.deepEqual([asked?.version, asked?.initial], ["", variant === "sotw" ? {} : { a: "" }]);
        assert.ok(took >= silenceMs, `${took} ms`);
      }));
  }
});
