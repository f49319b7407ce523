import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, fromBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { ClientConfigSchema } from "@xdskit/api/envoy/service/status/v3/csds";
import { inProcess, inProcessEnds } from "../testing/in-process.js";
import { clusterUrl, deltaResponse, packed, packedCluster, sotwResponse } from "../testing/odd-responses.js";
import { oddServer } from "../testing/odd-server.js";

const syncz = "istio.io/debug/syncz";
const dump = "istio.io/debug/config_dump";
const page = "istio.io/debug";
const statusUrl = "type.googleapis.com/envoy.service.status.v3.ClientConfig";

const config = (id: string) =>
  anyPack(
    ClientConfigSchema,
    create(ClientConfigSchema, { node: { id }, genericXdsConfigs: [{ typeUrl: clusterUrl }] }),
  );
/** What is no protobuf at all: a page of the debug port, as Istio puts it into an `Any`. */
const text = packed(page, Buffer.from('[{"token":"S3CR3T"}]'));

/**
 * As Istio's server answers requests for its debug types. In SotW nothing has a name; in delta what has none is said to
 * be removed besides.
 */
const debugging = () =>
  oddServer((stream, index) => {
    if (index > 0) return;
    const isDelta = stream.method.startsWith("Delta");
    const [bytes] = stream.requests;
    const asked = fromBinary(isDelta ? DeltaDiscoveryRequestSchema : DiscoveryRequestSchema, bytes ?? new Uint8Array());
    const { typeUrl } = asked;
    const names = "resourceNames" in asked ? asked.resourceNames : asked.resourceNamesSubscribe;
    const answer =
      typeUrl === syncz
        ? [config("edge-1"), config("edge-2")]
        : typeUrl === page
          ? [text]
          : [packedCluster("a"), packedCluster("b")];
    if (!isDelta) return stream.send(sotwResponse("1", answer, typeUrl));
    const nameless = answer.map((resource, at) => ({ name: typeUrl === syncz ? `edge-${at + 1}` : "", resource }));
    return stream.send(deltaResponse("1", nameless, typeUrl === syncz ? [] : names, typeUrl));
  });

async function get(...args: readonly string[]) {
  await using server = await debugging();
  const ended = await inProcessEnds("get", "--server", server.address, "--output", "jsonl", "--type", ...args);
  const [stream] = server.streams;
  const events = ended.out.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  const shown = events.filter(({ event }) => event === "upsert");
  const wrong = events.filter(({ event }) => event === "error" || event === "not_found");
  return { ...ended, shown, wrong, request: stream?.requests[0] ?? new Uint8Array(), method: stream?.method };
}

for (const variant of ["sotw", "delta"]) {
  describe(`xdskit get for unknown type URLs, ${variant}`, () => {
    it("asks for them as they are given, on ADS, and shows the resources, whatever their own type is", async () => {
      const { status, err, shown, wrong, request, method } = await get(syncz, "--variant", variant);
      assert.deepEqual([status, err, wrong], [0, "", []]);
      const schema = variant === "sotw" ? DiscoveryRequestSchema : DeltaDiscoveryRequestSchema;
      assert.equal(fromBinary(schema, request).typeUrl, syncz);
      assert.match(method ?? "", /AggregatedResources$/);
      assert.deepEqual(
        shown.map(({ type, typeUrl, name, resource }) => [type, typeUrl, name, resource["@type"], resource.node.id]),
        ["edge-1", "edge-2"].map((id) => [syncz, syncz, id, statusUrl, id]),
      );
    });

    it("shows all resources for a name, in parts without names", async () => {
      const { status, shown, wrong } = await get(dump, "edge-1", "--variant", variant);
      assert.deepEqual([status, wrong], [0, []]);
      assert.deepEqual(
        shown.map(({ resource }) => [resource["@type"], resource.name]),
        [
          [clusterUrl, "a"],
          [clusterUrl, "b"],
        ],
      );
    });

    it("shows unknown content by type URL and bytes, which may hold secrets", async () => {
      const hidden = await get(page, "syncz", "--variant", variant);
      assert.deepEqual([hidden.status, hidden.wrong], [0, []]);
      assert.deepEqual(hidden.shown[0].resource, { "@type": page, "@value": "[redacted]" });
      assert.match(hidden.err, /--show-secrets/);
      const { status, shown } = await get(page, "syncz", "--variant", variant, "--show-secrets");
      assert.equal(status, 0);
      assert.equal(Buffer.from(shown[0].resource["@value"], "base64").toString(), '[{"token":"S3CR3T"}]');
    });

    it("prints documents, and goes on to watch", async () => {
      await using server = await debugging();
      const how = ["--server", server.address, "--variant", variant, "--type", syncz];
      const { status, out } = await inProcessEnds("get", ...how);
      assert.equal(status, 0);
      assert.match(out, /"@type": type.googleapis.com\/envoy.service.status.v3.ClientConfig\nnode:\n {2}id: edge-1\n/);
      await using watching = inProcess(["watch", ...how, "--output", "jsonl"]);
      await watching.seen(({ event, name }) => event === "upsert" && name === "edge-2");
    });
  });
}
