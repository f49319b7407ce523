import assert from "node:assert/strict";
import { canonicalName } from "@xdskit/api";
import type { ClientStream, ResourceUpdate } from "../../index.js";
import { describeResource, wordOfType } from "../client/client-lines.js";

/**
 * A watcher that believes nothing: the updates that it gets must add up to the client's resources, and none may come
 * twice.
 */
export class PairWatch {
  /** Type → name → content. */
  readonly #seen = new Map<string, Map<string, string>>();
  /** Reported as absent since the request for them. */
  readonly #absent = new Set<string>();

  of(type: string): ReadonlyMap<string, string> {
    return this.#seen.get(type) ?? new Map();
  }

  isAbsent(type: string, name: string): boolean {
    return this.#absent.has(`${type} ${name}`);
  }

  asked(type: string, name: string): void {
    this.#absent.delete(`${type} ${name}`);
  }

  /** The names were dropped: they are forgotten silently, unless another subscription asks for them. */
  dropped(type: string, wanted: ReadonlySet<string>): void {
    const seen = this.#seen.get(type);
    if (seen === undefined || wanted.has("*")) return;
    for (const name of [...seen.keys()]) if (!wanted.has(name)) seen.delete(name);
  }

  update({ type, upserted, removed, absent }: ResourceUpdate, wanted: ReadonlySet<string>): void {
    const word = wordOfType(type);
    const seen = this.#seen.get(word) ?? new Map<string, string>();
    this.#seen.set(word, seen);
    for (const { name } of removed) {
      assert.ok(seen.delete(name), `${word} ${name} was removed, and nobody had it`);
      this.#absent.add(`${word} ${name}`);
    }
    for (const resource of upserted) {
      const { name } = resource;
      const content = describeResource(resource, false);
      assert.ok(wanted.has("*") || wanted.has(name), `${word} ${name} came, and nobody asked for it (rule 165)`);
      assert.notEqual(seen.get(name), content, `${word} ${name} was told twice`);
      seen.set(name, content);
      this.#absent.delete(`${word} ${name}`);
    }
    for (const { name } of absent) {
      assert.ok(wanted.has(name), `${word} ${name} is absent, and nobody asked for it`);
      assert.ok(!seen.has(name), `${word} ${name} is absent, and was there`);
      assert.ok(!this.isAbsent(word, name), `${word} ${name} was told to be absent twice`);
      this.#absent.add(`${word} ${name}`);
    }
  }

  /** Asserts that the client holds the resources that it reported. */
  compare(client: ClientStream): void {
    for (const { type, resources } of client.status()) {
      const current = [...resources].map(([key, resource]) => {
        assert.equal(key, canonicalName(resource.name));
        return describeResource(resource, false);
      });
      assert.deepEqual(
        current.sort(),
        [...this.of(wordOfType(type)).values()].sort(),
        `what there is of ${wordOfType(type)}`,
      );
    }
  }
}
