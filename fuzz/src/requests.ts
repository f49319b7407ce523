import { create, toBinary } from "@bufbuild/protobuf";
import { resourceTypes } from "@xdskit/api";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import fc from "fast-check";
import { anyText } from "../../packages/api/src/testing/any-text.js";
import { damaged } from "./kit/edits.js";

const urls = resourceTypes.all.flatMap(({ typeUrl, v2TypeUrl }) => [typeUrl, v2TypeUrl ?? typeUrl]);
const typeUrl = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom(...urls.slice(0, 6)) },
  { weight: 10, arbitrary: fc.constantFrom(...urls) },
  fc.constantFrom(
    "",
    "type.googleapis.com/acme.Own",
    "type.googleapis.com/google.protobuf.Any",
    "x".repeat(600),
    "\0",
    "é",
  ),
);
/** Names of existing and of missing resources, and names that nobody would think of. */
export const resourceName = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("*", "a", "b", "alias", "routes/a", "missing", "") },
  fc.constantFrom(
    "xdstp://a/envoy.config.cluster.v3.Cluster/b/*?y=2&x=1",
    "xdstp://a/envoy.config.cluster.v3.Cluster/b/c?x=1&y=2",
    "xdstp:///envoy.config.cluster.v3.Cluster/*",
    "xdstp://%zz/%",
    "**",
    "/",
    "ü".repeat(100),
    "\ufeffa",
  ),
  anyText({ maxLength: 8 }),
);
const names = fc.oneof(
  { weight: 30, arbitrary: fc.array(resourceName, { maxLength: 5 }) },
  fc.array(resourceName, { minLength: 50, maxLength: 200 }),
);
const nonce = fc.oneof({ weight: 4, arbitrary: fc.constantFrom("", "1", "2", "3") }, fc.string({ maxLength: 4 }));
const features = fc.constantFrom(
  "xds.config.supports-resource-ttl",
  "xds.config.supports-resource-in-sotw",
  "envoy.lb.x",
  "",
);
const node = fc.option(
  fc.record({
    id: fc.constantFrom("hostile", "n", "", "ü", "x".repeat(1_000)),
    cluster: fc.constantFrom("", "edge-1"),
    locality: fc.record({ region: fc.constantFrom("", "eu"), zone: fc.constant("z"), subZone: fc.constant("") }),
    clientFeatures: fc.array(features, { maxLength: 3 }),
    metadata: fc.dictionary(
      fc.constantFrom("a", "b.c", "__proto__", ""),
      fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<null>,
      {
        maxKeys: 3,
        noNullPrototype: true,
      },
    ),
  }),
  { freq: 4, nil: undefined },
);
const errorDetail = fc.option(
  fc.record({ code: fc.integer({ min: -3, max: 20 }), message: anyText({ maxLength: 8 }) }),
  { freq: 4, nil: undefined },
);

const sotw = fc
  .record({ node, typeUrl, resourceNames: names, versionInfo: nonce, responseNonce: nonce, errorDetail })
  .map((fields) => toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, fields)));
const versions = fc.dictionary(resourceName, nonce, { maxKeys: 5, noNullPrototype: true });
const delta = fc
  .record({
    node,
    typeUrl,
    responseNonce: nonce,
    errorDetail,
    resourceNamesSubscribe: names,
    resourceNamesUnsubscribe: names,
    initialResourceVersions: versions,
  })
  .map((fields) => toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, fields)));

const whole = {
  node: { id: "hostile", cluster: "c", metadata: { a: { b: [1, "x", null] } }, extensions: [{ name: "e" }] },
  typeUrl: urls[0] ?? "",
  errorDetail: { code: 3, message: "no" },
  responseNonce: "1",
};
/** Requests that have every field. */
export const wholeRequests = {
  sotw: toBinary(
    DiscoveryRequestSchema,
    create(DiscoveryRequestSchema, { ...whole, resourceNames: ["a", "ü"], versionInfo: "1" }),
  ),
  delta: toBinary(
    DeltaDiscoveryRequestSchema,
    create(DeltaDiscoveryRequestSchema, {
      ...whole,
      resourceNamesSubscribe: ["*", "a"],
      resourceNamesUnsubscribe: ["b"],
      initialResourceVersions: { a: "1" },
    }),
  ),
};

const wellFormed = { sotw, delta } as const;
const other = { sotw: "delta", delta: "sotw" } as const;

/**
 * Bytes that a client may send as a request: well-formed messages, some of the other variant, damaged ones, and noise.
 */
export function requestBytes(variant: "sotw" | "delta"): fc.Arbitrary<Uint8Array> {
  return fc.oneof(
    { weight: 20, arbitrary: wellFormed[variant] },
    { weight: 1, arbitrary: wellFormed[other[variant]] },
    { weight: 4, arbitrary: damaged(Object.values(wholeRequests), ["type.googleapis.com/", "*"]) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }) },
  );
}
