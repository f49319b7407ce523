import assert from "node:assert/strict";
import { it } from "node:test";
import { problemList } from "./problem-list.js";

const nothing = { nodes: [], sources: [], rollouts: [], quarantines: [], troubles: [], silent: [], groupsOf: () => [] };

it("a store that is away and servers that do not answer are problems, and stand first", () => {
  const since = Date.UTC(2026, 0, 1);
  const finding = { code: "XDSKIT_RULE_BROKEN", severity: "error", message: "wrong" } as const;
  const { problems, errors } = problemList({
    ...nothing,
    troubles: [{ kind: "store", severity: "error", message: "etcd: connection refused", since }],
    silent: [{ replica: "xdskit-2", reason: "no answer in 2 s" }],
    sources: [{ name: "folder", state: "refused", findings: [finding] }],
  });
  assert.equal(errors, 3);
  assert.deepEqual(
    problems.map(({ kind, title, detail }) => [kind, title, detail]),
    [
      ["store", "The store is not what it should be", "etcd: connection refused"],
      ["replica", "xdskit-2 does not answer the other servers", "no answer in 2 s"],
      ["change-refused", "folder is refused", "wrong"],
    ],
  );
  assert.equal(problems[0]?.since, "2026-01-01T00:00:00.000Z");
  for (const { advice } of problems) assert.ok(advice.length > 20);
});

it("a finding about a resource says which groups have it", () => {
  const finding = { code: "XDSKIT_DANGLING_REFERENCE", severity: "warning", message: "names x" } as const;
  const findings = [{ ...finding, type: "route", resource: "web" }, finding];
  const { problems } = problemList({
    ...nothing,
    sources: [{ name: "folder", state: "applied", findings }],
    groupsOf: (type, name) => (type === "route" && name === "web" ? ["mesh"] : ["wrong"]),
  });
  assert.deepEqual(
    problems.map(({ groups }) => groups),
    [["mesh"], []],
  );
});
