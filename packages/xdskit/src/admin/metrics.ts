import type { LoadTotals, RolloutState, ServerStats, XdsServer } from "@xdskit/server";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { version } from "../process/version.js";
import type { Readiness } from "./admin-state.js";
import type { AnySourceStatus } from "./source-status.js";

/** The numbers are read from here at every scrape. */
export interface MetricsInput {
  readonly server: Pick<XdsServer, "stats" | "snapshotOf" | "loadTotals" | "rollouts" | "quarantines" | "nodeStates">;
  readiness(): Readiness;
  sources(): readonly AnySourceStatus[];
}

type Labels = Readonly<Record<string, string>>;
interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** The metrics, in Prometheus' text format. */
export interface Metrics {
  read(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/**
 * All metrics of the command. Nothing is counted here: each scrape reads the server's own numbers.
 * docs/metrics.md lists every metric.
 */
export function createMetrics(input: MetricsInput): Metrics {
  const scrape = new Scrape(input.server);
  addProcessMetrics(scrape, input);
  addStreamMetrics(scrape);
  addPollMetrics(scrape);
  addNodeMetrics(scrape, input);
  addThreadMetrics(scrape);
  addConfigurationMetrics(scrape, input);
  addRolloutMetrics(scrape, input);
  addSourceMetrics(scrape, input);
  addLoadMetrics(scrape);
  return { read: () => scrape.read() };
}

/** The registry, and the numbers of one scrape: all of them are of the same moment. */
class Scrape {
  readonly #server: MetricsInput["server"];
  readonly #registry = new Registry();
  stats: ServerStats;
  loads: LoadTotals;

  constructor(server: MetricsInput["server"]) {
    this.#server = server;
    this.stats = server.stats();
    this.loads = server.loadTotals();
    collectDefaultMetrics({ register: this.#registry });
    countCpuSoFar(this.#registry);
  }

  counter(name: string, help: string, labelNames: readonly string[], read: () => readonly Sample[]): void {
    new Counter({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { labels, value } of read()) this.inc(labels, value);
      },
    });
  }

  gauge(name: string, help: string, labelNames: readonly string[], read: () => readonly Sample[]): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { labels, value } of read()) this.set(labels, value);
      },
    });
  }

  async read(): Promise<{ readonly contentType: string; readonly text: string }> {
    this.stats = this.#server.stats();
    this.loads = this.#server.loadTotals();
    return { contentType: this.#registry.contentType, text: measuredOnly(await this.#registry.metrics()) };
  }
}

/** The build, and whether it is ready. */
function addProcessMetrics(scrape: Scrape, { readiness }: MetricsInput): void {
  scrape.gauge("xdskit_build_info", "1, with the versions as labels.", ["version", "node_version"], () => [
    { labels: { version, node_version: process.version }, value: 1 },
  ]);
  scrape.gauge("xdskit_ready", "1 while the server has a configuration and is not stopping.", [], () => [
    { labels: {}, value: readiness() === "ready" ? 1 : 0 },
  ]);
}

/** Discovery streams and what went over them. */
function addStreamMetrics(scrape: Scrape): void {
  for (const [name, help, field] of [
    ["xdskit_streams_open", "Open discovery streams.", "open"],
    ["xdskit_streams_behind", "Open streams whose client takes no more for the moment.", "behind"],
  ] as const) {
    scrape.gauge(name, help, streamLabels, () => streams(scrape, field));
  }
  for (const [name, help, field] of [
    ["xdskit_streams_total", "Discovery streams that were opened.", "opened"],
    ["xdskit_requests_total", "Discovery requests received.", "requests"],
    ["xdskit_request_bytes_total", "Bytes of discovery requests received.", "requestBytes"],
  ] as const) {
    scrape.counter(name, help, streamLabels, () => streams(scrape, field));
  }
  for (const [name, help, field] of [
    ["xdskit_responses_total", "Discovery responses sent.", "responses"],
    ["xdskit_heartbeats_total", "Responses sent that only start TTLs anew.", "heartbeats"],
    ["xdskit_response_resources_total", "Resources in the responses sent.", "resources"],
    ["xdskit_response_removals_total", "Removed names in the responses sent.", "removals"],
    ["xdskit_response_bytes_total", "Bytes of the responses sent.", "responseBytes"],
    ["xdskit_acks_total", "Responses that clients accepted (ACK).", "acknowledged"],
    ["xdskit_nacks_total", "Responses that clients rejected (NACK).", "rejected"],
    ["xdskit_rejected_versions_total", "First NACKs of a node for one version of a type.", "rejectedVersions"],
    ["xdskit_stale_requests_total", "Requests with an outdated nonce, which were ignored.", "stale"],
  ] as const) {
    scrape.counter(name, help, ["type", "variant"], () =>
      scrape.stats.types.map((row) => ({ labels: { type: row.type, variant: row.variant }, value: row[field] })),
    );
  }
  scrape.counter("xdskit_fetches_total", "Unary Fetch calls.", ["api", "type"], () =>
    scrape.stats.fetches.map(({ api, type, calls }) => ({ labels: { api, type }, value: calls })),
  );
}

