import type { FleetOptions } from "../fleet/fleet-options.js";

/**
 * What a fleet is where nobody asks for something else: twelve nodes that connect at once, acknowledge everything and
 * stay. The servers are for the test to add.
 */
export const usualFleet: FleetOptions = {
  servers: [],
  userAgent: "a-test/1",
  nodes: 12,
  variant: "delta",
  ads: true,
  types: [],
  nodeId: "bench-g{g}-{n}",
  nodeCluster: "bench",
  locality: "",
  metadata: {},
  groups: 1,
  nodesPerConnection: 1,
  ramp: undefined,
  timeout: 30_000,
  duration: 0,
  churn: 0,
  stall: 0,
  stallFor: 0,
  reject: 0,
};
