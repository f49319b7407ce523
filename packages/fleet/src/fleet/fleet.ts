import { deferred } from "@xdskit/api";
import { createConnecting } from "@xdskit/client/connecting";
import { type Address, formatAddress } from "@xdskit/server/address";
import { CrowdClient } from "../crowd/crowd-client.js";
import { type CrowdInterest, SharedState } from "../crowd/shared-state.js";
import { Tally, Times } from "../figures/tally.js";
import { BenchNode, type NodeContext } from "./bench-node.js";
import { Carrier } from "./carrier.js";
import type { BenchTarget } from "./connection.js";
import type { FleetOptions } from "./fleet-options.js";
import { groupOf, nodeBytes } from "./node-templates.js";

/** How many connections are dialled at the same time without a ramp. */
const maxDialling = 64;
/** The time between steps of a ramp, in milliseconds. */
const rampStepMs = 20;

/**
 * The nodes, their connections and their figures. Builds the fleet; connects nothing yet. Throws an XdskitError
 * (XDSKIT_CREDENTIALS) for invalid credentials.
 */
export class Fleet {
  readonly #options: FleetOptions;
  readonly tally = new Tally();
  readonly times = new Times();
  #startedAt = performance.now();
  #complete = 0;
  readonly #all = deferred();
  /** Resolves once all nodes did. */
  readonly allComplete = this.#all.promise;
  readonly #targets: readonly BenchTarget[];
  readonly #stalling: ReadonlySet<number>;
  readonly carriers: Carrier[] = [];
  readonly nodes: BenchNode[] = [];
  #dialled = 0;
  #ramp: NodeJS.Timeout | undefined;
  #turn = 0;

  constructor(options: FleetOptions, interests: readonly CrowdInterest[]) {
    const { nodes: count, nodesPerConnection, variant, ads } = options;
    this.#options = options;
    this.#stalling = new Set(chosen(count, options.stall, 0));
    const rejecting = new Set(chosen(count, options.reject, 1));
    const shared = new SharedState({ variant, aggregated: ads, interests });
    this.#targets = options.servers.map((address) => targetOf(address, options));
    for (let first = 0; first < count; first += nodesPerConnection) {
      const context = this.#contextOf(this.carriers.length);
      const nodes: BenchNode[] = [];
      for (let number = first; number < Math.min(count, first + nodesPerConnection); number++) {
        const client = new CrowdClient(shared, nodeBytes(number, options), groupOf(number, options));
        const role = { number, rejects: rejecting.has(number), stalls: this.#stalling.has(number) };
        nodes.push(new BenchNode(role, client, context));
      }
      this.nodes.push(...nodes);
      this.#addCarrier(nodes);
    }
  }

  /** `position`: the position of the connection that carries the nodes. */
  #contextOf(position: number): NodeContext {
    return {
      tally: this.tally,
      times: this.times,
      completed: () => {
        this.#complete++;
        if (this.#complete === this.#options.nodes) this.#all.resolve();
      },
      startedAt: () => this.#startedAt,
      now: () => performance.now(),
      retry: (again, wasAnswered) => this.carriers[position]?.retry(again, wasAnswered),
    };
  }

  #addCarrier(nodes: readonly BenchNode[]): void {
    const target = this.#targets[this.carriers.length % this.#targets.length];
    if (target === undefined) throw new Error("there is no server");
    const hasStalling = nodes.some(({ role }) => role.stalls);
    const events = { tally: this.tally, tried: () => this.#dialNext() };
    this.carriers.push(new Carrier(target, nodes, hasStalling, events));
  }

  #dialNext() {
    if (this.#ramp === undefined) this.carriers[this.#dialled++]?.dial();
  }

  /** When the first connection was started, by `performance.now()`; before that, when the fleet was built. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** How many nodes had everything once. */
  get complete(): number {
    return this.#complete;
  }

  /**
   * Reads the credential files once; they may be rotated later. Rejects with an XdskitError (XDSKIT_CREDENTIALS_FILE).
   */
  async check(): Promise<void> {
    for (const { connecting } of this.#targets) await Promise.all([connecting.tls(), connecting.headers()]);
  }

  /** Starts to connect. */
  start(): void {
    // Not earlier: building a large fleet takes a while.
    this.#startedAt = performance.now();
    const { ramp: perSecond } = this.#options;
    if (perSecond === undefined) {
      for (let index = 0; index < maxDialling; index++) this.#dialNext();
      return;
    }
    this.#ramp = setInterval(() => {
      const due = Math.ceil(((performance.now() - this.#startedAt) / 1_000) * perSecond);
      while (this.#dialled < Math.min(due, this.carriers.length)) this.carriers[this.#dialled++]?.dial();
      if (this.#dialled >= this.carriers.length) clearInterval(this.#ramp);
    }, rampStepMs);
  }

  /**
   * Closes connections of at least this many nodes, in turn, which then reconnect. Returns the number of nodes: fewer
   * if too few are connected.
   */
  churn(nodes: number): number {
    const tries = this.carriers.length;
    let left = nodes;
    for (let tried = 0; tried < tries && left > 0; tried++) {
      const carrier = this.carriers[this.#turn++ % this.carriers.length];
      if (carrier === undefined || !carrier.isUp) continue;
      carrier.cut();
      left -= carrier.nodes.length;
    }
    return nodes - left;
  }

  /** The stalling share of nodes stops or resumes reading; returns the number of nodes. */
  stall(isReading: boolean): number {
    for (const number of this.#stalling) this.nodes[number]?.reading(isReading);
    return this.#stalling.size;
  }

  close(): void {
    clearInterval(this.#ramp);
    for (const carrier of this.carriers) carrier.close();
  }
}

/**
 * Spreads the choice evenly over the numbers, so that connections and groups have their share; `offset` keeps two
 * choices apart.
 */
function chosen(count: number, share: number, offset: number): readonly number[] {
  const many = share === 0 ? 0 : Math.max(1, Math.round(share * count));
  // Each stretch starts one further: with a fixed step, all chosen nodes could be of the same group.
  const stretch = Math.floor(count / many);
  return Array.from({ length: many }, (_, index) => Math.floor((index * count) / many) + ((offset + index) % stretch));
}

function targetOf(address: Address, { tls, tokenFile, userAgent }: FleetOptions): BenchTarget {
  const connecting = createConnecting({
    kind: "grpc",
    address: formatAddress(address),
    tls,
    tokenFile,
  });
  return { address, connecting, userAgent };
}
