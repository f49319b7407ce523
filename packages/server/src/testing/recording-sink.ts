import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { describe, type Finding, type Resource } from "@xdskit/api";
import type { LayerUpdate, SourceSink } from "../contracts/source.js";
import { patienceMs } from "./basics/wait-for.js";

/** A sink that records a source's changes, and holds the resulting resources. */
export class RecordingSink implements SourceSink {
  readonly applied: (readonly LayerUpdate[])[] = [];
  readonly reports: (readonly Finding[])[] = [];
  /** How long changes took, as the source says. */
  readonly delays: number[] = [];
  /** Called after each change. */
  onApply: () => void = () => {};
  readonly #layers = new Map<string, Map<string, Resource>>();

  apply(updates: readonly LayerUpdate[]): void {
    this.applied.push(updates);
    for (const { layer, kind, upsert, remove = [] } of updates) {
      const resources = kind === "replace" ? new Map<string, Resource>() : (this.#layers.get(layer) ?? new Map());
      for (const { type, name } of remove) resources.delete(`${type.name} ${name}`);
      for (const resource of upsert) resources.set(`${resource.type.name} ${resource.name}`, resource);
      this.#layers.set(layer, resources);
    }
    this.onApply();
  }

  took(ms: number): void {
    this.delays.push(ms);
  }

  report(findings: readonly Finding[]): void {
    this.reports.push(findings);
  }

  /** `cluster a`, `listener b` … of a layer, sorted. */
  resources(layer = "."): readonly string[] {
    return [...(this.#layers.get(layer)?.keys() ?? [])].sort();
  }

  resource(key: string, layer = "."): Resource | undefined {
    return this.#layers.get(layer)?.get(key);
  }

  /** The last report's errors, a line each. */
  get errors(): readonly string[] {
    return (this.reports.at(-1) ?? []).filter(({ severity }) => severity === "error").map(describe);
  }

  /** Waits until something holds; fails after half a minute. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const end = Date.now() + patienceMs;
    while (!holds()) {
      if (Date.now() > end) {
        assert.fail(
          `not within ${patienceMs} ms: ${what}; holds ${this.resources().slice(0, 20)}; errors ${this.errors.slice(0, 5)}`,
        );
      }
      await delay(10);
    }
  }

  /** Waits until this many changes were applied. */
  async untilApplied(count: number): Promise<void> {
    await this.until(`${count} changes applied, not ${this.applied.length}`, () => this.applied.length >= count);
  }
}
