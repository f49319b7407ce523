import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type Resource, readResources } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { XdsServer } from "@xdskit/server";
import fc from "fast-check";
import { createLog } from "../../packages/admin/src/log/log.js";
import { resourcesWithUnknown } from "../../packages/api/src/testing/unknown-fields.js";
import { type Stage, withStage } from "../../packages/relay/src/testing/relayed.js";
import { type FileFormat, fileFormats } from "../../packages/xdskit/src/daemon/to-files/file-formats.js";
import { startToFiles } from "../../packages/xdskit/src/daemon/to-files/to-files.js";
import { eventually } from "../../packages/xdskit/src/testing/command.js";

const types = ["cluster", "listener"] as const;

/** Bodies by type and name. */
type Bodies = ReadonlyMap<string, string>;

function bodiesOf(resources: Iterable<Pick<Resource, "type" | "name" | "body">>): Bodies {
  const bodies = Array.from(resources, ({ type, name, body }) => [`${type.name} ${name}`, hex(body)] as const);
  return new Map(bodies.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** What a server serves, with its versions. */
function servedBy(server: XdsServer) {
  const snapshot = server.snapshotOf("all");
  const resources = snapshot === undefined ? [] : [...snapshot.sets.values()].flatMap((set) => [...set]);
  return { bodies: bodiesOf(resources), versions: Array.from(resources, ({ version }) => version).sort() };
}

/** Waits for all that a client gets of a server, as it stood on the wire. */
async function received(stage: Stage, server: string | { readonly url: string }, expected: Bodies): Promise<void> {
  const servers = typeof server === "string" ? [server] : [{ kind: "rest", url: server.url } as const];
  const client = stage.client("", { servers, validate: "off" });
  const seen = new Map<string, ReadonlyMap<string, ReceivedResource>>();
  for (const type of types) {
    client.watchCollection(type, "*", { onChanged: ({ resources }) => void seen.set(type, resources) });
  }
  const all = () =>
    bodiesOf(
      [...seen.values()].flatMap((resources) =>
        Array.from(resources.values(), ({ type, name, value }) => ({ type, name, body: value })),
      ),
    );
  await eventually(
    async () => [...all().keys()],
    ({ length }) => length >= expected.size,
    20_000,
  );
  assert.deepEqual(all(), expected);
  await client.close();
}

async function inFiles(stage: Stage, server: XdsServer, format: FileFormat): Promise<Bodies> {
  const log = createLog({ err: () => {} }, { level: "silent", format: "pretty" });
  const settings = { directory: join(stage.directory, format), group: undefined, path: undefined, format };
  const files = await startToFiles({ ...settings, server, groups: ["all"], registry: undefined, log });
  await files.finished();
  await files.close();
  const read: Resource[] = [];
  for (const type of types) {
    const path = join(settings.directory, `${type}.${format}`);
    const { resources, findings } = readResources({ path, bytes: await readFile(path) }, { validate: false });
    assert.deepEqual(findings, []);
    read.push(...resources.map(({ resource }) => resource));
  }
  return bodiesOf(read);
}

/** Through gRPC, REST and files of an origin and of a relay, over gRPC and REST, and out of the relay's cache. */
async function goesThroughAll(stage: Stage, resources: readonly Resource[]): Promise<void> {
  const expected = bodiesOf(resources);
  const origin = await stage.origin({ validate: false });
  origin.server.config.set(resources);
  const { versions } = servedBy(origin.server);
  await received(stage, origin.address, expected);
  await received(stage, { url: `http://${origin.rest}` }, expected);
  const cache = join(stage.directory, "cache");
  const upstream = { kind: "grpc", address: origin.address } as const;
  const first = await stage.relay(upstream, { cache, validate: "off" });
  const polling = await stage.relay({ kind: "rest", url: `http://${origin.rest}` }, { validate: "off" });
  for (const { relay, address, rest } of [first, polling]) {
    await eventually(
      async () => [...servedBy(relay.server).bodies.keys()],
      ({ length }) => length === expected.size,
      20_000,
    );
    assert.deepEqual(servedBy(relay.server), { bodies: expected, versions });
    await received(stage, address, expected);
    await received(stage, { url: `http://${rest}` }, expected);
  }
  for (const format of fileFormats) assert.deepEqual(await inFiles(stage, first.relay.server, format), expected);
  await first.relay.close({ timeoutMs: 500 });
  await origin.server.close({ timeoutMs: 500 });
  const again = await stage.relay(upstream, { cache, validate: "off" });
  assert.deepEqual(servedBy(again.relay.server), { bodies: expected, versions });
  await received(stage, again.address, expected);
}

test("unknown fields pass every server, relay, cache and file unchanged", { timeout: 600_000 }, () => {
  const sets = fc.uniqueArray(resourcesWithUnknown, {
    minLength: 1,
    maxLength: 20,
    selector: ({ type, name }) => `${type.name} ${name}`,
  });
  return fc.assert(
    fc.asyncProperty(sets, (resources) => withStage((stage) => goesThroughAll(stage, resources))),
    { numRuns: 4, endOnFailure: true },
  );
});
