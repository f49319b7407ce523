// What publishing one change costs right after another one and after a pause, in which the processor's caches get used
// for something else:   node --conditions=@xdskit/source --import tsx packages/server/bench/pauses.ts [changes] CPU
// time in microseconds, the median of all but the first quarter. With `node --jitless` in the place of `node` nothing
// is ever compiled.
import { create } from "@bufbuild/protobuf";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { createServer } from "../src/index.js";

const changes = Number(process.argv[2] ?? 400);

for (const pauseMs of [0, 1, 5, 20, 0]) {
  const server = createServer({ eventLoop: false });
  const costs: number[] = [];
  for (let change = 0; change < changes; change += 1) {
    const message = loadAssignment(change);
    await new Promise((resolve) => (pauseMs === 0 ? setImmediate(resolve) : setTimeout(resolve, pauseMs)));
    const before = process.cpuUsage();
    server.config.update({ upsert: [message] });
    const { user, system } = process.cpuUsage(before);
    costs.push(user + system);
  }
  await server.close();
  const late = costs.slice(Math.floor(changes / 4)).sort((a, b) => a - b);
  console.log(`a pause of ${pauseMs} ms: ${late[Math.floor(late.length / 2)]} us a change`);
}

function loadAssignment(change: number) {
  return create(ClusterLoadAssignmentSchema, {
    clusterName: "one",
    endpoints: [
      {
        lbEndpoints: [
          {
            hostIdentifier: {
              case: "endpoint",
              value: {
                hostname: `m-${change}`,
                address: {
                  address: {
                    case: "socketAddress",
                    value: { address: "10.0.0.1", portSpecifier: { case: "portValue", value: 8000 } },
                  },
                },
              },
            },
            metadata: { filterMetadata: { bench: { pad: "x".repeat(1000) } } },
          },
        ],
      },
    ],
  });
}
