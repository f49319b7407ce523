import { getHeapStatistics } from "node:v8";
import type { RolloutState, XdsServer } from "@xdskit/server";
import type { Trouble } from "../contract/admin-options.js";
import type { Readiness } from "../contract/readiness.js";
import type { AnySourceStatus } from "../contract/source-status.js";
import { addLoadMetrics } from "./load-metrics.js";
import { type HistogramRow, type Row, Scrape } from "./scrape.js";
import type { StoreNumbers } from "./store-numbers.js";

/** The numbers are read from here at every scrape. */
export interface MetricsInput {
  /** Of the program. */
  readonly version: string;
  /** What people call this server. */
  readonly name?: string | undefined;
  readonly server: Pick<XdsServer, "stats" | "snapshotOf" | "loadTotals" | "rollouts" | "quarantines" | "nodeStates">;
  readiness(): Readiness;
  sources(): readonly AnySourceStatus[];
  /** Whether the state has what it had before, and can be written. Default: true. */
  readonly isStateWhole?: boolean;
  /** The counts of the API; undefined: there is no API. */
  readonly api?: (() => ApiNumbers) | undefined;
  /** What is wrong with the server's certificates. */
  readonly troubles?: (() => readonly Pick<Trouble, "severity">[]) | undefined;
  /** Undefined: nothing is kept. */
  readonly store?: (() => StoreNumbers) | undefined;
}

/** Numbers of the API. */
export interface ApiNumbers {
  /** By HTTP status. */
  readonly requests: ReadonlyMap<number, number>;
  readonly eventReaders: number;
  readonly leases: number;
}

/**
 * All metrics of a server. Nothing is counted here: each scrape reads the server's own numbers.
 * docs/metrics.md lists every metric.
 */
export function createMetrics(input: MetricsInput): Scrape {
  const scrape = new Scrape(input.server);
  addProcessMetrics(scrape, input);
  addStreamMetrics(scrape);
  addLatencyMetrics(scrape);
  addPollMetrics(scrape);
  addNodeMetrics(scrape, input);
  addEventLoopMetrics(scrape);
  addConfigurationMetrics(scrape, input);
  addRolloutMetrics(scrape, input);
  addSourceMetrics(scrape, input);
  addStoreMetrics(scrape, input);
  addStateMetrics(scrape, input);
  addApiMetrics(scrape, input);
  addLoadMetrics(scrape);
  return scrape;
}

/** The build, and whether it is ready. */
function addProcessMetrics(scrape: Scrape, { name, version, readiness, troubles }: MetricsInput): void {
  const versions = ["version", "node_version"];
  scrape.gauge("xdskit_build_info", "1, with the versions as labels.", versions, () => [[version, process.version, 1]]);
  if (name !== undefined)
    scrape.gauge("xdskit_server_info", "1, with the name that --name gives; not there without one.", ["name"], () => [
      [name, 1],
    ]);
  scrape.gauge("xdskit_ready", "1 while the server has a configuration and is not stopping.", [], () => [
    [readiness() === "ready" ? 1 : 0],
  ]);
  const heap = "How large the heap may get before the process ends; compare nodejs_heap_size_used_bytes.";
  scrape.gauge("xdskit_heap_limit_bytes", heap, [], () => [[getHeapStatistics().heap_size_limit]]);
  const certificates =
    "Certificates of gRPC and REST that are expired or not readable (error), or soon to expire (warning).";
  scrape.gauge("xdskit_certificate_problems", certificates, ["severity"], () =>
    ["error", "warning"].map((severity): Row => {
      const found = troubles?.() ?? [];
      return [severity, found.filter((trouble) => trouble.severity === severity).length];
    }),
  );
  for (const [name, field, help] of [
    ["not_before", "notBefore", "From when on the server's certificate is valid; only with TLS."],
    ["not_after", "notAfter", "When it expires."],
  ] as const) {
    scrape.gauge(`xdskit_certificate_${name}_timestamp_seconds`, help, ["file"], () => {
      const { certificate } = scrape.stats;
      return certificate === undefined ? [] : [[certificate.file, certificate[field].getTime() / 1_000]];
    });
  }
}

