/*
 * The layers of the house, written down once: `.dependency-cruiser.mjs` makes lint's rules of them.
 *
 * Packages stand from the bottom up. Below each stand the folders of its `src/`, from the bottom up as well, and "." for
 * the files directly in `src/`. A file imports from its own folder and from what stands before it, types included.
 * Folders in one list stand beside each other and import nothing of each other. A folder without an entry of its own
 * belongs to the entry of the folder around it. A package without folders has no order inside yet.
 */

/** @type {Readonly<Record<string, readonly (string | readonly string[])[]>>} */
export const layers = {
  "grpc-server": [["hpack", "timing", "node-internals"], "frames", "connection", "sockets", "messages", "calls", "."],
  api: [
    ["errors", "schema", "timing"],
    ["names", "schema/making", "disk"],
    "registry",
    "messages",
    ["references", "envoy-versions"],
    "resource-types",
    "v2",
    "resources",
    ["redact", "text"],
    ["unknown", "yaml", "validate/values"],
    ["json", "writing", "validate/refused"],
    "validate",
    "reading",
    ["compiled", "adoption", "text-format"],
    "files",
    ".",
  ],
  protocol: [
    "model",
    "wire",
    ["planning", "client"],
    "server/state",
    "server/contract",
    "server/nack-messages",
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
    "contracts",
    ["configuration", "sources", "transports", "node-status"],
    "stores",
    ["arrivals", "client-status", "rollouts", "on-demand", "references"],
    "addresses",
    "streams",
    ["rest-polls", "load-reports"],
    "services",
    ".",
  ],
  "store-lmdb": [],
  "store-etcd": ["client", "."],
  client: [
    ["timing", "events", "errors"],
    "contract",
    "options",
    ["identity", "credentials", "watchers", "upstreams/contract"],
    ["upstreams/grpc", "upstreams/rest", "upstreams/files"],
    "upstreams",
    ["origin", "config", "bootstrap", "metrics", "status"],
    ".",
  ],
  admin: [
    "contract",
    ["requests", "answers", "events"],
    ["fleet", "usage", "fields"],
    "problems",
    "context",
    "routes",
    ".",
  ],
  xdskit: [
    ["process", "files"],
    "output",
    "settings",
    ["bench/crowd", "bootstrap", "to-files", "validate", "status", "watch/output", "relay/cache"],
    ["api-client", "replicas", "processes"],
    "changes",
    ["bench/figures", "plan", "admin", "watch", "relay/groups", "serving/logs"],
    ["bench/fleet", "get", "serving", "apply", "state"],
    ["bench", "relay", "serve", "diff", "rollout", "history", "transfer", "top"],
    "commands",
    ".",
  ],
};
