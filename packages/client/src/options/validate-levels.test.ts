import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import { type Cluster, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import {
  CommonTlsContextSchema,
  DownstreamTlsContextSchema,
} from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/tls";
import {
  DeltaDiscoveryResponseSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createClient } from "../create-client.js";
import type { ClientEvent } from "../events/client-event.js";
import { odd } from "../testing/odd/odd-client.js";
import { clusterUrl } from "../testing/odd/odd-responses.js";
import { respond, startOddRestServer } from "../testing/odd/odd-rest-server.js";
import { waitFor } from "../testing/wait-for.js";
import type { ClientOptions } from "./client-options.js";

const tlsUrl = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext";
const socketWith = (typedConfig: Any) =>
  ({ name: "tls", configType: { case: "typedConfig", value: typedConfig } }) as const;

/**
 * As Istio's generator for gRPC writes it: without a source of the certificates that clients trust. Envoy refuses that,
 * and gRPC's clients take it.
 */
const forGrpc = anyPack(
  DownstreamTlsContextSchema,
  create(DownstreamTlsContextSchema, {
    commonTlsContext: create(CommonTlsContextSchema, {
      validationContextType: { case: "combinedValidationContext", value: { defaultValidationContext: {} } },
    }),
  }),
);
const broken = create(AnySchema, { typeUrl: tlsUrl, value: Uint8Array.of(0x0a, 0x05, 1) });

const bodies: Readonly<Record<string, Uint8Array>> = {
  good: toBinary(ClusterSchema, create(ClusterSchema, { name: "good" })),
  grpc: toBinary(ClusterSchema, create(ClusterSchema, { name: "grpc", transportSocket: socketWith(forGrpc) })),
  // A rule forbids a timeout of 0.
  rule: toBinary(ClusterSchema, create(ClusterSchema, { name: "rule", connectTimeout: {} })),
  any: toBinary(ClusterSchema, create(ClusterSchema, { name: "any", transportSocket: socketWith(broken) })),
  // Its name, and then a field (alt_stat_name) that is no text.
  text: Uint8Array.of(0x0a, 4, 0x74, 0x65, 0x78, 0x74, 0xe2, 0x01, 1, 0xff),
};
const names = Object.keys(bodies);

function response(variant: "sotw" | "delta"): Uint8Array {
  const anys = names.map((name) => create(AnySchema, { typeUrl: clusterUrl, value: bodies[name] ?? new Uint8Array() }));
  if (variant === "sotw") {
    const fields = { typeUrl: clusterUrl, versionInfo: "1", nonce: "n", resources: anys };
    return toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, fields));
  }
  const resources = anys.map((resource, index) => ({ name: names[index] ?? "", version: "1", resource }));
  return toBinary(
    DeltaDiscoveryResponseSchema,
    create(DeltaDiscoveryResponseSchema, { typeUrl: clusterUrl, nonce: "n", resources }),
  );
}

/** The names of the resources that a client takes, and of those that it rejects. */
async function takenAndRejected(t: TestContext, variant: "sotw" | "delta", options: Partial<ClientOptions>) {
  const { client, events, stream: next } = await odd(t, variant, options);
  let taken: readonly string[] | undefined;
  client.watch(ClusterSchema, "*", {
    onChanged: ({ resources }) => {
      taken = [...resources.keys()];
    },
  });
  const stream = await next();
  stream.send(response(variant));
  const answer = await stream.next();
  await waitFor("what is taken", () => taken !== undefined);
  const rejected = events.flatMap((event) => (event.kind === "rejected" ? event.bad : []));
  assert.equal(answer.error === "", rejected.length === 0);
  return { taken, rejected: rejected.map(({ name }) => name), client };
}

const levels = [
  { validate: undefined, taken: ["good", "grpc"] },
  { validate: "full", taken: ["good", "grpc"] },
  { validate: true, taken: ["good", "grpc"] },
  { validate: "types", taken: ["good", "grpc", "rule"] },
  { validate: false, taken: ["good", "grpc", "rule"] },
  { validate: "off", taken: ["good", "grpc", "rule", "any", "text"] },
] as const;