/** Discovery streams, with their requests and responses. */
function addStreamMetrics(scrape: Scrape): void {
  const streams = (field: "open" | "behind" | "opened" | "requests" | "requestBytes") => () =>
    scrape.stats.streams.map((row): Row => [row.api, row.variant, row.service, row[field]]);
  const ofStreams = ["api", "variant", "service"];
  scrape.gauge("xdskit_streams_open", "Open discovery streams.", ofStreams, streams("open"));
  const behind = "Open streams whose client takes no more for the moment; it gets the newest state once it can read.";
  scrape.gauge("xdskit_streams_behind", behind, ofStreams, streams("behind"));
  scrape.counter("xdskit_streams_total", "Discovery streams that were opened.", ofStreams, streams("opened"));
  scrape.counter(
    "xdskit_requests_total",
    "Discovery requests received, acknowledgements included.",
    ofStreams,
    streams("requests"),
  );
  const bytes = "Their bytes.";
  scrape.counter("xdskit_request_bytes_total", bytes, ofStreams, streams("requestBytes"));
  for (const [name, help, field] of [
    ["responses", "Discovery responses sent.", "responses"],
    ["heartbeats", "Responses sent that only start TTLs anew; also counted as responses.", "heartbeats"],
    ["response_resources", "Resources in the responses sent.", "resources"],
    ["response_removals", "Removed names in the responses sent.", "removals"],
    ["response_bytes", "Bytes of the responses sent.", "responseBytes"],
    ["acks", "Responses that clients accepted (ACK).", "acknowledged"],
    ["nacks", "Responses that clients rejected (NACK).", "rejected"],
    ["rejected_versions", "First NACKs of a node for one version of a type: what the log shows.", "rejectedVersions"],
    ["stale_requests", "Requests with an outdated nonce, which were ignored.", "stale"],
  ] as const) {
    scrape.counter(`xdskit_${name}_total`, help, ["type", "variant"], () =>
      scrape.stats.types.map((row) => [row.type, row.variant, row[field]]),
    );
  }
  scrape.counter("xdskit_fetches_total", "Unary Fetch calls.", ["api", "type"], () =>
    scrape.stats.fetches.map(({ api, type, calls }) => [api, type, calls]),
  );
}

/** How long changes take, what of that is waiting, and how large responses are. */
function addLatencyMetrics(scrape: Scrape): void {
  scrape.histogram(
    "xdskit_publish_to_ack_seconds",
    "From the publication of a change to its ACK (see below).",
    ["type", "group"],
    1_000,
    () => scrape.stats.lags.map(({ type, group, ms }): HistogramRow => [type, group, ms]),
  );
  scrape.histogram(
    "xdskit_event_to_publish_seconds",
    "From the API server's event about an object to the publication of the change (see below).",
    ["source"],
    1_000,
    () => scrape.stats.sourceDelays.map(({ source, ms }): HistogramRow => [source, ms]),
  );
  scrape.histogram(
    "xdskit_stage_wait_seconds",
    "How long a type of a client waited until the client acknowledged others.",
    ["type"],
    1_000,
    () => scrape.stats.stageWaits.map(({ type, ms }): HistogramRow => [type, ms]),
  );
  scrape.histogram("xdskit_response_size_bytes", "Bytes of each response sent.", ["type", "variant"], 1, () =>
    scrape.stats.types.map(({ type, variant, responseSizes }): HistogramRow => [type, variant, responseSizes]),
  );
}

/** Polls over REST. */
function addPollMetrics(scrape: Scrape): void {
  const polls = (field: "parked" | "polls" | "requestBytes") => () =>
    scrape.stats.polls.map((row): Row => [row.api, row.type, row[field]]);
  const labels = ["api", "type"];
  scrape.gauge("xdskit_polls_parked", "Polls (REST) that wait for a change.", labels, polls("parked"));
  scrape.counter("xdskit_polls_total", "Polls (REST) received.", labels, polls("polls"));
  scrape.counter("xdskit_poll_bytes_total", "Bytes of the polls received.", labels, polls("requestBytes"));
  const withResult = [...labels, "result"];
  scrape.counter(
    "xdskit_poll_answers_total",
    "Polls answered with resources, which also count as sotw responses, or with not_modified.",
    withResult,
    () =>
      scrape.stats.polls.flatMap(({ api, type, answered, notModified }) => [
        [api, type, "resources", answered],
        [api, type, "not_modified", notModified],
      ]),
  );
  const notWhole =
    "Resources that the JSON of polls cannot show whole: incomplete (a part is only in base64), or left_out.";
  scrape.counter("xdskit_json_incomplete_total", notWhole, withResult, () =>
    scrape.stats.polls.flatMap(({ api, type, incomplete, leftOut }) => [
      [api, type, "incomplete", incomplete],
      [api, type, "left_out", leftOut],
    ]),
  );
  scrape.counter("xdskit_polls_refused_total", "Polls answered with an error, by HTTP status.", ["status"], () =>
    scrape.stats.pollsRefused.map(({ status, count }) => [String(status), count]),
  );
}

