import { type Log, logFinding } from "@xdskit/admin/log";
import type { Finding, Registry } from "@xdskit/api";
import type { GroupRelay } from "@xdskit/relay";
import { type AheadFile, KeptSource, type Revision, type RolledBack, type Store, type XdsServer } from "@xdskit/server";
import type { KeptHistory } from "../daemon/revisions/retention.js";
import type { UpstreamStatus } from "./upstream-status.js";

interface KeptUpstreamOptions {
  readonly server: XdsServer;
  readonly store: Store;
  readonly ahead: AheadFile | undefined;
  readonly history: Pick<KeptHistory, "now">;
  readonly registry: Registry;
  readonly log: Log;
  /** A new revision is in the store. */
  readonly onRevision: (revision: Revision) => void;
}

/** Keeps what an origin gives a group, so that one can look back at it and roll it back. */
export class KeptUpstream {
  readonly source: KeptSource;
  readonly #relayed: GroupRelay;
  readonly #log: Log;
  #rolledBack: UpstreamStatus["rolledBack"] = null;
  #problems: readonly Finding[] = [];

  constructor(relayed: GroupRelay, { server, store, ahead, history, registry, log, onRevision }: KeptUpstreamOptions) {
    this.#relayed = relayed;
    this.#log = log;
    const { source, layer } = relayed;
    this.source = new KeptSource({
      source,
      store,
      ahead,
      registry,
      types: server.types,
      layers: [layer],
      retention: history.now,
      onRevision,
      // While the origin is away, its cache is served, which has what clients ask for by name, too.
      restores: false,
      check: server.checkChange,
      describe: () => {
        if (!relayed.isKnown) return undefined;
        return {
          author: originOf(relayed),
          cause: { kind: "source", source: source.name },
          message: "",
          time: Date.now(),
        };
      },
      onRolledBack: (layers) => this.#rolledBackNow(layers),
      onProblem: (findings) => {
        this.#problems = findings.slice(0, 1).map((finding) => ({ ...finding, severity: "warning" }));
        for (const finding of this.#problems) logFinding(log, finding);
      },
    });
  }

  /** The older revision that is served until the origin changes something. */
  get rolledBack(): UpstreamStatus["rolledBack"] {
    return this.#rolledBack;
  }

  /** Why the newest revision is not kept. */
  get problems(): readonly Finding[] {
    return this.#problems;
  }

  #rolledBackNow([rolledBack]: readonly RolledBack[]): void {
    const { layer } = this.#relayed;
    this.#relayed.rolledBack(rolledBack !== undefined);
    if (rolledBack === undefined) {
      this.#rolledBack = null;
      this.#log.info("rollback-over", { layer }, "the origin has changed something: what it has now is served again");
      return;
    }
    const { revision, to, time } = rolledBack;
    this.#rolledBack = { revision, to, layer, time: new Date(time).toISOString() };
    const text = "what the origin gave is rolled back: an older revision is served until the origin changes something";
    this.#log.warn("rolled-back", { ...this.#rolledBack }, text);
  }
}

/** The server that the resources come from, or would come from. */
function originOf({ client }: GroupRelay): string {
  const servers = client.status();
  const { server = "the origin" } = servers.find(({ active }) => active) ?? servers[0] ?? {};
  return server;
}
