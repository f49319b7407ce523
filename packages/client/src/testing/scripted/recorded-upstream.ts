import { describe, envoyRegistry, type ResourceType, resourceTypes, systemClock, validateMessage } from "@xdskit/api";
import type { CheckMessage, ResourceUpdate } from "@xdskit/protocol";
import type { Upstream, UpstreamContext, UpstreamSink } from "../../upstreams/contract/upstream.js";

/** A type by its name. */
export function typeNamed(name: string): ResourceType {
  const type = resourceTypes.find(name);
  if (type === undefined) throw new Error(`no type ${name}`);
  return type;
}

/** The rules in the protos. */
export const checkRules: CheckMessage = (_, __, message) => validateMessage(message);

/** The default context of upstreams in tests: fast, and without random numbers. */
export function testContext(changes: Partial<UpstreamContext> = {}): UpstreamContext {
  return {
    node: new Uint8Array([0x0a, 2, 0x6e, 0x31]),
    nodeOn: "first",
    types: resourceTypes,
    registry: envoyRegistry(),
    check: checkRules,
    rules: true,
    limits: {
      responseBytes: 1 << 20,
      resourcesPerResponse: 1_000,
      resourcesPerType: 1_000,
      retainedBytes: 10_000_000,
      watcherMs: 30_000,
    },
    absentAfterMs: 15_000,
    backoff: { firstMs: 20, factor: 1.6, maxMs: 200, jitter: 0 },
    clock: systemClock,
    random: () => 0.5,
    ...changes,
  };
}

/** An upstream under test, and its reports, a line each, oldest first. */
export interface RecordedUpstream {
  readonly upstream: Upstream;
  readonly lines: string[];
  readonly updates: readonly ResourceUpdate[];
}

/** Makes an upstream whose sink writes down each report. */
export function recordUpstream(
  make: (context: UpstreamContext, sink: UpstreamSink) => Upstream,
  context: Partial<UpstreamContext> = {},
  more: Partial<Pick<UpstreamSink, "update" | "acknowledge">> = {},
): RecordedUpstream {
  const lines: string[] = [];
  const updates: ResourceUpdate[] = [];
  const sink: UpstreamSink = {
    attempting: () => {},
    connected: (type) => lines.push(`connected ${type?.name}`),
    disconnected: (type, error) => lines.push(`disconnected ${type?.name} ${error?.message ?? ""}`.trim()),
    failed: (type, error, nack) => {
      const all = error.findings.map(describe).join(" | ");
      lines.push(`failed ${type?.name}${nack ? " nack" : ""}: ${all}`);
    },
    responded: () => {},
    rejected: (type, version, message) => lines.push(`rejected ${type.name} ${version}: ${message}`),
    acknowledge: more.acknowledge,
    update(update) {
      updates.push(update);
      const upserted = update.upserted.map(({ name, version }) => `+${name}@${version}`);
      const removed = update.removed.map(({ name, reason }) => `-${name}${reason === "ttl" ? "(ttl)" : ""}`);
      const absent = update.absent.map(({ name, reason }) => `!${name}(${reason})`);
      lines.push([...upserted, ...removed, ...absent].join(" "));
      return more.update?.(update);
    },
  };
  return {
    upstream: make(testContext(context), sink),
    lines,
    updates,
  };
}
