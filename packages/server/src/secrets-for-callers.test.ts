import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { createResource, envoySchema, resourceTypes } from "@xdskit/api";
import type { SecretSchema } from "@xdskit/api/envoy/extensions/transport_sockets/tls/v3/secret";
import type {
  DeltaDiscoveryRequestSchema,
  DiscoveryRequestSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { Call, Method } from "./contracts/transport.js";
import { createServer } from "./create-server.js";
import type { IdentityRule } from "./identity/identity-rule.js";
import { temporaryFolder } from "./testing/basics/temporary-folder.js";
import { waitFor } from "./testing/basics/wait-for.js";
import { callOf, doorsOf, pollOf, settle } from "./testing/identity/doors.js";
import { type Tenant, tenants } from "./testing/identity/tenants.js";
import { clusterResource } from "./testing/test-resources.js";

const secrets = resourceTypes.find("secret")!;
const clusters = resourceTypes.find("cluster")!;

function secret(name: string) {
  const schema = envoySchema<typeof SecretSchema>("envoy.extensions.transport_sockets.tls.v3.Secret");
  const specifier = { case: "inlineString", value: "MARKED-SECRET" } as const;
  return createResource(
    create(schema, { name, type: { case: "genericSecret", value: { secret: { specifier } } } } as never),
  );
}

/** Every way to ask for secrets over streams and calls. */
const methods: readonly Method[] = (["v2", "v3"] as const).flatMap((api) => [
  { variant: "sotw", api, only: undefined, unary: false } as const,
  { variant: "delta", api, only: undefined, unary: false } as const,
  { variant: "sotw", api, only: secrets, unary: false } as const,
  { variant: "delta", api, only: secrets, unary: false } as const,
  { variant: "sotw", api, only: secrets, unary: true } as const,
]);

function asking({ variant, api }: Method, { id, cluster }: Tenant, name: string): Uint8Array {
  const node = { id, cluster };
  const typeUrl = (api === "v2" ? secrets.v2TypeUrl : undefined) ?? secrets.typeUrl;
  if (variant === "sotw") {
    const schema = envoySchema<typeof DiscoveryRequestSchema>("envoy.service.discovery.v3.DiscoveryRequest");
    return toBinary(schema, create(schema, { node, typeUrl, resourceNames: [name] }));
  }
  const schema = envoySchema<typeof DeltaDiscoveryRequestSchema>("envoy.service.discovery.v3.DeltaDiscoveryRequest");
  return toBinary(schema, create(schema, { node, typeUrl, resourceNamesSubscribe: [name] }));
}

const rule = (tenant: string, jwks: string, more: Partial<IdentityRule> = {}): IdentityRule => ({
  when: { jwt: { issuer: "https://issuer", audience: "xdskit", jwks, claims: { sub: `${tenant}:{who}` } } },
  node: { id: `{who}.${tenant}.*`, cluster: tenant },
  ...more,
});

test("without secrets: true, a secret that is there is like one that is not, on every door", async (t) => {
  const folder = await temporaryFolder(t);
  const { a, b, jwks } = await tenants();
  await folder.write("keys.json", JSON.stringify(jwks));
  const keys = folder.at("keys.json");
  const asked: string[] = [];
  for (const onDemand of [
    undefined,
    {
      types: ["secret", "cluster"],
      async supply({ name }: { readonly name: string }) {
        asked.push(name);
        return name === "on-demand" ? secret(name) : undefined;
      },
    },
  ]) {
    const server = createServer({
      eventLoop: false,
      rest: { holdMs: 0 },
      identities: [rule("a", keys, { secrets: true }), rule("b", keys)],
      ...(onDemand === undefined ? {} : { onDemand: onDemand as never }),
    });
    t.after(() => server.close());
    server.config.set([secret("there"), secret("xdstp://shop/envoy.extensions.transport_sockets.tls.v3.Secret/x1")]);
    const doors = await doorsOf(server);
    const answer = async (method: Method, tenant: Tenant, name: string) => {
      const open = (call: Call) => doors.accept(Object.assign(call, { method }));
      const called = callOf(open, tenant.good, method.unary);
      called.send(asking(method, tenant, name));
      await settle(called);
      called.close();
      const { ended } = called;
      return {
        ended,
        sent: called.sent.map((bytes) => Buffer.from(bytes).toString("latin1").replaceAll(name, "NAME")),
      };
    };
    const names = [["there", "nowhr"] as const, ...xdstpNames];
    for (const method of methods) {
      for (const [there, missing] of names) {
        const what = `${method.api} ${method.only?.name ?? "ads"} ${method.variant} ${there}`;
        const known = await answer(method, a, there);
        if (there === "there" || method.api === "v3") assert.match(known.sent.join(), /MARKED-SECRET/, what);
        const bare = await answer(method, b, there);
        assert.doesNotMatch(bare.sent.join(), /MARKED-SECRET/, what);
        assert.deepEqual(bare, await answer(method, b, missing), what);
      }
    }
    for (const wanted of [{ resource_names: ["there"] }, {}]) {
      const node = { id: b.id, cluster: b.cluster };
      const polled = await pollOf(doors.polls, b.good, secrets, { node, ...wanted });
      const missing = await pollOf(doors.polls, b.good, secrets, { node, resource_names: ["nowhere"] });
      assert.equal(polled.kind, missing.kind);
      if (polled.kind === "response") assert.doesNotMatch(Buffer.from(polled.body.bytes).toString(), /MARKED/);
    }
    const before = asked.length;
    if (onDemand !== undefined) {
      await answer(methods[6] as Method, b, "on-demand");
      assert.equal(asked.length, before, "nobody is asked to supply a secret to this caller");
      assert.match((await answer(methods[6] as Method, a, "on-demand")).sent.join(), /MARKED-SECRET/);
    }
  }
});

const xdstpPrefix = "xdstp://shop/envoy.extensions.transport_sockets.tls.v3.Secret/";
const xdstpNames = [[`${xdstpPrefix}x1`, `${xdstpPrefix}x2`] as const];

test("what is no secret reaches a caller without secrets, at each change", async (t) => {
  const folder = await temporaryFolder(t);
  const { b, jwks } = await tenants();
  await folder.write("keys.json", JSON.stringify(jwks));
  const server = createServer({ eventLoop: false, identities: [rule("b", folder.at("keys.json"))] });
  t.after(() => server.close());
  server.config.set([secret("there"), clusterResource("one")]);
  const { accept } = await doorsOf(server);
  const method: Method = { variant: "delta", api: "v3", only: clusters, unary: false };
  const called = callOf((call) => accept(Object.assign(call, { method })), b.good, false);
  const schema = envoySchema<typeof DeltaDiscoveryRequestSchema>("envoy.service.discovery.v3.DeltaDiscoveryRequest");
  called.send(toBinary(schema, create(schema, { node: { id: b.id, cluster: b.cluster } })));
  await waitFor("the first cluster", () => called.sent.length === 1);
  server.config.set([secret("there"), clusterResource("one"), clusterResource("two")]);
  await waitFor("the second cluster", () => /two/.test(Buffer.from(called.sent[1] ?? []).toString("latin1")));
  called.close();
});

test("the rules may change while streams are open: those end that may no longer do the same", async (t) => {
  const folder = await temporaryFolder(t);
  const { a, b, jwks } = await tenants();
  await folder.write("keys.json", JSON.stringify(jwks));
  const keys = folder.at("keys.json");
  const server = createServer({
    eventLoop: false,
    groups: [
      { name: "one", match: { cluster: "a" }, layers: ["default"] },
      { name: "two", match: { cluster: "b" }, layers: ["other"] },
    ],
  });
  t.after(() => server.close());
  server.config.set([clusterResource("one")]);
  const { accept } = await doorsOf(server);
  const method: Method = { variant: "delta", api: "v3", only: clusters, unary: false };
  const open = (tenant: Tenant) => {
    const called = callOf((call) => accept(Object.assign(call, { method })), tenant.good, false);
    const schema = envoySchema<typeof DeltaDiscoveryRequestSchema>("envoy.service.discovery.v3.DeltaDiscoveryRequest");
    called.send(toBinary(schema, create(schema, { node: { id: tenant.id, cluster: tenant.cluster } })));
    return called;
  };
  const first = open(a);
  await waitFor("an open stream", () => first.sent.length === 1);
  server.reconfigure({ identities: [rule("a", keys), rule("b", keys, { groups: ["two"] })] });
  await waitFor("the end of what nobody proved", () => first.ended !== undefined);
  const [ofA, ofB] = [open(a), open(b)];
  await waitFor("the stream of a", () => ofA.sent.length === 1);
  server.reconfigure({ identities: [rule("a", keys)] });
  await waitFor("the end of b", () => ofB.ended !== undefined);
  assert.equal(ofB.ended?.code, 7);
  assert.equal(ofA.ended, undefined);
  // The group comes from the proof alone: the node has no say.
  server.reconfigure({ identities: [rule("a", keys, { groups: ["two"] })] });
  await waitFor("the end of a", () => ofA.ended !== undefined);
  const moved = open(a);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(moved.ended, undefined);
  assert.deepEqual(moved.sent, [], "nothing of group one");
  moved.close();
});
