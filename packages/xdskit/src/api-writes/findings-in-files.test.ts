import assert from "node:assert/strict";
import { test } from "node:test";
import { type Finding, readResources } from "@xdskit/api";
import { clusterYaml } from "../testing/folder.js";
import { findingsInFiles } from "./findings-in-files.js";

const path = "my.yaml";
const { resources: read } = readResources({ path, bytes: Buffer.from(`${clusterYaml("a")}---\n${clusterYaml("b")}`) });
const places = new Map(read.map(({ resource, where }) => [resource, where]));
const input = {
  resources: [...places.keys()],
  whereIs: (resource: (typeof read)[number]["resource"]) => places.get(resource),
};

const finding: Finding = {
  code: "XDSKIT_RULE_BROKEN",
  severity: "error",
  message: "must be more",
  file: "body",
  line: 99,
  column: 7,
  type: "cluster",
  resource: "b",
  field: "connect_timeout",
};

test("a finding about a sent resource has the place of that resource, however its type is named", () => {
  for (const type of ["cluster", "type.googleapis.com/envoy.config.cluster.v3.Cluster"]) {
    const [placed] = findingsInFiles([{ ...finding, type }], input);
    assert.deepEqual([placed?.file, placed?.line, placed?.field], [path, 5, "connect_timeout"]);
  }
});

test("a finding about something else has no place, since a line of the request would mislead", () => {
  for (const other of [{ resource: "c" }, { type: "listener" }, { type: undefined, resource: undefined }]) {
    const [placed] = findingsInFiles([{ ...finding, ...other }], input);
    assert.deepEqual([placed?.file, placed?.line, placed?.column], [undefined, undefined, undefined]);
    assert.equal(placed?.message, finding.message);
  }
});

test("a finding about a resource of the server keeps the place that the server says", () => {
  const other = { ...finding, file: "/srv/routes.yaml", type: "route", resource: "r" };
  assert.deepEqual(findingsInFiles([other], input), [other]);
});
