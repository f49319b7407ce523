import { create, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";

/** What an attacker sends: the body of a change over the API, or one discovery request. */
export type Attack =
  | { readonly kind: "body"; readonly type: string; readonly body: Uint8Array }
  | { readonly kind: "request"; readonly bytes: Uint8Array };

const url = (name: string) => `type.googleapis.com/envoy.config.${name}`;
const typeUrl = url("endpoint.v3.ClusterLoadAssignment");
const each = (count: number, make: (index: number) => string, separator = "") =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator);
const bodyOf = (type: string, body: string): Attack => ({ kind: "body", type, body: new TextEncoder().encode(body) });
const json = (body: string) => bodyOf("application/json", body);
const yaml = (body: string) => bodyOf("application/yaml", body);
const request = (fields: {
  resourceNamesSubscribe?: string[];
  initialResourceVersions?: { [name: string]: string };
}) => {
  const message = create(DeltaDiscoveryRequestSchema, { node: { id: "attacker" }, typeUrl, ...fields });
  return { kind: "request", bytes: toBinary(DeltaDiscoveryRequestSchema, message) } as const;
};
const named = `xdstp://a/${typeUrl.slice("type.googleapis.com/".length)}`;
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Attacks that once kept everybody waiting for seconds, or ended the server. */
export const attacks: Readonly<Record<string, () => Attack>> = {
  "20 million lists, JSON": () => json(`{"upsert":[${"[],".repeat(20_000_000)}[]]}`),
  "2 million lists, JSON": () => json(`{"upsert":[${"[],".repeat(2_000_000)}[]]}`),
  "1.5 million unknown keys, JSON": () => json(`{${each(1_500_000, (index) => `"k${index}":1`, ",")}}`),
  "2 million lines in a text, YAML": () => yaml(`a: "${"x\n".repeat(2_000_000)}"`),
  "2 million comments, YAML": () => yaml(`${"#\n".repeat(2_000_000)}upsert: []`),
  "a million documents, YAML": () => yaml("---\n".repeat(1_000_000)),
  "400,000 anchors, YAML": () => yaml(`upsert: [${"&a a,".repeat(400_000)}1]`),
  "30 million empty resources, protobuf": () => ({
    kind: "body",
    type: "application/x-protobuf",
    body: new Uint8Array(60_000_000).map((_, index) => (index % 2 === 0 ? 0x12 : 0)),
  }),
  "a route of 100,000 virtual hosts, JSON": () => {
    const hosts = each(100_000, (index) => `{"name":"h${index}","domains":["h${index}"]}`, ",");
    return json(`{"upsert":[{"@type":"${url("route.v3.RouteConfiguration")}","name":"r","virtualHosts":[${hosts}]}]}`);
  },
  "100,000 xdstp names": () => request({ resourceNamesSubscribe: many(100_000, (index) => `${named}/${index}`) }),
  "100,000 globs": () => request({ resourceNamesSubscribe: many(100_000, (index) => `${named}/${index}/*`) }),
  "100,000 versions that it claims to have": () =>
    request({
      resourceNamesSubscribe: many(100_000, (index) => `e${index}`),
      initialResourceVersions: Object.fromEntries(many(100_000, (index) => [`e${index}`, "0123456789abcdef"] as const)),
    }),
};
