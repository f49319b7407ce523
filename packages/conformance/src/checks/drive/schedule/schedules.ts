import { equals, fromBinary, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdskit/api";
import { baseWorld, drivenContent, type World, worldWords } from "../../../driver/driven-content.js";
import type { ServerPeer } from "../../../peer/peer.js";
import { Failed } from "../../../verdicts/verdicts.js";
import type { ProtocolVariant, ResponseResource } from "../../../wire/messages.js";
import { typeNamed, typeUrlOf } from "../../../wire/type-words.js";
import type { CheckBody } from "../../contract/check.js";
import { documents } from "../../contract/documents.js";
import { begin } from "../driving.js";
import { SimulatedEnvoy } from "../simulated-envoy.js";
import { type Step, scheduleOf, shrunk, worldsOf } from "./random-schedule.js";

/** Long enough that names go and come back. */
const length = 8;

/** Series of changes that a seed chooses. What fails is told with the fewest changes that show it. */
export function scheduleChecks(variant: ProtocolVariant): readonly CheckBody[] {
  return [
    {
      id: `${variant}-schedule-content`,
      says: "After a random series of changes a client has exactly what the server serves.",
      because: "xDS APIs are eventually consistent: in the end a client has what the server has.",
      link: documents.ordering,
      run: (peer) => play(peer, (steps) => differenceAfter(peer, variant, steps)),
    },
    {
      id: `${variant}-schedule-make-before-break`,
      says: "In a random series of changes, each of which the client takes before the next one, no request fails.",
      because: "Sequencing of updates should follow a make before break model.",
      link: documents.ordering,
      level: "SHOULD",
      run: (peer) => play(peer, (steps) => brokenIn(peer, variant, steps)),
    },
  ];
}

/** Plays a schedule; a failure is played again with less and less. `failure`: what is wrong, if anything. */
async function play(
  peer: ServerPeer,
  failure: (steps: readonly Step[]) => Promise<string | undefined>,
): Promise<string> {
  const { seed } = peer;
  const all = scheduleOf(seed, length);
  let wrong = await failure(all);
  if (wrong === undefined) return `${length} changes of the seed ${seed}`;
  const end = Date.now() + peer.bounds.checkMs / 3;
  const fails = async (fewer: readonly Step[]) => {
    const found = await failure(fewer);
    wrong = found ?? wrong;
    return found !== undefined;
  };
  const least = await shrunk(all, fails, () => Date.now() < end);
  const words = worldsOf(least).map(worldWords).join(" | ");
  throw new Failed(`${wrong}; the fewest changes of the seed ${seed} that show it: ${words}`);
}

/** Has a client follow changes, several at once where the schedule says so. Returns what it lacks in the end. */
async function differenceAfter(
  peer: ServerPeer,
  variant: ProtocolVariant,
  steps: readonly Step[],
): Promise<string | undefined> {
  return await followed(peer, variant, async (envoy) => {
    for (const [index, world] of worldsOf(steps).entries()) {
      await peer.set(world);
      const isLast = index === steps.length - 1;
      const lack = isLast || steps[index]?.isAwaited ? await lackOf(envoy, world) : undefined;
      if (lack !== undefined) return lack;
    }
    return undefined;
  });
}

/** The same, one change after the other. Returns which request failed meanwhile. */
async function brokenIn(
  peer: ServerPeer,
  variant: ProtocolVariant,
  steps: readonly Step[],
): Promise<string | undefined> {
  return await followed(peer, variant, async (envoy) => {
    for (const world of worldsOf(steps)) {
      await peer.set(world);
      const lack = await lackOf(envoy, world);
      const [broken = lack] = envoy.broken;
      if (broken !== undefined) return broken;
    }
    return undefined;
  });
}

/** Begins with a client that has the base world. */
async function followed<T>(
  peer: ServerPeer,
  variant: ProtocolVariant,
  follow: (envoy: SimulatedEnvoy) => Promise<T>,
): Promise<T> {
  await begin(peer);
  const stream = peer.open(variant);
  const envoy = new SimulatedEnvoy(stream);
  try {
    const lack = await lackOf(envoy, baseWorld);
    if (lack !== undefined) throw new Failed(`before any change, ${lack}`);
    // What was broken while it started is no request that failed.
    envoy.broken.length = 0;
    return await follow(envoy);
  } finally {
    stream.cancel();
  }
}

/** Lets a client take responses until it has a world, and stays so. Returns what it lacks when nothing more comes. */
async function lackOf(envoy: SimulatedEnvoy, world: World): Promise<string | undefined> {
  const difference = differenceTo(world);
  try {
    await envoy.settle(() => difference(envoy) === undefined);
    return undefined;
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    return `${difference(envoy) ?? "the client has all"}: ${error.message}`;
  }
}

/** Compares what a client has with what a world has for it. */
function differenceTo(world: World): (envoy: SimulatedEnvoy) => string | undefined {
  const content = Object.entries(drivenContent(world)).map(([type, resources]) => ({ type, resources }));
  const named = new Set(Object.values(world.listeners));
  const isFor = (type: string, name: string) => type !== typeUrlOf("route") || named.has(name);
  return (envoy) => {
    for (const { type, resources } of content) {
      const { name: word } = typeNamed(type);
      const has = envoy.current(type);
      const due = Object.entries(resources).filter(([name]) => isFor(type, name));
      for (const [name, json] of due) {
        const resource = has.get(name);
        if (resource === undefined) return `the client has no ${word} ${name}`;
        if (!isSame(type, resource, json as JsonValue)) return `the client has another ${word} ${name}`;
      }
      const gone = [...has.keys()].find((name) => !due.some(([one]) => one === name));
      if (gone !== undefined) return `the client still has the ${word} ${gone}`;
    }
    return undefined;
  };
}

function isSame(type: string, { body }: ResponseResource, json: JsonValue): boolean {
  const schema = typeNamed(type).schema!;
  const registry = envoyRegistry();
  return equals(schema, fromBinary(schema, body), fromJson(schema, json, { registry }), { registry, unpackAny: true });
}