/** Polls over REST. */
function addPollMetrics(scrape: Scrape): void {
  const polls = (field: "held" | "polls" | "requestBytes"): readonly Sample[] =>
    scrape.stats.polls.map((row) => ({ labels: { api: row.api, type: row.type }, value: row[field] }));
  scrape.gauge("xdskit_polls_held", "Polls (REST) that wait for a change.", ["api", "type"], () => polls("held"));
  scrape.counter("xdskit_polls_total", "Polls (REST) received.", ["api", "type"], () => polls("polls"));
  scrape.counter("xdskit_poll_bytes_total", "Bytes of the polls received.", ["api", "type"], () =>
    polls("requestBytes"),
  );
  scrape.counter("xdskit_poll_answers_total", "Polls answered without an error.", ["api", "type", "result"], () =>
    scrape.stats.polls.flatMap(({ api, type, answered, notModified }) => [
      { labels: { api, type, result: "resources" }, value: answered },
      { labels: { api, type, result: "not_modified" }, value: notModified },
    ]),
  );
  const inJson = ["api", "type", "result"];
  scrape.counter(
    "xdskit_json_incomplete_total",
    "Resources that the JSON of polls (REST) cannot show whole.",
    inJson,
    () =>
      scrape.stats.polls.flatMap(({ api, type, incomplete, leftOut }) => [
        { labels: { api, type, result: "incomplete" }, value: incomplete },
        { labels: { api, type, result: "left_out" }, value: leftOut },
      ]),
  );
  scrape.counter("xdskit_polls_refused_total", "Polls that were answered with an error.", ["status"], () =>
    scrape.stats.pollsRefused.map(({ status, count }) => ({ labels: { status: String(status) }, value: count })),
  );
}

/** Refusals, and the nodes with their states. */
function addNodeMetrics(scrape: Scrape, { server }: MetricsInput): void {
  scrape.counter("xdskit_refused_total", "Streams and calls that the server ended with an error.", ["code"], () =>
    scrape.stats.refused.map(({ code, count }) => ({ labels: { code: String(code) }, value: count })),
  );
  scrape.gauge("xdskit_nodes", "Node IDs with at least one open stream.", [], () => [
    { labels: {}, value: scrape.stats.nodes },
  ]);
  scrape.gauge("xdskit_nodes_by_state", "Nodes by state: synced, pending, stale or rejected.", ["state"], () =>
    Object.entries(server.nodeStates()).map(([state, value]) => ({ labels: { state }, value })),
  );
  scrape.counter(
    "xdskit_waits_ended_total",
    "Changes that went on without a client's answer, since it did not come in time.",
    [],
    () => [{ labels: {}, value: scrape.stats.waitsEnded }],
  );
}

