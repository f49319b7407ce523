import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NodeRow } from "../contract/fleet.js";
import { problemsOf } from "./problem-groups.js";

const at = (minute: number) => `2030-01-01T00:0${minute}:00.000Z`;

/** A node that said these words about these types. */
function nodeThatRejects(id: string, words: Readonly<Record<string, string>>, minute = 1): NodeRow {
  const types = Object.entries(words).map(([type, why]) => {
    const rejected = { at: at(minute), version: "1", message: why, blamed: [`${type} of ${id}`], resources: 1 };
    return { type, state: "rejected" as const, resources: 1, behind: 1, lagMs: null, why, rejected };
  });
  return {
    id,
    group: id[0] ?? "",
    cluster: "",
    client: "",
    locality: "",
    replicas: [],
    connectedSince: at(0),
    streams: 1,
    state: "rejected",
    behind: 1,
    lagMs: null,
    why: "",
    types,
  };
}

const told = (rows: readonly NodeRow[]) =>
  problemsOf(rows).map(({ types, reason, nodes, ids }) => [types.join(), reason, nodes, ids.join()]);

describe("the problems of nodes", () => {
  it("are one for each reason, and not one for each type of a node", () => {
    const both = { cluster: "no, at 0x12", endpoint: "no, at 0x34" };
    assert.deepEqual(
      told([
        nodeThatRejects("a1", both),
        nodeThatRejects("b2", both),
        nodeThatRejects("b3", { cluster: "no, at 0x56" }),
      ]),
      [["cluster,endpoint", "no, at 0x12", 3, "a1,b2,b3"]],
    );
  });

  it("are two where a node rejects two types for different reasons: each is fixed at its own place", () => {
    const rows = [nodeThatRejects("a", { cluster: "bad cluster", listener: "port is taken" })];
    assert.deepEqual(told(rows), [
      ["cluster", "bad cluster", 1, "a"],
      ["listener", "port is taken", 1, "a"],
    ]);
  });

  it("say since when, in which groups, and which resources are blamed", () => {
    const [problem] = problemsOf([
      nodeThatRejects("a", { cluster: "no" }, 3),
      nodeThatRejects("b", { route: "no" }, 2),
    ]);
    assert.deepEqual([problem?.since, problem?.groups], [at(2), ["a", "b"]]);
    assert.deepEqual(problem?.blamed, ["cluster of a", "route of b"]);
  });

  it("keep their id while other nodes come and go", () => {
    const [first] = problemsOf([nodeThatRejects("a1", { cluster: "port 1 is taken" })]);
    const [later] = problemsOf([nodeThatRejects("z", { endpoint: "port 22 is taken" })]);
    assert.equal(first?.id, later?.id);
  });
});
