/**
 * The test files that plain `npm test` leaves out, each with what it looks at. They look further than the others
 * (attacks, growth, memory, counted operations, long random histories) and take long; what they hold seldom breaks.
 * `npm run test:all` and CI run them. A file stays out of this list if it is the only one that holds a rule of the
 * protocol, or a promise of the command line.
 */
export const leftOut = new Map([
  ["bench/src/foreign-names.test.ts", "counted operations: what is done for a name of another tenant, and for none"],
  ["bench/src/hidden-classes.test.ts", "the hidden classes of V8, while a thousand clients are served"],
  ["bench/src/main.test.ts", "every scenario of the benchmarks, with few clients"],
  ["bench/src/operations.test.ts", "counted operations: what a change costs with more and more clients"],
  ["e2e/src/bench-kubernetes.test.ts", "the benchmark of Services of Kubernetes, with few of them"],
  ["e2e/src/bundle.test.ts", "the bundle that is published, made anew and started in many ways"],
  ["e2e/src/client-restarts.test.ts", "clients of a server that is killed again and again"],
  ["e2e/src/conformance-clients.test.ts", "the conformance suite for clients, on Envoys, gRPC's clients and our own"],
  ["e2e/src/conformance-executable.test.ts", "the conformance suite as one executable file, made anew"],
  ["e2e/src/dashboard-fleet.test.ts", "the dashboard of ten thousand nodes, in a browser"],
  ["e2e/src/dashboard-habits.test.ts", "half a minute of clicks and keys on the dashboard, in a browser"],
  ["e2e/src/dashboard-node.test.ts", "the dashboard's page of a node, in a browser"],
  ["e2e/src/dashboard-safety.test.ts", "changes that are made on the dashboard, in a browser"],
  ["e2e/src/grpc-identities.test.ts", "two tenants' gRPC clients, by certificates and tokens"],
  ["e2e/src/grpc-moves.test.ts", "gRPC clients under traffic while everything moves"],
  ["e2e/src/kubernetes-config-maps.test.ts", "ConfigMaps of a real API server of Kubernetes"],
  ["e2e/src/kubernetes-dashboard.test.ts", "the dashboard of a real API server of Kubernetes, in a browser"],
  ["e2e/src/kubernetes-envoys.test.ts", "Envoys and gRPC's clients of Services of a real API server of Kubernetes"],
  ["e2e/src/kubernetes-faults.test.ts", "gRPC's clients of two servers of Kubernetes, which end"],
  ["e2e/src/kubernetes-page.test.ts", "the page of Kubernetes with kubectl and a real API server"],
  ["e2e/src/kubernetes-policies.test.ts", "gRPC's clients under policies of a Service of a real API server"],
  ["e2e/src/kubernetes-secrets.test.ts", "Secrets of a real API server of Kubernetes at real Envoys, from a pod"],
  ["e2e/src/kubernetes-tokens.test.ts", "tokens of pods that a real API server of Kubernetes reviews"],
  ["e2e/src/kubernetes.test.ts", "gRPC's clients of Services, and an API server of Kubernetes that is killed"],
  ["e2e/src/restart-resets.test.ts", "thousands of connections around a kill and a start"],
  ["e2e/src/tutorials.test.ts", "the tutorials of the manual, block by block, with an Envoy"],
  ["e2e/src/unknown-fields.test.ts", "unknown fields on their way through servers, relays, caches and files"],
  ["fuzz/src/fuzz.test.ts", "hundreds of hostile inputs for everything that takes input"],
  ["fuzz/src/growth.test.ts", "the cost of reading hostile files, by their size"],
  ["fuzz/src/hostile-origin.test.ts", "a server that sends a client as much as it can"],
  ["fuzz/src/leftovers.test.ts", "hostile clients, and what is left of them in memory"],
  ["packages/admin/src/requests/long-bodies.test.ts", "bodies of megabytes, and what others wait for meanwhile"],
  ["packages/admin/src/routes/long-answers.test.ts", "answers of megabytes, and what others wait for meanwhile"],
  ["packages/api/src/files/too-much.test.ts", "files that hold more than a reader takes"],
  ["packages/api/src/json-schema/json-schema.test.ts", "JSON Schemas, on every resource of the corpus"],
  ["packages/api/src/json/judged-message.test.ts", "the memory of long resources in JSON that break a rule"],
  ["packages/api/src/json/long-lists.test.ts", "the memory of long resources in JSON with a mistake"],
  ["packages/api/src/testing/corpus/corpus.test.ts", "the thousands of resources that other tests take a sample of"],
  ["packages/api/src/yaml/yaml-parts.test.ts", "long documents in YAML, in parts and as a whole"],
  ["packages/client/src/upstreams/files/long-files.test.ts", "files of megabytes that a client reads"],
  ["packages/client/src/watchers/flow-control.test.ts", "a client whose watchers are slow, over megabytes"],
  ["packages/conformance/src/mutants.test.ts", "servers with a mistake each, and the conformance check that finds it"],
  [
    "packages/protocol/src/server/responses/claimed-snapshot.test.ts",
    "what clients had before they came back, among many snapshots",
  ],
  ["packages/protocol/src/server/stream/growing-lists.test.ts", "the cost of one name on top of 100,000"],
  ["packages/relay/src/many-names.test.ts", "the memory of 16,000 names behind a relay"],
  ["packages/server/src/parts/on-demand/many-names.test.ts", "the cost of thousands of names, asked for at once"],
  ["packages/server/src/sources/folder/long-rounds.test.ts", "files so long that others must not wait for them"],
  ["packages/server/src/streams/limits/retained-names-bytes.test.ts", "the memory of 50,000 names of a client"],
  ["packages/server/src/streams/limits/stalled-memory.test.ts", "the memory of responses to streams that stall"],
  ["packages/server/src/streams/resumption/resumption-random.test.ts", "clients that are cut off at random moments"],
  ["packages/server/src/transports/ending-certificates.test.ts", "thousands of clients whose certificates end"],
  [
    "packages/server/src/transports/grpc/http2-attacks.test.ts",
    "attacks over HTTP/2, and what is left of them in memory",
  ],
  ["packages/store-sqlite/src/crashes.test.ts", "processes that are killed while they write"],
  ["packages/store-sqlite/src/damages.test.ts", "files of a state that are damaged at random places"],
  ["packages/store-sqlite/src/exits.test.ts", "processes that end in the middle of a write"],
  ["packages/store-sqlite/src/full-disk.test.ts", "a state whose disk is full"],
  ["packages/xdskit/src/apply/large-change.test.ts", "changes of 10,000 resources, over the API"],
  ["packages/xdskit/src/serve/blocked-worker.test.ts", "a worker that is blocked for seconds"],
  ["packages/xdskit/src/serve/full-disk.test.ts", "a server whose disk is full, and has room again"],
  ["packages/xdskit/src/serve/huge-files.test.ts", "files of 60 MB in a folder that is served"],
  ["packages/xdskit/src/start.test.ts", "the modules that each command loads"],
  ["scripts/site.test.ts", "the manual, built as a site"],
  ["scripts/tarballs.test.ts", "every package as it is published, installed where nothing is"],
  ["scripts/testing/bounded-processes.test.ts", "processes of tests that do not end"],
]);

/**
 * The test files of `npm run test:kubernetes` and `npm run test:spire` alone: to build what they need takes ten minutes
 * of processor time.
 */
export const runLater = new Set([
  "e2e/src/bench-kubernetes.test.ts",
  "e2e/src/kubernetes-config-maps.test.ts",
  "e2e/src/kubernetes-dashboard.test.ts",
  "e2e/src/kubernetes-envoys.test.ts",
  "e2e/src/kubernetes-faults.test.ts",
  "e2e/src/kubernetes-page.test.ts",
  "e2e/src/kubernetes-policies.test.ts",
  "e2e/src/kubernetes-secrets.test.ts",
  "e2e/src/kubernetes-tokens.test.ts",
  "e2e/src/kubernetes.test.ts",
  "e2e/src/spire.test.ts",
]);

/** The part of their usual length that random tests have beside them. */
export const shortEffort = 0.1;

/** One line that says what a run left out, and how to run it. */
export function whatWasLeftOut() {
  return (
    `Left out: ${leftOut.size} files that look further and take long (scripts/testing/left-out.mjs has them), and ` +
    `${100 - shortEffort * 100} % of each random test. All of it, as CI does: npm run test:all`
  );
}
