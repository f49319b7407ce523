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
