// The layers of the house, written down once: `.dependency-cruiser.mjs` makes lint's rules of them.

/**
 * The packages that each package may import, from the bottom up. `name/PATH` is only that file of a package: one entry
 * point, without the weight of the others. `tests` are what its tests may import besides.
 *
 * @type {Readonly<Record<string, { imports: readonly string[], tests?: readonly string[] }>>}
 */
export const packages = {
  "grpc-server": { imports: [] },
  api: { imports: [] },
  protocol: { imports: ["api"] },
  server: { imports: ["grpc-server", "api", "protocol"] },
  "store-sqlite": { imports: ["api", "server"] },
  "store-etcd": { imports: ["api", "server"] },
  "source-kubernetes": { imports: ["api", "server"] },
  client: { imports: ["api", "protocol"], tests: ["grpc-server", "server"] },
  admin: { imports: ["grpc-server", "api", "protocol", "server"], tests: ["client"] },
  // A fleet needs neither a server nor gRPC's client: one processor has to do for thousands of nodes.
  fleet: {
    imports: [
      ...["api", "protocol", "grpc-server/src/messages/index.ts"],
      ...["server/src/basics/address.ts", "client/src/connecting.ts"],
    ],
    tests: ["grpc-server", "server", "client"],
  },
  relay: {
    imports: ["api", "protocol", "server", "client", "grpc-server/src/messages/index.ts"],
    tests: ["grpc-server"],
  },
  // Neutral: what it says of a server must not rest on ours.
  conformance: { imports: ["api", "protocol/src/wire/index.ts"] },
  xdskit: {
    imports: [
      ...["grpc-server", "api", "protocol", "server", "store-sqlite", "store-etcd", "source-kubernetes", "client"],
      ...["admin", "fleet", "relay"],
    ],
  },
};

/** These know nothing of Node: they have no I/O, clock or process. */
export const withoutNode = ["protocol"];

/**
 * The folders of each package's `src/`, from the bottom up, and "." for the files directly in `src/`. A file imports
 * from its own folder and from what stands before it, types included. Folders in one list stand beside each other and
 * import nothing of each other. A folder without an entry of its own belongs to the entry of the folder around it. A
 * package without folders has no order inside yet.
 *
 * @type {Readonly<Record<string, readonly (string | readonly string[])[]>>}
 */
export const layers = {
  "grpc-server": [
    ["bytes", "hpack", "timing", "node-internals"],
    "frames",
    "connection",
    "sockets",
    "messages",
    "calls",
    ".",
  ],
  api: [
    ["errors", "schema", "timing", "wire"],
    ["names", "schema/making", "disk", "text"],
    "json/forms",
    "registry",
    "messages",
    ["references", "envoy-versions"],
    "resource-types",
    "v2",
    "resources",
    "redact",
    ["unknown", "yaml", "validate/values", "json-schema"],
    ["json", "writing", "validate/refused"],
    "validate",
    "reading",
    ["compiled", "adoption", "text-format"],
    ["files", "builders"],
    "threads",
    ".",
  ],
  protocol: [
    ["model/basics", "model/names"],
    "model/sets",
    ["model/snapshots", "model/subscribed"],
    "wire/basics",
    ["wire/requests", "wire/responses"],
    "wire/loads",
    "wire",
    "server/state",
    "server/contract",
    ["planning", "client/contract", "server/nack-messages"],
    ["client/asked", "client/current"],
    "client/taken",
    "client",
    "server/acknowledgements",
    "server/ordering",
    "server/requests",
    "server/responses",
    "server/cohorts",
    "server/stream",
    ".",
  ],
  server: [
    ["basics", "event-loop"],
    "tls",
    "settings",
    "identity/patterns",
    "identity/tokens",
    "identity",
    "contracts",
    "gate",
    ["configuration", "sources", "transports"],
    "stores/basics",
    "stores/history",
    ["stores/tables", "stores/leases"],
    ["stores/written", "stores/kept", "stores/copied", "stores/suite"],
    "publication",
    ["streams/resumption", "streams/limits"],
    "streams",
    "rest-polls",
    "services",
    "core",
    // Here the kernel ends: it imports no part.
    ["parts/rollouts/course", "parts/rollouts/members"],
    ["parts/rollouts/records", "parts/rollouts/quarantine"],
    "parts/rollouts/steps",
    "parts/rollouts/shared",
    "parts/node-status",
    [
      "parts/addresses",
      "parts/arrivals",
      "parts/client-status",
      "parts/load-reports",
      "parts/on-demand",
      "parts/references",
      "parts/rollouts",
    ],
    // Only `default-parts.ts` knows all parts.
    ".",
  ],
  "store-sqlite": [],
  "store-etcd": ["client", "."],
  "source-kubernetes": [["objects", "connection"], ["resources", "watching"], ["events", "statuses"], "."],
  client: [
    ["events", "errors"],
    "contract",
    "options",
    ["identity", "credentials", "watchers", "upstreams/contract"],
    ["upstreams/grpc", "upstreams/rest", "upstreams/files"],
    "upstreams",
    ["origin", "config", "bootstrap", "metrics", "status"],
    ".",
  ],
  admin: [
    ["contract", "text"],
    "access",
    ["log", "metrics"],
    "listener",
    ["requests", "answers", "events", "activity", "troubles"],
    ["fleet", "usage", "fields"],
    "problems",
    "context",
    "routes",
    ".",
  ],
  fleet: ["crowd", "figures", "fleet", "."],
  relay: [["cache", "groups/upstream", "groups/pending"], "groups", "."],
  conformance: [
    "verdicts",
    "wire",
    "driver",
    ["peer", "client"],
    "checks/contract",
    "checks/observe",
    "checks/drive",
    "checks/client",
    "checks",
    "run",
    "report",
    "command",
    ".",
  ],
  xdskit: [
    ["process", "files", "code-cache"],
    "output",
    "sds",
    "settings",
    ["daemon/to-files", "checking", "asking/output"],
    ["api-client", "daemon/replicas", "daemon/workers"],
    ["comparison", "asking", "daemon/logs"],
    ["daemon", "api-writes", "daemon/revisions"],
    "arguments",
    "serve/folder",
    "serve/options",
    ["serve/live", "serve/servers", "serve/kubernetes"],
    // The commands, one folder each.
    ["apply", "bench", "bootstrap", "completion", "delete", "diff", "export", "get", "history", "plan", "relay"],
    ["audit", "import", "rollback", "rollout", "schema", "serve", "token", "top", "validate", "watch"],
    ["init", "status", "wait", "health"],
    "manual",
    ".",
  ],
};
