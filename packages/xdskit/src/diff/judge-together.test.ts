import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiClient } from "../api-client/api-client.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { checkDirectory } from "../validate/check-directory.js";
import { judgeTogether } from "./judge-together.js";

test("resources of the server that cannot be read here are not judged, and a warning says so", async () => {
  await using folder = await testFolder({ "c.yaml": clusterYaml("a") });
  const checked = await checkDirectory({ directory: folder.path, settings: undefined, descriptors: [] });
  const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  const listed = (name: string, connectTimeout: string) => {
    return { type, name, version: "1", resource: { "@type": type, name, connectTimeout } };
  };
  const get = async () => ({ resources: [listed("good", "1s"), listed("odd", "soon")] });
  const client = { get } as unknown as ApiClient;
  const { unread, refusals } = await judgeTogether(client, ["api"], checked, true, [[]]);
  assert.deepEqual(refusals, [[]]);
  const [{ severity, message, resource } = {}, ...more] = unread;
  assert.deepEqual([severity, resource, more], ["warning", "odd", []]);
  assert.match(message ?? "", /^what the server has in layer api cannot be read here, and is not judged: /);
});
