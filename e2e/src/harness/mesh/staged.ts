import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { ResourceText } from "../basics/config-folder.js";
import { cluster, configSource } from "../basics/resources.js";
import { eventually } from "../basics/wait.js";
import type { MeshServer } from "./mesh-server.js";
import { brokenRollouts, brokenSteps, type Plan, type StepRecord } from "./rollout-checker.js";
import { type StagedNodes, stagedCluster } from "./staged-nodes.js";
import type { Writer } from "./writer.js";

/** The group of the nodes that rollouts reach step by step, and the layer that brings them the changes. */
export const stagedGroup = "staged";
export const stagedLayer = "steps";
const idPrefix = "staged-node-";

/** One node, four nodes, all. */
export const plan: Plan = { counts: [1, 4], soakMs: 1_500 };

/** The settings of servers with that group, beside one for all other nodes. The folders have the groups' names. */
export const stagedSettings = `
groups:
  - name: ${stagedGroup}
    match: { id: "${idPrefix}*" }
    folders: [${stagedGroup}]
    rollout: { steps: [{ count: 1 }, { count: 4 }, { percent: 100 }], soak: ${plan.soakMs}ms }
  - { name: mesh, match: {}, folders: [mesh] }
layers:
  - { name: ${stagedLayer}, groups: [${stagedGroup}] }
  - { name: api, groups: [mesh] }
`;

export const stagedIds = (count: number) => Array.from({ length: count }, (_, index) => `${idPrefix}${index}`);

/** The cluster whose contents are numbered. */
export function stagedContent(content: number): ResourceText {
  const source = configSource("ads-sotw");
  return cluster({ name: stagedCluster, source, serviceName: "nowhere", connectTimeout: `${content}s` });
}

interface ShownRollout {
  readonly group: string;
  readonly id: number;
  readonly state: string;
}

/** Brings one change after the other to some nodes by a rollout each. */
export class Rollouts {
  readonly nodes: StagedNodes;
  readonly #writer: Writer;
  readonly #servers: readonly MeshServer[];
  /** Nodes begin with the content 1 of the folder. */
  #content = 1;
  #lastId = 0;

  constructor(nodes: StagedNodes, writer: Writer, servers: readonly MeshServer[]) {
    this.nodes = nodes;
    this.#writer = writer;
    this.#servers = servers;
  }

  /** How many were completed. */
  get completed(): number {
    return this.#content - 1;
  }

  /** Resolves once all have the content of the last one. */
  async areDone(): Promise<void> {
    await eventually(`all ${this.nodes.size} have content ${this.#content}`, () => this.#allHave(), {
      withinMs: 60_000,
    });
  }

  /** Makes a change, and resolves once all nodes have it. */
  async next(): Promise<void> {
    this.#content += 1;
    await this.#writer.write({ upsert: [stagedContent(this.#content)], message: `content ${this.#content}` });
    await eventually(
      `rollout of content ${this.#content}`,
      async () => {
        if (this.#allHave() && (await this.#isCompleted())) return true;
        throw new Error(`${this.nodes.having(this.#content)} of ${this.nodes.size} have it`);
      },
      { withinMs: 300_000, everyMs: 100 },
    );
  }

  /** Makes changes until it is told to stop. */
  async go(whether: { readonly isOn: boolean }): Promise<void> {
    while (whether.isOn) {
      await this.next();
      await sleep(200);
    }
  }

  /** What the records, and what nodes had, break of the promises. */
  broken(records: readonly StepRecord[]): readonly string[] {
    const of = records.filter(({ group }) => group === stagedGroup);
    const rollouts = new Set(of.map(({ id }) => id)).size;
    assert.ok(rollouts > 0, "there was no rollout");
    const count = rollouts === this.completed ? [] : [`${rollouts} rollouts brought ${this.completed} changes`];
    return [...count, ...brokenRollouts(of, plan), ...brokenSteps(of, this.nodes.had, plan)];
  }

  #allHave(): boolean {
    return this.nodes.having(this.#content) === this.nodes.size;
  }

  async #isCompleted(): Promise<boolean> {
    const asked = this.#servers.map(async (server) => {
      const { rollouts } = await server.ask<{ rollouts: readonly ShownRollout[] }>("rollouts");
      const found = rollouts.find(({ group }) => group === stagedGroup);
      return found?.state === "completed" ? found.id : 0;
    });
    const ids = (await Promise.allSettled(asked)).map((one) => (one.status === "fulfilled" ? one.value : 0));
    // A server that is behind shows the one before.
    const id = Math.max(...ids);
    if (id <= this.#lastId) return false;
    this.#lastId = id;
    return true;
  }
}
