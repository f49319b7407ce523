import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { createRegistry, createResourceTypes, type Registry } from "@xdskit/api";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { statusCode } from "@xdskit/protocol";
import type { Call } from "./contracts/transport.js";
import { createServer } from "./create-server.js";
import { notKnown, notThisNode } from "./identity/caller.js";
import { temporaryFolder } from "./testing/basics/temporary-folder.js";
import { type Called, callOf, doorsOf, pollOf, settle } from "./testing/identity/doors.js";
import { clientConfigs, nodeRequest, type Tenant, tenants } from "./testing/identity/tenants.js";
import { discoveryMethods } from "./transports/discovery-methods.js";

/** What a caller shows. */
const credentials = ["none", "wrong", "expired", "another tenant's", "right"] as const;
type Credential = (typeof credentials)[number];

type Outcome = "refused" | "served" | "own only" | "not served";

/**
 * What each service answers. A service of the server that is in no row, or a row without a service, fails the test:
 * whoever adds a service decides here who may call it.
 */
const rows: readonly {
  readonly doors: string;
  readonly has: (service: string) => boolean;
  readonly outcomes: Readonly<Record<Credential, Outcome>>;
  /** A later message that names another node. `-`: the messages name none. */
  readonly changed: Outcome | "-";
}[] = [
  {
    doors: "discovery: aggregated and per type, v2 and v3, streams and `Fetch…`",
    has: (service) => discovery.has(service),
    outcomes: { none: "refused", wrong: "refused", expired: "refused", "another tenant's": "refused", right: "served" },
    changed: "refused",
  },
  {
    doors: "discovery over REST",
    has: (service) => service === "REST",
    outcomes: { none: "refused", wrong: "refused", expired: "refused", "another tenant's": "refused", right: "served" },
    changed: "refused",
  },
  {
    doors: "load reports (LRS), v2 and v3",
    has: (service) => /^envoy\.service\.load_stats\./.test(service),
    outcomes: { none: "refused", wrong: "refused", expired: "refused", "another tenant's": "refused", right: "served" },
    changed: "refused",
  },
  {
    doors: "client status (CSDS)",
    has: (service) => service === "envoy.service.status.v3.ClientStatusDiscoveryService",
    outcomes: {
      none: "refused",
      wrong: "refused",
      expired: "refused",
      "another tenant's": "own only",
      right: "own only",
    },
    changed: "-",
  },
  {
    doors: "reflection",
    has: (service) => /^grpc\.reflection\./.test(service),
    outcomes: { none: "refused", wrong: "refused", expired: "refused", "another tenant's": "served", right: "served" },
    changed: "-",
  },
  {
    doors: "gRPC's health checks: open to all",
    has: (service) => service === "grpc.health.v1.Health",
    outcomes: { none: "served", wrong: "served", expired: "served", "another tenant's": "served", right: "served" },
    changed: "-",
  },
  {
    doors: "services that are not served (HDS, CSDS of v2)",
    has: (service) => /HealthDiscoveryService$|status\.v2\./.test(service),
    outcomes: {
      none: "refused",
      wrong: "refused",
      expired: "refused",
      "another tenant's": "not served",
      right: "not served",
    },
    changed: "-",
  },
];

const registry: Registry = createRegistry();
/** With one of a user's own. */
const types = createResourceTypes([{ schema: NodeSchema, name: "node", nameOf: "id", restPath: "nodes" }]);
const server = (jwks: string) =>
  createServer({
    registry,
    types,
    eventLoop: false,
    rest: { holdMs: 0 },
    identities: [
      {
        when: { jwt: { issuer: "https://issuer", audience: "xdskit", jwks, claims: { sub: "{tenant}:{who}" } } },
        node: { id: "{who}.{tenant}.*", cluster: "{tenant}" },
      },
    ],
  });
const discovery = discoveryMethods(server("keys.json").types);

function outcomeOf({ ended, sent }: Called, isStatus: boolean, own: string): Outcome {
  if (ended?.code === statusCode.unimplemented) return "not served";
  if (ended !== undefined && ended.code !== statusCode.ok) {
    assert.equal(ended.code, statusCode.permissionDenied, ended.message);
    assert.ok([notKnown, notThisNode].includes(ended.message), `it gives something away: ${ended.message}`);
    assert.deepEqual(sent, []);
    return "refused";
  }
  if (!isStatus) return "served";
  const ids = sent.flatMap(clientConfigs);
  assert.deepEqual(
    ids,
    ids.filter((id) => id === own),
    "nodes of others",
  );
  return "own only";
}

