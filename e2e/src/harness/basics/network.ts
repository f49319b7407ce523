import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readlink } from "node:fs/promises";
import { promisify } from "node:util";
import type { Place } from "./place.js";
import type { Scene } from "./scene.js";
import { eventually } from "./wait.js";

const execute = promisify(execFile);

/** Set for a process that was started in a network namespace of its own. */
export const ownNetworkVariable = "XDSKIT_E2E_OWN_NETWORK";

/** Whether this process has one: what it does to interfaces concerns no other program. */
export const isInOwnNetwork = process.env[ownNetworkVariable] === "yes";

/** Places with a network namespace each, on one switch to which this process is connected too. */
export interface Network {
  /** A further place, with an address of its own. */
  place(): Promise<Place>;
  /** A further address of this process's own network, which is none of loopback. */
  address(family?: "IPv4" | "IPv6"): Promise<string>;
}

const bridge = "switch";
const addressOf = (number: number) => `10.0.0.${number}`;

/** Only within a network of this process's own: it changes interfaces. */
export async function createNetwork(scene: Scene): Promise<Network> {
  assert.ok(isInOwnNetwork, "this is the network of the machine");
  await ip("link", "set", "lo", "up");
  await ip("link", "add", "name", bridge, "type", "bridge");
  await ip("addr", "add", `${addressOf(254)}/24`, "dev", bridge);
  await ip("link", "set", bridge, "up");
  let places = 0;
  let addresses = 0;
  return {
    async address(family = "IPv4") {
      addresses += 1;
      const [own, bits] = family === "IPv4" ? [`10.1.0.${addresses}`, 32] : [`fd00::${addresses}`, 128];
      await ip("addr", "add", `${own}/${bits}`, "dev", "lo");
      return own;
    },
    async place() {
      places += 1;
      return await connect(scene, places);
    },
  };
}

async function connect(scene: Scene, number: number): Promise<Place> {
  // A namespace exists as long as a process is in it.
  const args = ["--net", "sleep", "infinity"];
  const holder = scene.start({ name: `network namespace ${number}`, command: "unshare", args });
  const namespace = `/proc/${holder.pid}/ns/net`;
  const own = await readlink("/proc/self/ns/net");
  await eventually("a network namespace", async () => (await readlink(namespace)) !== own);
  const [port, inside, host] = [`port${number}`, "eth0", addressOf(number)];
  await ip("link", "add", "name", port, "type", "veth", "peer", "name", inside, "netns", `${holder.pid}`);
  await ip("link", "set", port, "master", bridge, "up");
  const place: Place = {
    host,
    run: (command, args) => ({ command: "nsenter", args: [`--net=${namespace}`, "--", command, ...args] }),
    link: {
      cut: () => ip("link", "set", port, "down"),
      join: () => ip("link", "set", port, "up"),
    },
  };
  for (const words of [
    ["link", "set", "lo", "up"],
    ["addr", "add", `${host}/24`, "dev", inside],
    ["link", "set", inside, "up"],
  ]) {
    const { command, args } = place.run("ip", words);
    await execute(command, [...args]);
  }
  return place;
}

async function ip(...words: readonly string[]): Promise<void> {
  await execute("ip", [...words]);
}
