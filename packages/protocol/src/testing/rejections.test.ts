import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { createStream, defaultStreamLimits, type SotwOrDelta, type Stream } from "../index.js";
import type { ResourceSet } from "../model/sets/resource-set.js";
import { times } from "./effort.js";
import { createRandom } from "./random.js";
import { type Content, readSample, urlOf } from "./sample-resources.js";
import { type Edit, edit, type SampleGroup, typeOf } from "./sample-world.js";
import { decodeResponse, encodeRequest, type SeenResponse } from "./wire.js";

/** A client's reaction to a response with a bad resource, and its message. */
const manners = {
  /** Envoy with clusters and listeners, gRPC's clients: the good part is used. */
  part: (bad: readonly string[]) => `Error adding/updating cluster(s) ${bad.map((name) => `${name}: no`).join(", ")}`,
  /** Envoy, if it cannot read a resource: it uses nothing, and names the first one. */
  first: ([name]: readonly string[]) =>
    `goo.gle/debugproto \nname: "${name}"\n: Proto constraint validation failed (ClusterValidationError.X: no)`,
  /** Nothing is used, and nothing is said. */
  silent: () => "no",
} as const;
type Manner = keyof typeof manners;

const runs = times(8);
const names = ["a", "b", "c", "d", "e"];
const isBad = (content: Content): boolean => content.startsWith("bad");

class Client {
  readonly uses = new Map<string, Content>();
  rejections = 0;
  readonly #manner: Manner;
  readonly #whole: boolean;

  constructor(manner: Manner, whole: boolean) {
    this.#manner = manner;
    this.#whole = whole;
  }

