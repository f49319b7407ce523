import assert from "node:assert/strict";
import { test } from "node:test";
import type { StageJson } from "@xdskit/protocol";
import { plain } from "../output/colours.js";
import { groupStagesText } from "./stages-text.js";

const stages: readonly StageJson[] = [
  { after: [], changes: [{ type: "cluster", added: ["b"], changed: [], removed: [] }] },
  {
    after: [{ kind: "make", type: "route", names: ["r"], for: { type: "cluster", names: ["b"] } }],
    changes: [{ type: "route", added: [], changed: ["r"], removed: [] }],
  },
  {
    after: [{ kind: "break", type: "cluster", names: ["a"], for: { type: "route", names: ["r"] } }],
    changes: [{ type: "cluster", added: [], changed: [], removed: ["a"] }],
  },
];
const text = `3 stages: 1 added, 1 changed, 1 removed
1. at once
     + cluster b
2. once cluster b is acknowledged (warm)
     ~ route r
3. once the change of route r is acknowledged
     - cluster a
`;

test("stages that a server planned read as those of plan, with the groups where there are some", () => {
  assert.equal(groupStagesText([{ group: "all", stages }], plain), text);
  const two = [
    { group: "edge", stages },
    { group: "rest", stages: [], waits: [{ kind: "named", type: "cluster", names: ["x"] }] as const },
  ];
  assert.equal(
    groupStagesText(two, plain),
    `group edge: ${text}\ngroup rest: nothing changes\nnever: cluster x, waiting in vain\n`,
  );
});