/** Refusals, and the nodes with their states. */
function addNodeMetrics(scrape: Scrape, { server }: MetricsInput): void {
  const callers = "Callers that identities refused, by the rule that matched (from 0), or none.";
  scrape.counter("xdskit_callers_refused_total", callers, ["rule"], () =>
    scrape.stats.callersRefused.map(({ rule, count }) => [rule === undefined ? "none" : `${rule}`, count]),
  );
  const shares = "How often an identity had its share of a limit: it was refused, or its request had to wait.";
  scrape.counter("xdskit_identity_limit_reached_total", shares, ["limit"], () =>
    scrape.stats.identityLimits.map(({ limit, count }) => [limit, count]),
  );
  scrape.counter(
    "xdskit_refused_total",
    "Streams and calls that the server ended with an error, by gRPC status code.",
    ["code"],
    () => scrape.stats.refused.map(({ code, count }) => [String(code), count]),
  );
  scrape.gauge("xdskit_nodes", "Node IDs with at least one open stream.", [], () => [[scrape.stats.nodes]]);
  scrape.gauge(
    "xdskit_nodes_by_state",
    "Nodes by state: synced, held-back, pending, stale or rejected.",
    ["state"],
    () => Object.entries(server.nodeStates()),
  );
  const waits = "Changes that went on without a client's answer, which did not come in time (ordering).";
  scrape.counter("xdskit_waits_ended_total", waits, [], () => [[scrape.stats.waitsEnded]]);
}

/** The event loop. */
function addEventLoopMetrics(scrape: Scrape): void {
  const seconds = (field: "blockedForMs" | "lastMinuteMs") => (): readonly Row[] => [
    [(scrape.stats.eventLoop?.[field] ?? 0) / 1000],
  ];
  const blocks =
    "How often the event loop was blocked for 50 ms or more, mostly by work or by gc. The log says what was done.";
  scrape.counter("xdskit_event_loop_blocks_total", blocks, ["cause"], () =>
    Object.entries(scrape.stats.eventLoop?.blocks ?? {}),
  );
  const blocked = "How long the event loop was blocked in total.";
  scrape.counter("xdskit_event_loop_blocked_seconds_total", blocked, [], seconds("blockedForMs"));
  const longest = "The longest block of the event loop in the last one or two minutes.";
  scrape.gauge("xdskit_event_loop_longest_seconds", longest, [], seconds("lastMinuteMs"));
}

/** Groups, their resources, and changes. */
function addConfigurationMetrics(scrape: Scrape, { server }: MetricsInput): void {
  scrape.gauge("xdskit_group_streams", "Open streams of a group's nodes.", ["group"], () =>
    scrape.stats.groups.map(({ name, streams }) => [name, streams]),
  );
  scrape.gauge("xdskit_resources", "Resources that a group's nodes are served.", ["group", "type"], () =>
    scrape.stats.groups.flatMap(({ name }) =>
      Array.from(server.snapshotOf(name)?.sets.values() ?? [], ({ type, size }): Row => [name, type.name, size]),
    ),
  );
  const updates = "Changes of the configuration that made a difference (ok), or were refused whole (rejected).";
  scrape.counter("xdskit_config_updates_total", updates, ["result"], () => [
    ["ok", scrape.stats.configuration.applied],
    ["rejected", scrape.stats.configuration.refused],
  ]);
}

/** Rollouts and quarantine. */
function addRolloutMetrics(scrape: Scrape, { server }: MetricsInput): void {
  const underWay = () => server.rollouts().filter(({ state }) => isRunning(state));
  scrape.gauge(
    "xdskit_rollout_nodes",
    "Nodes that a rollout under way reached, those of them that are pending or rejected it, and those held back.",
    ["group", "standing"],
    () =>
      underWay().flatMap(({ group, nodes }) =>
        (["reached", "pending", "rejected", "held"] as const).map(
          (standing): Row => [group, standing, nodes[standing]],
        ),
      ),
  );
  scrape.gauge(
    "xdskit_rollout_step",
    "The step of a rollout under way, from 1; it is waiting, soaking or halted.",
    ["group", "state"],
    () => underWay().map(({ group, state, step }) => [group, state, step]),
  );
  scrape.counter(
    "xdskit_rollouts_total",
    "Events of rollouts: started, advanced, halted, completed, rolled-back and so on.",
    ["outcome"],
    () => scrape.stats.views.rollouts.map(({ outcome, count }) => [outcome, count]),
  );
  const ofContents = ["group", "type", "cause"];
  scrape.gauge(
    "xdskit_quarantined_resources",
    "Contents in quarantine because they were rejected or rolled-back.",
    ofContents,
    () => server.quarantines().map(({ group, type, cause }) => [group, type, cause, 1]),
  );
  scrape.counter("xdskit_quarantines_total", "Contents of resources that were put in quarantine.", ["cause"], () =>
    scrape.stats.views.quarantined.map(({ cause, count }) => [cause, count]),
  );
}