  /** Takes a response as far as its manner allows, and returns its objection, if it has one. */
  take({ resources, removed }: SeenResponse): string | undefined {
    const bad = resources.filter(({ content = "" }) => isBad(content)).map(({ name }) => name);
    if (bad.length > 0) this.rejections++;
    if (bad.length > 0 && this.#manner !== "part") return manners[this.#manner](bad);
    const gone = this.#whole
      ? [...this.uses.keys()].filter((name) => !resources.some((one) => one.name === name))
      : removed;
    for (const name of gone) this.uses.delete(name);
    for (const { name, content = "" } of resources) if (!isBad(content)) this.uses.set(name, content);
    return bad.length > 0 ? manners.part(bad) : undefined;
  }
}

interface Play {
  readonly variant: SotwOrDelta;
  readonly type: string;
  readonly manner: Manner;
  readonly wildcard: boolean;
}

function play(seed: number, { variant, type, manner, wildcard }: Play): void {
  const random = createRandom(seed);
  const whole = variant === "sotw" && type === "cluster";
  const stream = createStream({
    variant,
    api: "v3",
    types: resourceTypes,
    only: undefined,
    defaultNode: undefined,
    limits: defaultStreamLimits,
  });
  const saysGone = variant === "delta" || whole;
  const client = new Client(manner, whole);
  const story: string[] = [];
  const typeUrl = urlOf(type, "v3");
  let group: SampleGroup | undefined;
  let count = 0;
  const asked = variant === "sotw" ? { names: wildcard ? [] : names } : { subscribe: wildcard ? [] : names };
  const again = variant === "sotw" ? asked : {};
  const change = (edits: readonly Edit[]): void => {
    story.push(`set ${edits.map(({ name, content }) => `${name}=${content}`).join(" ")}`);
    group = edit(group, edits);
    stream.step({ kind: "snapshot", snapshot: group.snapshot });
  };
  const onTheWay: SeenResponse[] = [];
  const pull = (): void => {
    for (let one = stream.next(); one !== undefined; one = stream.next()) {
      const seen = decodeResponse(variant, one);
      story.push(
        `< ${seen.resources.map(({ name, content }) => `${name}=${content}`).join(" ")} -${seen.removed} #${seen.nonce}`,
      );
      onTheWay.push(seen);
    }
  };
  const answer = (): void => {
    const seen = onTheWay.shift();
    if (seen === undefined) return;
    const message = client.take(seen);
    story.push(`> ${message ?? "ack"} #${seen.nonce}`);
    const error = message === undefined ? undefined : { code: 13, message };
    const bytes = encodeRequest(variant, { typeUrl, ...again, nonce: seen.nonce, error });
    stream.step({ kind: "request", bytes });
  };
  const rest = (): void => {
    pull();
    for (let answers = 0; onTheWay.length > 0; answers++) {
      assert.ok(answers < 100, "it goes on for ever");
      answer();
      pull();
    }
  };

  try {
    change(names.slice(0, 3).map((name) => ({ type, name, content: "0" })));
    stream.step({ kind: "request", bytes: encodeRequest(variant, { typeUrl, ...asked, node: { id: "n" } }) });
    stream.step({ kind: "snapshot", snapshot: (group as SampleGroup).snapshot });
    rest();
    for (let step = 0; step < 20; step++) {
      const some = random.some(names, 0.4);
      const content = (): Content | undefined => {
        count++;
        // Rule 74: SotW does not report that a named resource is gone, so nobody knows what the client does with it.
        return saysGone && random.chance(0.2) ? undefined : random.chance(0.3) ? `bad${count}` : `${count}`;
      };
      change(some.map((name) => ({ type, name, content: content() })));
      if (random.chance(0.6)) pull();
      if (random.chance(0.5)) answer();
      if (random.chance(0.4)) rest();
      if (onTheWay.length === 0) check(stream, client, manner === "part");
    }
    // Each rejection is of a new content: there is no loop.
    rest();
    const { rejections } = client;
    rest();
    assert.equal(client.rejections, rejections);
    const there = group?.contents.get(type) ?? new Map<string, Content>();
    change([...there].filter(([, content]) => isBad(content)).map(([name]) => ({ type, name, content: "fixed" })));
    rest();
    const wanted = group?.contents.get(type) ?? new Map();
    for (const [name, content] of wanted) assert.equal(client.uses.get(name), content, `${name} in the end`);
    assert.equal(client.uses.size, wanted.size);
    const [status] = stream.status();
    assert.equal(status?.rejected, undefined);
    assert.ok(stream.isInSync);
  } catch (error) {
    throw new Error(`seed ${seed}: ${String(error)}\n${story.join("\n")}`, { cause: error });
  }
}

const contentIn = (set: ResourceSet | undefined, name: string): Content | undefined => {
  const resource = set?.get(name);
  return resource && readSample(resource.type.typeUrl, resource.body).content;
};

/** The machine's view of the used content must equal the client's, or contain it. */
function check(stream: Stream, client: Client, exactly: boolean): void {
  const [status] = stream.status();
  if (status?.acknowledged === undefined) return;
  const { acknowledged, rejected, inFlightCount, sent } = status;
  assert.equal(inFlightCount, 0);
  for (const name of names) {
    const uses = client.uses.get(name);
    const known = contentIn(acknowledged.set, name);
    if (exactly) assert.equal(known, uses, `${name}, as it is known to be used`);
    const may = [known, contentIn(rejected?.after, name), contentIn(sent?.set, name)];
    assert.ok(may.includes(uses), `${name}=${uses} is used, and not one of ${may}`);
  }
}

for (const variant of ["sotw", "delta"] as const) {
  for (const [type, wildcard] of [
    ["cluster", true],
    ["cluster", false],
    ["endpoint", false],
  ] as const) {
    for (const manner of ["part", "first", "silent"] as const) {
      test(`a client that ${manner} reaches its target: ${variant}, ${type}${wildcard ? " *" : ""}`, () => {
        assert.ok(typeOf(type));
        for (let seed = 1; seed <= runs; seed++) play(seed, { variant, type, manner, wildcard });
      });
    }
  }
}