/** The event loop and the workers. */
function addThreadMetrics(scrape: Scrape): void {
  scrape.counter(
    "xdskit_event_loop_blocks_total",
    "How often the event loop was blocked for 50 ms or more, by the main cause.",
    ["cause"],
    () => Object.entries(scrape.stats.eventLoop?.blocks ?? {}).map(([cause, value]) => ({ labels: { cause }, value })),
  );
  scrape.counter("xdskit_event_loop_blocked_seconds_total", "How long the event loop was blocked in total.", [], () => [
    { labels: {}, value: (scrape.stats.eventLoop?.blockedForMs ?? 0) / 1000 },
  ]);
  scrape.gauge(
    "xdskit_event_loop_longest_seconds",
    "The longest block of the event loop in the last one or two minutes.",
    [],
    () => [{ labels: {}, value: (scrape.stats.eventLoop?.lastMinuteMs ?? 0) / 1000 }],
  );
  scrape.gauge("xdskit_workers_up", "Workers that serve, if there are several.", [], () =>
    scrape.stats.workers.length === 0
      ? []
      : [{ labels: {}, value: scrape.stats.workers.filter(({ isUp }) => isUp).length }],
  );
  scrape.gauge("xdskit_worker_streams", "Open streams of each worker.", ["worker"], () =>
    scrape.stats.workers.map(({ worker, streams: value }) => ({ labels: { worker: String(worker) }, value })),
  );
  scrape.counter(
    "xdskit_worker_restarts_total",
    "How often a worker ended by a fault and was restarted.",
    ["worker"],
    () => scrape.stats.workers.map(({ worker, restarts: value }) => ({ labels: { worker: String(worker) }, value })),
  );
}

/** Groups, what they are served, and changes of it. */
function addConfigurationMetrics(scrape: Scrape, { server }: MetricsInput): void {
  scrape.gauge("xdskit_group_streams", "Open streams of a group's nodes.", ["group"], () =>
    scrape.stats.groups.map(({ name, streams: value }) => ({ labels: { group: name }, value })),
  );
  scrape.gauge("xdskit_resources", "Resources that a group's nodes are served.", ["group", "type"], () =>
    scrape.stats.groups.flatMap(({ name: group }) =>
      Array.from(server.snapshotOf(group)?.sets.values() ?? [], ({ type, size }) => ({
        labels: { group, type: type.name },
        value: size,
      })),
    ),
  );
  scrape.counter(
    "xdskit_config_updates_total",
    "Changes of the configuration: applied (ok), or refused whole (rejected).",
    ["result"],
    () => {
      const { applied, refused } = scrape.stats.configuration;
      return [
        { labels: { result: "ok" }, value: applied },
        { labels: { result: "rejected" }, value: refused },
      ];
    },
  );
}

/** Rollouts and quarantine. */
function addRolloutMetrics(scrape: Scrape, { server }: MetricsInput): void {
  scrape.gauge(
    "xdskit_rollout_nodes",
    "Nodes of a rollout: reached, pending, rejected or held.",
    ["group", "standing"],
    () =>
      server.rollouts().flatMap(({ group, state, nodes }) =>
        isUnderWay(state)
          ? (["reached", "pending", "rejected", "held"] as const).map((standing) => ({
              labels: { group, standing },
              value: nodes[standing],
            }))
          : [],
      ),
  );
  scrape.gauge("xdskit_rollout_step", "The current step of a rollout, from 1.", ["group", "state"], () =>
    server
      .rollouts()
      .filter(({ state }) => isUnderWay(state))
      .map(({ group, state, step }) => ({ labels: { group, state }, value: step })),
  );
  scrape.counter("xdskit_rollouts_total", "Events of rollouts.", ["outcome"], () =>
    scrape.stats.views.rollouts.map(({ outcome, count }) => ({ labels: { outcome }, value: count })),
  );
  scrape.gauge(
    "xdskit_quarantined_resources",
    "Contents of resources in quarantine.",
    ["group", "type", "cause"],
    () => {
      const counts = new Map<string, { readonly labels: Labels; value: number }>();
      for (const { group, type, cause } of server.quarantines()) {
        const key = JSON.stringify([group, type, cause]);
        const count = counts.get(key) ?? { labels: { group, type, cause }, value: 0 };
        count.value += 1;
        counts.set(key, count);
      }
      return [...counts.values()];
    },
  );
  scrape.counter("xdskit_quarantines_total", "Contents of resources that were put in quarantine.", ["cause"], () =>
    scrape.stats.views.quarantined.map(({ cause, count }) => ({ labels: { cause }, value: count })),
  );
}

