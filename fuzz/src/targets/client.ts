import assert from "node:assert/strict";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type ApiVersion, atOnce, encodedAs, readResources, resourceTypes } from "@xdskit/api";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  ResourceSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import {
  type ClientStream,
  type ClientStreamEffect,
  createClientStream,
  createStandardCheck,
  type SotwOrDelta,
} from "@xdskit/protocol";
import fc from "fast-check";
import { damaged } from "../kit/edits.js";
import type { FuzzTarget } from "../kit/target.js";
import { resourceName } from "../requests.js";

/** The events of a client. */
type Step =
  | { readonly kind: "response"; readonly bytes: Uint8Array }
  | { readonly kind: "subscribe" | "unsubscribe"; readonly type: string; readonly names: readonly string[] }
  | { readonly kind: "reconnect" }
  | { readonly kind: "wait"; readonly milliseconds: number };

interface Life {
  readonly variant: SotwOrDelta;
  readonly api: ApiVersion;
  readonly only: string | undefined;
  readonly steps: readonly Step[];
}

const types = ["cluster", "endpoint", "listener", "virtual-host"] as const;
const yaml = `
- { "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: a, type: STATIC, connect_timeout: 1s }
- { "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: b, type: STATIC, connect_timeout: -2s }
- { "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment, cluster_name: a }
- { "@type": type.googleapis.com/envoy.config.listener.v3.Listener, name: a, filter_chains: [{ filters: [{ name: hcm, typed_config: { "@type":
    type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: x, rds: {
    route_config_name: r, config_source: { ads: {} } } } }] }] }
`;
const file = { path: "samples.yaml", bytes: new TextEncoder().encode(yaml) };
/** One of them breaks a rule. */
const samples = readResources(file, { validate: false }).resources.map(({ resource }) => resource);

const wrapperUrl = "type.googleapis.com/envoy.service.discovery.v3.Resource";
const aliases = fc.array(resourceName, { maxLength: 2 });
const ttl = fc.option(fc.record({ seconds: fc.bigInt(-2n, 2n ** 62n), nanos: fc.integer() }), {
  nil: undefined,
  freq: 3,
});
const someBody = (api: ApiVersion) => fc.constantFrom(...samples).map((resource) => encodedAs(resource, api));

const wrapped = (api: ApiVersion) =>
  fc.record({
    name: resourceName,
    version: fc.constantFrom("", "1", "2"),
    aliases,
    ttl,
    resource: fc.option(someBody(api), { nil: undefined, freq: 4 }),
  });

/** A response with all possible contents, good and bad together. */
function responseOf(variant: SotwOrDelta, api: ApiVersion): fc.Arbitrary<Uint8Array> {
  const head = {
    typeUrl: fc.constantFrom(...types.flatMap(urlsOf), "", "x"),
    nonce: fc.constantFrom("", "1", "2"),
  };
  if (variant === "delta") {
    return fc
      .record({
        ...head,
        systemVersionInfo: fc.constantFrom("", "1"),
        resources: fc.array(wrapped(api), { maxLength: 4 }),
        removedResources: fc.array(resourceName, { maxLength: 3 }),
        removedResourceNames: fc.array(fc.record({ name: resourceName }), { maxLength: 1 }),
      })
      .map((fields: MessageInitShape<typeof DeltaDiscoveryResponseSchema>) =>
        toBinary(DeltaDiscoveryResponseSchema, create(DeltaDiscoveryResponseSchema, fields)),
      );
  }
  const wrapper = wrapped(api).map((fields) => ({
    typeUrl: wrapperUrl,
    value: toBinary(ResourceSchema, create(ResourceSchema, fields)),
  }));
  const resource = fc.oneof({ weight: 4, arbitrary: someBody(api) }, wrapper);
  return fc
    .record({ ...head, versionInfo: fc.constantFrom("", "1"), resources: fc.array(resource, { maxLength: 4 }) })
    .map((fields) => toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, fields)));
}

function urlsOf(name: string): readonly string[] {
  const type = resourceTypes.find(name);
  return type === undefined ? [] : [type.typeUrl, type.v2TypeUrl ?? type.typeUrl];
}

/** One of each variant, to be damaged. */
const whole = {
  sotw: toBinary(
    DiscoveryResponseSchema,
    create(DiscoveryResponseSchema, {
      typeUrl: urlsOf("cluster")[0] ?? "",
      versionInfo: "1",
      nonce: "1",
      resources: samples.slice(0, 2).map((resource) => encodedAs(resource, "v3")),
    }),
  ),
  delta: toBinary(
    DeltaDiscoveryResponseSchema,
    create(DeltaDiscoveryResponseSchema, {
      typeUrl: urlsOf("cluster")[0] ?? "",
      systemVersionInfo: "1",
      nonce: "1",
      resources: samples
        .slice(0, 2)
        .map((resource) => ({ name: resource.name, version: "1", resource: encodedAs(resource, "v3") })),
    }),
  ),
} as const;

