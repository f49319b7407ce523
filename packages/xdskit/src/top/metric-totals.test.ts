import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { metricTotals, ratesBetween } from "./metric-totals.js";

const page = (sent: number, quick: number, slow: number) => `# TYPE xdskit_responses_total counter
xdskit_responses_total{worker="1",type="cluster",variant="sotw"} ${sent}
xdskit_responses_total{worker="2",type="route",variant="delta"} 5
xdskit_publish_to_ack_seconds_bucket{type="cluster",group="a,le=\\"9\\"",le="0.1"} ${quick}
xdskit_publish_to_ack_seconds_bucket{type="cluster",group="a,le=\\"9\\"",le="1"} ${quick + slow}
xdskit_publish_to_ack_seconds_bucket{type="cluster",group="a,le=\\"9\\"",le="+Inf"} ${quick + slow}
other_total 9
`;

describe("what happened between two scrapes", () => {
  it("is pushes per second, over all types and processes, and how long changes took", () => {
    const [before, after] = [metricTotals(page(100, 50, 0), 0), metricTotals(page(300, 98, 2), 2_000)];
    assert.equal(before.pushes, 105);
    assert.deepEqual(ratesBetween(before, after), { pushesPerSecond: 100, lag: { p50Ms: 100, p99Ms: 1_000 } });
  });

  it("is everything that a server counted that started again", () => {
    const { pushesPerSecond } = ratesBetween(metricTotals(page(300, 9, 9), 0), metricTotals(page(35, 1, 0), 1_000));
    assert.equal(pushesPerSecond, 40);
  });

  it("has no lag where nothing was acknowledged", () => {
    const same = page(1, 2, 3);
    assert.equal(ratesBetween(metricTotals(same, 0), metricTotals(same, 1_000)).lag, null);
  });
});