/** Sources of resources. */
function addSourceMetrics(scrape: Scrape, { sources }: MetricsInput): void {
  scrape.gauge("xdskit_source_findings", "Findings of a source's last reading.", ["source", "severity"], () =>
    sources().flatMap(({ name: source, findings }) =>
      (["error", "warning"] as const).map((severity) => ({
        labels: { source, severity },
        value: findings.filter((finding) => finding.severity === severity).length,
      })),
    ),
  );
  scrape.gauge("xdskit_skipped_resources", "Resources that are skipped because of errors.", ["source", "content"], () =>
    sources().flatMap(({ name: source, skipped }) =>
      skipped
        ? [
            { labels: { source, content: "last_good" }, value: skipped.lastGood },
            { labels: { source, content: "none" }, value: skipped.absent },
          ]
        : [],
    ),
  );
  const help = "1 while the last good revision is served after a start with errors.";
  scrape.gauge("xdskit_source_restored", help, ["source"], () =>
    sources().map(({ name: source, restored }) => ({ labels: { source }, value: restored == null ? 0 : 1 })),
  );
  scrape.gauge("xdskit_source_applied_timestamp_seconds", "When a source was last read and applied.", ["source"], () =>
    sources().flatMap(({ name: source, lastApplied }) =>
      lastApplied === null ? [] : [{ labels: { source }, value: Date.parse(lastApplied) / 1000 }],
    ),
  );
}

/** Load reports (LRS). */
function addLoadMetrics(scrape: Scrape): void {
  scrape.gauge("xdskit_load_report_streams_open", "Open streams of load reports (LRS).", ["api"], () =>
    scrape.loads.streams.map(({ api, open }) => ({ labels: { api }, value: open })),
  );
  scrape.counter("xdskit_load_reports_total", "Load reports received.", ["api"], () =>
    scrape.loads.streams.map(({ api, reports }) => ({ labels: { api }, value: reports })),
  );
  scrape.gauge("xdskit_load_report_nodes", "Nodes whose load report is kept.", [], () => [
    { labels: {}, value: scrape.loads.nodes },
  ]);
  const localityLabels = ["cluster", "region", "zone", "sub_zone"] as const;
  const localities = (field: "successful" | "errors" | "issued" | "inProgress", more: Labels = {}) =>
    scrape.loads.localities.map(({ cluster, locality: { region, zone, subZone }, [field]: value }) => ({
      labels: { cluster, region, zone, sub_zone: subZone, ...more },
      value,
    }));
  scrape.counter(
    "xdskit_load_requests_total",
    "Requests that ended, as clients reported them.",
    [...localityLabels, "result"],
    () => [...localities("successful", { result: "success" }), ...localities("errors", { result: "error" })],
  );
  scrape.counter(
    "xdskit_load_requests_issued_total",
    "Requests that began, as clients reported them.",
    localityLabels,
    () => localities("issued"),
  );
  scrape.gauge(
    "xdskit_load_requests_in_progress",
    "Requests in progress, as clients last reported.",
    localityLabels,
    () => localities("inProgress"),
  );
  scrape.counter(
    "xdskit_load_drops_total",
    "Requests that clients dropped on purpose, as they reported them.",
    ["cluster", "category"],
    () => scrape.loads.drops.map(({ cluster, category, count }) => ({ labels: { cluster, category }, value: count })),
  );
}

function streams(
  { stats }: Scrape,
  field: "open" | "behind" | "opened" | "requests" | "requestBytes",
): readonly Sample[] {
  return stats.streams.map((row) => ({
    labels: { api: row.api, variant: row.variant, service: row.service },
    value: row[field],
  }));
}

/** The library counts from the moment when it is loaded, which is the first scrape. */
function countCpuSoFar(registry: Registry): void {
  const { user, system } = process.cpuUsage();
  for (const [name, microseconds] of [
    ["process_cpu_user_seconds_total", user],
    ["process_cpu_system_seconds_total", system],
    ["process_cpu_seconds_total", user + system],
  ] as const) {
    const metric = registry.getSingleMetric(name);
    if (metric instanceof Counter) metric.inc(microseconds / 1e6);
  }
}

/**
 * The library measures the lag of the event loop from one scrape to the next. Without a measurement, as at the first
 * scrape, it reports NaN and the largest number. Such values are left out.
 */
function measuredOnly(text: string): string {
  const [, least] = /^nodejs_eventloop_lag_min_seconds (.*)$/m.exec(text) ?? [];
  return Number(least) < longestLag ? text : text.replace(/^nodejs_eventloop_lag_\w+_seconds .*\n/gm, "");
}

/** In seconds: a real lag is never this long. */
const longestLag = 1e6;

function isUnderWay(state: RolloutState): boolean {
  return state === "waiting" || state === "soaking" || state === "halted";
}

const streamLabels = ["api", "variant", "service"] as const;