/** The bytes that a server may send as a response: good responses, bad ones, and other bytes. */
export function responses(variant: SotwOrDelta, api: ApiVersion): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    { weight: 6, arbitrary: responseOf(variant, api) },
    { weight: 3, arbitrary: damaged([whole[variant]]) },
    fc.constant(whole[variant]),
    fc.uint8Array({ maxLength: 20 }),
  );
}

function stepsOf(variant: SotwOrDelta, api: ApiVersion): fc.Arbitrary<readonly Step[]> {
  const bytes = responses(variant, api);
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 8, arbitrary: bytes.map((bytes): Step => ({ kind: "response", bytes })) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom("subscribe" as const, "subscribe" as const, "unsubscribe" as const),
        type: fc.constantFrom(...types),
        names: fc.array(resourceName, { minLength: 1, maxLength: 3 }),
      }),
    },
    fc.constant<Step>({ kind: "reconnect" }),
    fc.constantFrom(1_000, 20_000, 1e9).map((milliseconds): Step => ({ kind: "wait", milliseconds })),
  );
  return fc.array(step, { minLength: 1, maxLength: 12 });
}

const life: fc.Arbitrary<Life> = fc
  .tuple(fc.constantFrom("sotw" as const, "delta" as const), fc.constantFrom("v3" as const, "v2" as const))
  .chain(([variant, api]) =>
    fc.record({
      variant: fc.constant(variant),
      api: fc.constant(api),
      only: fc.option(fc.constantFrom(...types), { nil: undefined, freq: 4 }),
      steps: stepsOf(variant, api),
    }),
  );

export const client: FuzzTarget = {
  name: "client",
  suiteRuns: 400,
  async open() {
    const seen = { update: 0, rejected: 0, close: 0 };
    const property = fc.asyncProperty(life, async (one) => live(one, seen));
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      async finish() {
        // All of it is reached.
        if (seen.update + seen.rejected >= 2_000)
          assert.ok(seen.close > 20 && seen.rejected > 200, JSON.stringify(seen));
      },
      close: async () => {},
      show: (input) => fc.stringify(input),
    };
  },
};

const check = createStandardCheck();
const limits = { resourcesPerResponse: 6, resourcesPerType: 8, errorCharacters: 500 };

/**
 * Plays a client's life: whatever the server sends, each response is answered once, and the reports about it are
 * bounded.
 */
function live({ variant, api, only, steps }: Life, seen: { update: number; rejected: number; close: number }): void {
  const type = only === undefined ? undefined : resourceTypes.find(only);
  const node = new Uint8Array();
  const machine = createClientStream({
    variant,
    api,
    types: resourceTypes,
    only: type,
    node,
    nodeOn: "first",
    check,
    limits,
  });
  let now = 0;
  let pending = 0;
  const note = (effects: readonly ClientStreamEffect[]): void => {
    for (const effect of effects) {
      if (effect.kind === "received") pending++;
      else seen[effect.kind]++;
      if (effect.kind === "rejected") assert.ok(effect.message.length <= limits.errorCharacters, effect.message);
      if (effect.kind === "close") {
        assert.ok(effect.message.length < 1_000, `a message of ${effect.message.length} characters`);
        assert.equal(machine.next(), undefined);
        pending = 0;
        note(machine.step({ kind: "opened" }, now));
      }
    }
    pending -= pulled(machine, variant);
    assert.equal(pending, 0, "a response is answered once (rule 25)");
  };
  note(machine.step({ kind: "subscribe", type: typeNamed(only ?? "cluster"), names: ["*", "a"] }, now));
  note(machine.step({ kind: "opened" }, now));
  for (const one of steps) {
    if (one.kind === "response") {
      // As a long one is, before it is taken.
      if (one.bytes.length % 2 === 0) atOnce(machine.prepare(one.bytes, true));
      note(machine.step(one, now));
    } else if (one.kind === "wait") {
      now += one.milliseconds;
      note(machine.step({ kind: "time" }, now));
      assert.ok((machine.deadline() ?? now + 1) > now, "the time was told, and it asks for it again");
    } else if (one.kind === "reconnect") {
      note(machine.step({ kind: "closed" }, now));
      note(machine.step({ kind: "opened" }, now));
    } else note(machine.step({ ...one, type: typeNamed(only ?? one.type) }, now));
    for (const { resources } of machine.status()) assert.ok(resources.size <= limits.resourcesPerType);
  }
}

function typeNamed(name: string) {
  const type = resourceTypes.find(name);
  assert.ok(type !== undefined);
  return type;
}

/** Pulls all requests; returns the number of answers among them. */
function pulled(machine: ClientStream, variant: SotwOrDelta): number {
  let answers = 0;
  for (let count = 0, request = machine.next(); request !== undefined; request = machine.next()) {
    assert.ok(count++ < 40, "requests without end");
    if (request.kind !== "subscribe") answers++;
    fromBinary(variant === "sotw" ? DiscoveryRequestSchema : DeltaDiscoveryRequestSchema, request.bytes);
  }
  return answers;
}
