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

it("a certificate says when it expires, and rejections name all their types", () => {
  const since = Date.UTC(2026, 0, 1);
  const expires = Date.UTC(2026, 0, 2);
  const { problems } = problemList({
    ...nothing,
    troubles: [
      {
        kind: "certificate",
        severity: "warning",
        title: "It expires soon",
        message: "own.pem expires",
        since,
        expires,
      },
    ],
    nodes: [
      {
        id: "rejected no",
        kind: "rejected",
        types: ["cluster", "route", "listener"],
        reason: "no",
        nodes: 2,
        ids: ["a", "b"],
        groups: ["all"],
        since: null,
        blamed: [],
        resources: 9,
      },
    ],
  });
  assert.deepEqual(
    problems.map(({ title, expires: until, types }) => [title, until, types.length]),
    [
      ["2 nodes reject the cluster, route and listener configuration", null, 3],
      ["It expires soon", "2026-01-02T00:00:00.000Z", 0],
    ],
  );
});

it("two problems of one node are told apart by the resources that it rejects", () => {
  const one = { kind: "rejected" as const, nodes: 1, ids: ["edge-1"], groups: ["all"], since: null, resources: 9 };
  const { problems } = problemList({
    ...nothing,
    nodes: [
      { ...one, id: "rejected a", types: ["cluster"], reason: "no such certificate", blamed: ["web"] },
      { ...one, id: "rejected b", types: ["listener"], reason: "port is taken", blamed: ["public", "private"] },
    ],
  });
  assert.deepEqual(
    problems.map(({ title }) => title),
    ["edge-1 rejects cluster web", "edge-1 rejects the listener configuration"],
  );
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

it("a problem that the folders of all servers have is one problem, and another one says where it is", () => {
  const everywhere = { code: "XDSKIT_RULE_BROKEN", severity: "error", message: "wrong", file: "c.yaml" } as const;
  const inOne = { ...everywhere, file: "d.yaml" };
  const folder = { name: "folder", state: "refused" };
  const { problems } = problemList({
    ...nothing,
    sources: [
      { ...folder, replica: "worker 1", findings: [everywhere] },
      { ...folder, replica: "worker 2", findings: [everywhere, inOne] },
    ],
  });
  assert.deepEqual(
    problems.map(({ title, detail }) => [title, detail]),
    [
      ["c.yaml is refused", "wrong"],
      ["d.yaml is refused", "wrong (at worker 2)"],
    ],
  );
});

it("a rejection of many resources that names none is not shown as one of them", () => {
  const about = { kind: "rejected" as const, ids: ["a"], groups: ["all"], since: null, blamed: [], types: ["cluster"] };
  const { problems } = problemList({
    ...nothing,
    nodes: [
      { ...about, id: "many", nodes: 1, reason: "no", resources: 5_000 },
      { ...about, id: "only", nodes: 1, reason: "none", resources: 1 },
    ],
  });
  assert.deepEqual(
    problems.map(({ title, names }) => [title, names]),
    [
      ["a rejects 5000 cluster resources without naming one", []],
      ["a rejects the cluster configuration", []],
    ],
  );
});

it("equal findings are one problem, with their resources; another cause is another problem", () => {
  const about = { code: "XDSKIT_DANGLING_REFERENCE", severity: "warning", type: "route", file: "r.yaml" } as const;
  const findings = Array.from({ length: 100 }, (_, index) => {
    const field = `virtual_hosts[${index}].routes[0].route.cluster`;
    return { ...about, resource: `r${index}`, message: 'names cluster "gone"', field, line: index + 1 };
  });
  const other = { ...about, resource: "r0", message: 'names cluster "lost"' };
  const error = { code: "XDSKIT_RULE_BROKEN", severity: "error", message: "wrong", file: "c.yaml" } as const;
  const state = "partial" as const;
  const { errors, warnings, problems } = problemList({
    ...nothing,
    groupsOf: () => ["all"],
    sources: [{ name: "folder", state, findings: [...findings, other, error] }],
  });
  assert.deepEqual([errors, warnings], [1, 2]);
  assert.deepEqual(
    problems.map(({ title, count, names, where }) => [title, count, names.length, where?.line]),
    [
      ["c.yaml is refused", 1, 0, undefined],
      ["100 route resources name what is not there", 100, 20, 1],
      ["route r0 names what is not there", 1, 1, undefined],
    ],
  );
  assert.deepEqual(problems[1]?.groups, ["all"]);
});
