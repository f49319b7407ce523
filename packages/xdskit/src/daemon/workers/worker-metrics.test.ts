import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { metricsOfWorkers } from "./worker-metrics.js";

const text = (streams: number, more = "") => `# HELP streams Open streams.
# TYPE streams gauge
streams{kind="a {b} c"} ${streams}

# HELP up Whether it serves.
# TYPE up gauge
up 1
${more}`;

describe("the metrics of several processes", () => {
  it("keep the lines of a histogram together", () => {
    const histogram = (count: number) =>
      `# HELP took Time.\n# TYPE took histogram\ntook_bucket{le="1"} ${count}\ntook_bucket{le="+Inf"} ${count}\ntook_sum 1\ntook_count ${count}\n`;
    assert.equal(
      metricsOfWorkers([
        { worker: 1, text: histogram(3) },
        { worker: 2, text: histogram(5) },
      ]),
      `# HELP took Time.
# TYPE took histogram
took_bucket{worker="1",le="1"} 3
took_bucket{worker="1",le="+Inf"} 3
took_sum{worker="1"} 1
took_count{worker="1"} 3
took_bucket{worker="2",le="1"} 5
took_bucket{worker="2",le="+Inf"} 5
took_sum{worker="2"} 1
took_count{worker="2"} 5

`,
    );
  });

  it("describe each metric once, and name the worker of each sample", () => {
    const merged = metricsOfWorkers([
      { worker: 1, text: text(3) },
      { worker: 2, text: text(5, "\n# HELP own Only here.\n# TYPE own counter\nown 7\n") },
    ]);
    assert.equal(
      merged,
      `# HELP streams Open streams.
# TYPE streams gauge
streams{worker="1",kind="a {b} c"} 3
streams{worker="2",kind="a {b} c"} 5

# HELP up Whether it serves.
# TYPE up gauge
up{worker="1"} 1
up{worker="2"} 1

# HELP own Only here.
# TYPE own counter
own{worker="2"} 7

`,
    );
  });
});
