import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import { XdskitError } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Watch } from "../contract/watch.js";
import type { ResourceWatcher, TypeOf, XdsClient } from "../contract/xds-client.js";
import {
  configText,
  messageOf,
  type Piece,
  type Resolved,
  randomPiece,
  resolveWorld,
  worldNames,
} from "../testing/config-world.js";
import { times } from "../testing/effort.js";
import { randomFrom } from "../testing/random.js";
import { noSuch, receivedResource } from "../testing/scripted/scripted-client.js";
import { createWatchConfig } from "./watch-config.js";

const { SEED, STEPS } = process.env;
const steps = Number(STEPS ?? 60);

/** `SEED=7` plays one seed and prints its story; `EFFORT=50` plays more, `STEPS=200` longer ones. */
test("the last reported configuration is the server's, none is incomplete, and no watch is left over", async (context) => {
  const first = Number(SEED ?? 1);
  const last = SEED === undefined ? times(200) : first;
  let seed = first;
  for (; seed <= last; seed += 1) {
    const story: string[] = [];
    try {
      await play(seed, story);
    } catch (error) {
      throw new Error(`SEED=${seed} STEPS=${steps}: ${(error as Error).message}\n${story.join("\n")}`, {
        cause: error,
      });
    }
    if (SEED !== undefined) context.diagnostic(story.join("\n"));
  }
  context.diagnostic(`${seed - first} runs of ${steps} steps`);
});

