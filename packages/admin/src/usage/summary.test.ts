import assert from "node:assert/strict";
import { it } from "node:test";
import { healthOf } from "./summary.js";

const endpoints = (...health: readonly (string | undefined)[]) => ({
  endpoints: [{ lb_endpoints: health.map((health_status) => ({ health_status })) }],
});

it("the health of endpoints is well, some or none", () => {
  assert.equal(healthOf(endpoints("HEALTHY", undefined, "UNKNOWN")), "well");
  assert.equal(healthOf(endpoints("HEALTHY", "DRAINING")), "some");
  assert.equal(healthOf(endpoints("UNHEALTHY", "TIMEOUT")), "none");
  assert.equal(healthOf({ load_assignment: endpoints("UNHEALTHY") }), "none", "inside of a cluster");
  assert.equal(healthOf(endpoints()), null);
  assert.equal(healthOf({ name: "a" }), null);
});
