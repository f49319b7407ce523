import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type MessageInitShape, toBinary, toJson } from "@bufbuild/protobuf";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import { DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { longestText } from "../../model/basics/limits.js";
import { readJsonRequest } from "./json-request.js";
import { nodeOf, readSotwRequest } from "./requests.js";

type NodeInit = MessageInitShape<typeof NodeSchema>;

const texts: Readonly<Record<string, (text: string) => NodeInit>> = {
  "node.id": (id) => ({ id }),
  "node.cluster": (cluster) => ({ cluster }),
  "node.locality.region": (region) => ({ locality: { region } }),
  "node.locality.zone": (zone) => ({ locality: { zone } }),
  "node.locality.sub_zone": (subZone) => ({ locality: { subZone } }),
  "node.user_agent_name": (userAgentName) => ({ userAgentName }),
  "node.user_agent_version": (text) => ({ userAgentVersionType: { case: "userAgentVersion", value: text } }),
  "node.client_features": (feature) => ({ clientFeatures: [feature] }),
};

/** A server's errors for a node, as bytes and as JSON. */
function said(node: NodeInit): readonly (string | undefined)[] {
  const request = create(DiscoveryRequestSchema, { node: create(NodeSchema, node) });
  const bytes = toBinary(DiscoveryRequestSchema, request);
  const json = readJsonRequest(toJson(DiscoveryRequestSchema, request));
  let binary: string | undefined;
  try {
    nodeOf(bytes, readSotwRequest(bytes));
  } catch (error) {
    binary = (error as Error).message;
  }
  return [binary, json.kind === "malformed" ? json.message : undefined];
}

describe("the texts of a node", () => {
  for (const [path, nodeOf] of Object.entries(texts)) {
    it(`${path} has at most 512 bytes, as it goes to logs, pages and metrics`, () => {
      assert.deepEqual(said(nodeOf("é".repeat(longestText / 2))), [undefined, undefined]);
      for (const text of [`x${"é".repeat(longestText / 2)}`, "x".repeat(1024 * 1024)]) {
        const bytes = Buffer.byteLength(text);
        const refused = `${path} has ${bytes} bytes, and at most 512 are allowed`;
        const inList = refused.replace("client_features", "client_features[0]");
        assert.deepEqual(said(nodeOf(text)), [refused, inList]);
      }
    });
  }

  it("metadata may be longer, up to what a node may have in all", () => {
    assert.deepEqual(said({ metadata: { labels: "x".repeat(10_000) } }), [undefined, undefined]);
  });
});