async function play(seed: number, story: string[]): Promise<void> {
  const random = randomFrom(seed);
  const keys = Object.entries(worldNames).flatMap(([type, names]) => names.map((name) => `${type} ${name}`));
  const authority = random(2) === 0 ? "own.example" : undefined;
  const isSlow = random(2) === 0;
  const hasCache = random(2) === 0;
  const world = new Map<string, Piece>();
  /** The reports of watchers, while they watch. */
  const known = new Map<string, Piece | "absent">();
  const ambient = new Map<string, string>();
  const received = new Map<Piece, ReceivedResource>();
  const watchers = new Map<string, ResourceWatcher>();
  const subscriptions: { readonly name: string; cancel(): void }[] = [];
  let tag = 0;
  if (random(4) === 0) {
    world.set("listener l", { kind: "listener", tag, routes: ["r0"], tcp: undefined });
    world.set("route r0", { kind: "route", tag, all: ["c0", `c${random(20)}`], own: undefined });
    const chain = worldNames.cluster.map((_, index) => ["cluster", `c${index}`, `c${index + 1}`] as const);
    for (const [type, name, next] of chain) world.set(`${type} ${name}`, { kind: "aggregate", tag, below: [next] });
  }
  /** The last complete configuration, which must be reported next. */
  let whole: Resolved | undefined;
  let told: Resolved | undefined;
  let release: (() => void) | undefined;
  let problems = "";

  const note = () => {
    const resolved = resolveWorld(
      known,
      subscriptions.map(({ name }) => name),
      authority,
    );
    if (resolved.text !== undefined) whole = resolved;
    return resolved;
  };
  const tell = (key: string) => {
    const piece = world.get(key);
    const watcher = watchers.get(key);
    const [type = "", name = ""] = key.split(" ");
    known.set(key, piece ?? "absent");
    ambient.delete(key);
    story.push(`tell ${key} ${JSON.stringify(piece)}`);
    if (piece === undefined) void watcher?.onError?.(noSuch(type, name));
    else {
      const resource = received.get(piece) ?? receivedResource(messageOf(key, piece));
      received.set(piece, resource);
      void watcher?.onChanged(resource);
    }
  };
  const watch = (type: TypeOf<Message>, name: string, watcher: ResourceWatcher): Watch => {
    const short = {
      Listener: "listener",
      RouteConfiguration: "route",
      Cluster: "cluster",
      ClusterLoadAssignment: "endpoint",
    };
    const last = (typeof type === "string" ? type : type.typeName).split(".").at(-1) as keyof typeof short;
    const key = `${short[last]} ${name}`;
    story.push(`+${key}`);
    assert.ok(!watchers.has(key), `${key} is watched twice`);
    watchers.set(key, watcher);
    if (hasCache && random(2) === 0) {
      tell(key);
      note();
    }
    const cancel = () => {
      story.push(`-${key}`);
      assert.ok(told === undefined || told.text === "error" || !told.needed.has(key), `${key} is still in use`);
      watchers.delete(key);
      known.delete(key);
      ambient.delete(key);
    };
    return { cancel };
  };
  const isTold = async (text: string) => {
    story.push(`told ${text}`);
    // No leaf changed since the configuration was last read, unless the watcher was busy meanwhile.
    assert.equal(text, whole?.text);
    assert.ok(text === "error" || text !== told?.text, "the same twice");
    told = whole;
    if (isSlow && random(2) === 0) {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      release = undefined;
    }
  };
  const onChanged = (config: Parameters<typeof configText>[0]) => isTold(configText(config));
  const failures: unknown[] = [];
  const client = { watch: watch as XdsClient["watch"] };
  const watching = createWatchConfig({ client, failed: (error) => failures.push(error) })(
    "l",
    {
      onChanged,
      onError: () => isTold("error"),
      onAmbient: (list) => {
        problems = list
          .map(({ type, name, error }) => `${type} ${name} ${error.findings[0]?.message}`)
          .sort()
          .join();
      },
    },
    { authority },
  );

  const step = async (change: () => void) => {
    change();
    note();
    await turn();
    assert.deepEqual(failures, []);
    const now = note();
    if (release !== undefined) return;
    assert.equal(told?.text, whole?.text, "what is whole is told");
    told = whole;
    for (const key of watchers.keys()) {
      assert.ok(told?.needed.has(key) || now.needed.has(key), `${key} is watched for nothing`);
    }
    for (const key of now.needed) assert.ok(watchers.has(key), `${key} is not watched`);
  };
  const stale = () => [...watchers.keys()].filter((key) => known.get(key) !== (world.get(key) ?? "absent"));

  await step(() => {});
  for (let count = 0; count < steps; count += 1) {
    const kind = random(12);
    if (kind < 4) {
      const key = keys[random(keys.length)] ?? "";
      if (random(5) === 0) world.delete(key);
      else world.set(key, randomPiece(key, ++tag, random));
    } else if (kind < 9) {
      const some = stale();
      await step(() => {
        for (let more = 1 + random(3); more > 0 && some.length > 0; more -= 1)
          tell(some.splice(random(some.length), 1)[0] ?? "");
      });
    } else if (kind === 9) {
      const name = worldNames.cluster[random(20)] ?? "";
      await step(() => {
        story.push(`subscribe ${name}`);
        subscriptions.push({ name, cancel: watching.subscribe(name).cancel });
      });
    } else if (kind === 10) {
      const [subscription] = subscriptions.splice(random(subscriptions.length + 1), 1);
      await step(() => {
        story.push(`unsubscribe ${subscription?.name}`);
        subscription?.cancel();
      });
    } else if (random(2) === 0) await step(() => release?.());
    else {
      const key = [...known.keys()][random(known.size + 1)] ?? "";
      await step(() => {
        if (!known.has(key)) return;
        tag += 1;
        ambient.set(key, `problem ${tag}`);
        story.push(`ambient ${key} ${tag}`);
        void watchers.get(key)?.onAmbient?.(XdskitError.of("XDSKIT_FILE_UNREADABLE", `problem ${tag}`));
      });
    }
  }
  story.push("to the end");
  for (let more = 0; more < 1_000 && (release !== undefined || stale().length > 0); more += 1) {
    await step(() => {
      release?.();
      for (const key of stale()) tell(key);
    });
  }
  const end = note();
  assert.ok(end.text !== undefined, "all is known in the end");
  assert.equal(told?.text, end.text);
  assert.deepEqual([...watchers.keys()].sort(), [...end.needed].sort());
  assert.equal(
    problems,
    [...ambient]
      .map((entry) => entry.join(" "))
      .sort()
      .join(),
  );
  const all = resolveWorld(
    new Map([...keys, ...end.needed].map((key) => [key, world.get(key) ?? ("absent" as const)])),
    subscriptions.map(({ name }) => name),
    authority,
  );
  assert.equal(told?.text, all.text);
  told = undefined;
  watching.cancel();
  assert.equal(watchers.size, 0);
}

/** Runs everything that is ready. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
