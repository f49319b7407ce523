import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { defaultStreamLimits } from "../contract/limits.js";
import { requestedType } from "./requested-type.js";

const cluster = resourceTypes.find("cluster");
const v3 = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const v2 = "type.googleapis.com/envoy.api.v2.Cluster";
const listener = "type.googleapis.com/envoy.config.listener.v3.Listener";

/** `API TYPE_URL`, or the reason for a refusal. */
function asked(typeUrl: string, only: typeof cluster, api: "v2" | "v3"): string {
  const options = {
    variant: "sotw",
    types: resourceTypes,
    limits: defaultStreamLimits,
    defaultNode: undefined,
  } as const;
  const requested = requestedType(typeUrl, { ...options, only, api });
  return requested.kind === "type" ? `${requested.api} ${requested.typeUrl}` : requested.message;
}

test("an aggregated stream takes the type from the type URL, whatever its API version", () => {
  for (const api of ["v2", "v3"] as const) {
    assert.equal(asked(v3, undefined, api), `v3 ${v3}`);
    assert.equal(asked(v2, undefined, api), `v2 ${v2}`);
    assert.equal(asked("x/Unknown", undefined, api), "v3 x/Unknown");
    assert.match(asked("", undefined, api), /type_url is missing/);
  }
});

test("a stream of one type implies that type, in the API of its method, and takes no other", () => {
  assert.equal(asked("", cluster, "v3"), `v3 ${v3}`);
  assert.equal(asked("", cluster, "v2"), `v2 ${v2}`);
  assert.equal(asked(v2, cluster, "v3"), `v2 ${v2}`);
  assert.match(asked(listener, cluster, "v3"), /does not belong to this method, which is for .*Cluster/);
  assert.match(asked("x/Unknown", cluster, "v3"), /does not belong/);
});

test("a type URL that a client made up is neither repeated at length nor kept", () => {
  assert.ok(asked("x".repeat(100_000), cluster, "v3").length < 400);
  assert.match(asked("x".repeat(100_000), undefined, "v3"), /longer than 512 characters/);
});
