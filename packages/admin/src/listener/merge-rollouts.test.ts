import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RolloutJson } from "../contract/answers.js";
import { mergedRollouts } from "./merge-rollouts.js";

const rolloutOf = (state: RolloutJson["state"], nodes: Partial<RolloutJson["nodes"]>) =>
  ({
    id: 7,
    group: "edge",
    state,
    waitsFor: [],
    rejections: [],
    nodes: { reached: 0, pending: 0, rejected: 0, held: 0, ...nodes },
  }) as unknown as RolloutJson;

const shown = (...said: readonly RolloutJson[]) =>
  mergedRollouts(said.map((each) => [each])).map(({ state, nodes: { reached, held } }) => ({ state, reached, held }));

describe("the rollouts that several servers tell", () => {
  const completed = rolloutOf("completed", { reached: 2 });
  const behind = rolloutOf("soaking", { reached: 1, held: 3 });

  it("are completed for the nodes of a server that has not heard of the end", () => {
    assert.deepEqual(shown(completed, behind), [{ state: "completed", reached: 6, held: 0 }]);
  });

  it("are over as soon as one server says so, whichever is asked", () => {
    assert.deepEqual(shown(behind, completed), [{ state: "completed", reached: 6, held: 0 }]);
    assert.equal(shown(behind, rolloutOf("rolled-back", { reached: 1, held: 1 }))[0]?.state, "rolled-back");
  });

  it("go on where one server alone has nothing left of the change", () => {
    assert.equal(shown(behind, rolloutOf("withdrawn", {}))[0]?.state, "soaking");
  });

  it("have the state that the asked server says while they are under way", () => {
    assert.deepEqual(shown(behind, rolloutOf("waiting", { held: 1 })), [{ state: "soaking", reached: 1, held: 4 }]);
  });
});