/** Sources of resources. */
function addSourceMetrics(scrape: Scrape, { sources }: MetricsInput): void {
  scrape.gauge(
    "xdskit_source_findings",
    "What the last reading of a source found; of a relay: what is wrong at present.",
    ["source", "severity"],
    () =>
      sources().flatMap(({ name, findings }) =>
        ["error", "warning"].map(
          (severity): Row => [name, severity, findings.filter((finding) => finding.severity === severity).length],
        ),
      ),
  );
  scrape.gauge(
    "xdskit_skipped_resources",
    "With on_invalid: skip, resources with errors whose last_good content stays, or that have none and are not served.",
    ["source", "content"],
    () =>
      sources().flatMap(({ name, skipped }): readonly Row[] =>
        skipped
          ? [
              [name, "last_good", skipped.lastGood],
              [name, "none", skipped.absent],
            ]
          : [],
      ),
  );
  const away = "1 while what is served may be old: the API server of Kubernetes, or a relay's origin, is away.";
  scrape.gauge("xdskit_source_away", away, ["source"], () =>
    sources().map(({ name, state }) => [name, state === "away" || state === "cached" ? 1 : 0]),
  );
  const help = "1 while the last good revision is served, since a start with errors.";
  scrape.gauge("xdskit_source_restored", help, ["source"], () =>
    sources().map(({ name, restored }) => [name, restored == null ? 0 : 1]),
  );
  const rolledBackHelp = "1 while an older revision of a layer is served after a rollback.";
  scrape.gauge("xdskit_source_rolled_back", rolledBackHelp, ["source"], () =>
    sources().map(({ name, rolledBack }) => [name, rolledBack == null ? 0 : 1]),
  );
  scrape.gauge("xdskit_source_applied_timestamp_seconds", "When a source was last read and applied.", ["source"], () =>
    sources().flatMap(({ name, lastApplied }): readonly Row[] =>
      lastApplied === null ? [] : [[name, Date.parse(lastApplied) / 1000]],
    ),
  );
}

/** The store of revisions. */
function addStoreMetrics(scrape: Scrape, { store }: MetricsInput): void {
  const one = (name: string, help: string, read: (numbers: StoreNumbers) => number | undefined) =>
    scrape.gauge(`xdskit_store_${name}`, help, [], () => {
      const value = store && read(store());
      return value === undefined ? [] : [[value]];
    });
  const away = "1 while the store cannot be read: what is served stays as it is.";
  one("away", away, ({ isAway }) => (isAway ? 1 : 0));
  const unwritable = "1 from a commit that failed until one succeeds.";
  one("write_failing", unwritable, ({ failing }) => (failing === undefined ? 0 : 1));
  const committed = "When this server last committed a revision.";
  one("last_commit_timestamp_seconds", committed, ({ lastCommit }) => lastCommit && lastCommit / 1_000);
  const commits =
    "Commits of this server. Cause: files, api, rollback, lease-ended or source; result: committed, conflict (another writer was sooner, and it is tried again) or failed.";
  scrape.counter("xdskit_store_commits_total", commits, ["cause", "result"], () =>
    (store?.().commits ?? []).map(({ cause, result, count }) => [cause, result, count]),
  );
  scrape.gauge(
    "xdskit_store_revision",
    "The number of the newest revision of a layer, whoever made it.",
    ["layer"],
    () => (store?.().revisions ?? []).map(({ layer, number }) => [layer, number]),
  );
}

/** The state. */
function addStateMetrics(scrape: Scrape, { isStateWhole = true }: MetricsInput): void {
  const help = "1 if, since the start, the state lacks what it had before, or cannot be written.";
  scrape.gauge("xdskit_state_degraded", help, [], () => [[isStateWhole ? 0 : 1]]);
}

/** The HTTP API. */
function addApiMetrics(scrape: Scrape, { api }: MetricsInput): void {
  scrape.counter("xdskit_api_requests_total", "Requests that the API answered, by HTTP status.", ["status"], () =>
    Array.from(api?.().requests ?? [], ([status, count]) => [`${status}`, count]),
  );
  scrape.gauge("xdskit_api_event_readers", "Readers of the API's events.", [], () => [[api?.().eventReaders ?? 0]]);
  scrape.gauge("xdskit_leases", "Leases of resources that the API wrote.", [], () => [[api?.().leases ?? 0]]);
}

function isRunning(state: RolloutState): boolean {
  return state === "waiting" || state === "soaking" || state === "halted";
}