test("every method of every service is behind the gate, and the table in docs/security.md says what it answers", async (t) => {
  const folder = await temporaryFolder(t);
  const { a, b, jwks } = await tenants();
  await folder.write("keys.json", JSON.stringify(jwks));
  const made = server(folder.at("keys.json"));
  t.after(() => made.close());
  made.config.set([]);
  const doors = await doorsOf(made);
  const methods = [
    ...[...discovery].flatMap(([service, each]) =>
      [...each].map(([name, method]) => {
        const open = (call: Call) => doors.accept(Object.assign(call, { method }));
        return { service, name, unary: method.unary, open, method };
      }),
    ),
    ...doors.services.flatMap(({ name: service, methods }) =>
      Object.entries(methods).map(([name, method]) => {
        return { service, name, unary: method.unary, open: (call: Call) => method.accept(call), method: undefined };
      }),
    ),
  ];
  assert.ok(methods.length > 60, "too few methods: the table of the server was not read");
  for (const row of rows)
    assert.ok(row.has("REST") || methods.some(({ service }) => row.has(service)), `no service is in row ${row.doors}`);

  const tokens: Readonly<Record<Credential, string | undefined>> = {
    none: undefined,
    wrong: a.wrong,
    expired: a.expired,
    "another tenant's": b.good,
    right: a.good,
  };
  for (const { service, name, unary, open, method } of methods) {
    const row = rows.filter(({ has }) => has(service));
    assert.equal(row.length, 1, `${service} is in ${row.length} rows: decide who may call it`);
    const [{ outcomes, changed }] = row as [(typeof rows)[number]];
    for (const credential of credentials) {
      const called = callOf(open, tokens[credential], unary);
      called.send(nodeRequest(service, a, method));
      await settle(called, outcomes[credential] === "refused");
      const caller: Tenant = credential === "right" ? a : b;
      const outcome = outcomeOf(called, service.includes("status.v3"), caller.id);
      assert.equal(outcome, outcomes[credential], `${service}/${name} with ${credential} credential`);
      if (credential === "right" && changed !== "-" && !unary) {
        called.send(nodeRequest(service, { ...a, id: "cart.b.pod" }, method));
        called.sent.length = 0;
        await settle(called, changed === "refused");
        assert.equal(outcomeOf(called, false, ""), changed, `${service}/${name}, a node that changes later`);
      }
      called.close();
    }
  }

  const over = rows.find(({ has }) => has("REST")) ?? assert.fail("no row for REST");
  assert.ok(made.types.find("node"));
  for (const type of made.types.all) {
    const asked = async (token: string | undefined, node: object) => {
      const answer = await pollOf(doors.polls, token, type, { node });
      return answer.kind === "refused" && answer.status === 403 ? "refused" : "served";
    };
    for (const credential of credentials)
      assert.equal(
        await asked(tokens[credential], nodeOf(a)),
        over.outcomes[credential],
        `${type.name}, ${credential}`,
      );
    assert.equal(await asked(a.good, { ...nodeOf(a), id: "cart.b.pod" }), over.changed, type.name);
  }

  const page = new URL("../../../docs/security.md", import.meta.url);
  const text = await readFile(page, "utf8");
  const written = text.replace(
    /(<!-- doors -->\n)[\s\S]*?(<!-- \/doors -->)/,
    (_, begin, end) => begin + tableText() + end,
  );
  if (process.env.UPDATE_DOCS === "1") await writeFile(page, written);
  else assert.equal(text, written, "docs/security.md is not up to date: run this test with UPDATE_DOCS=1");
});

const nodeOf = ({ id, cluster }: Tenant) => ({ id, cluster });

function tableText(): string {
  const head = [
    "door",
    ...credentials.map((credential) => (credential === "none" ? "no credential" : credential)),
    "node changes later",
  ];
  const lines = rows.map(({ doors, outcomes, changed }) => [
    doors,
    ...credentials.map((each) => outcomes[each]),
    changed,
  ]);
  const all = [head, head.map(() => "---"), ...lines];
  return `\n${all.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n\n`;
}