for (const variant of ["sotw", "delta"] as const) {
  describe(`the validation level of a client, ${variant}`, () => {
    for (const { validate, taken } of levels) {
      it(`the level ${validate} takes and rejects its resources`, async (t) => {
        const seen = await takenAndRejected(t, variant, { validate });
        const rejected = names.filter((name) => !taken.includes(name as never));
        assert.deepEqual([seen.taken, seen.rejected], [taken, rejected]);
      });
    }

    it("off makes the message of a malformed resource throw when it is read, and others are read", async (t) => {
      const { client } = await takenAndRejected(t, variant, { validate: "off" });
      const [status] = client.status()[0]?.types ?? [];
      const get = (name: string) => status?.resources.get(name) ?? assert.fail(name);
      assert.equal((get("good").message as Cluster).name, "good");
      assert.throws(() => get("text").message, { code: "XDSKIT_SYNTAX", message: /text/ });
      assert.throws(() => get("text").resource(), { code: "XDSKIT_SYNTAX" });
      assert.deepEqual(get("text").value, bodies.text);
    });

    it("off gives readable resources to a program's own checks, and rejects unreadable ones", async (t) => {
      const checks = { cluster: ({ name }: { name?: unknown }) => (name === "any" ? "not this one" : undefined) };
      const options = { validate: "off", checks: checks as ClientOptions["checks"] } as const;
      const { taken } = await takenAndRejected(t, variant, options);
      assert.deepEqual(taken, ["good", "grpc", "rule"]);
    });

    it("off turns a malformed listener into an error of its configuration, and of nothing else", async (t) => {
      const { client, stream: next } = await odd(t, variant, { validate: "off" });
      const told: string[] = [];
      client.watchConfig("text", {
        onChanged: () => void told.push("changed"),
        onError: ({ code }) => void told.push(code),
      });
      const stream = await next();
      const typeUrl = `type.googleapis.com/${ListenerSchema.typeName}`;
      // The name, and then an address that is none.
      const value = Uint8Array.of(0x0a, 4, 0x74, 0x65, 0x78, 0x74, 0x12, 1, 0xff);
      const resource = create(AnySchema, { typeUrl, value });
      const bytes =
        variant === "sotw"
          ? toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, { typeUrl, resources: [resource] }))
          : toBinary(
              DeltaDiscoveryResponseSchema,
              create(DeltaDiscoveryResponseSchema, { typeUrl, resources: [{ name: "text", resource }] }),
            );
      stream.send(bytes);
      await waitFor("the error", () => told.length > 0);
      assert.deepEqual(told, ["XDSKIT_SYNTAX"]);
    });
  });
}

/** A value that a rule forbids: a timeout of 0. */
const timeless = { "@type": clusterUrl, name: "timeless", connectTimeout: "0s" };

/** Resolves to the resources that a client takes, or to a rejection. */
async function first(server: NonNullable<ClientOptions["servers"]>[number], validate: ClientOptions["validate"]) {
  const client = createClient({ servers: [server], node: { id: "n" }, validate });
  try {
    return await new Promise<string>((resolve) => {
      client.on((event: ClientEvent) => {
        if (event.kind === "rejected" || (event.kind === "failed" && event.nack)) resolve("rejected");
      });
      client.watch(ClusterSchema, "*", { onChanged: ({ resources }) => resolve([...resources.keys()].join()) });
    });
  } finally {
    await client.close();
  }
}

describe("the validation level of polls and files", () => {
  for (const [validate, expected] of [
    ["full", "rejected"],
    ["types", "timeless"],
    ["off", "timeless"],
  ] as const) {
    it(validate, async () => {
      const server = await startOddRestServer((answer) => respond(answer, "1", [timeless]));
      const folder = await mkdtemp(join(tmpdir(), "xdskit-levels-"));
      try {
        assert.equal(await first({ kind: "rest", url: server.url }, validate), expected);
        const path = join(folder, "cds.json");
        await writeFile(path, JSON.stringify({ resources: [timeless] }));
        assert.equal(await first({ kind: "files", files: [{ type: "cds", path }] }, validate), expected);
      } finally {
        await server.close();
        await rm(folder, { recursive: true, force: true });
      }
    });
  }

  it("the validation level takes no other word", () => {
    const options = { servers: ["127.0.0.1:1"], node: { id: "n" } };
    for (const validate of ["none", "Full", ""] as never[]) {
      assert.throws(() => createClient({ ...options, validate }), /validate is .*"full", "types" or "off"/);
    }
    assert.throws(() => createClient({ ...options, validate: {} as never }), /validate/);
  });
});
