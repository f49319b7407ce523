import assert from "node:assert/strict";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Place } from "../basics/place.js";
import type { Mesh } from "./mesh.js";
import type { MeshServer } from "./mesh-server.js";

/** Something that goes wrong, and is right again when `play` resolves. */
export interface Fault {
  /** For a test's step: `replica 1 is killed, and comes back`. */
  readonly what: string;
  /** `begin` is called at the moment when it begins. */
  play(begin: () => Promise<unknown>): Promise<void>;
}

/** All servers, and then all members, are killed, stopped, cut off. Each fault lasts for this many milliseconds. */
export function faultsOf({ servers, etcd }: Pick<Mesh, "servers" | "etcd">, lastsMs: number): readonly Fault[] {
  const ofServers = servers.flatMap((server) => [
    ...serverFaults(server, lastsMs),
    ...cutOff(server.name, server.place, server.admin, lastsMs),
  ]);
  const ofMembers = etcd.members.flatMap((member) => {
    const name = `member ${member.name} of etcd`;
    return [...endings(name, member, lastsMs), ...cutOff(name, member.place, member.endpoint, lastsMs)];
  });
  return [...ofServers, ...ofMembers];
}

/** Something that ends and starts again. */
interface Part {
  kill(): Promise<void> | void;
  signal(signal: NodeJS.Signals): void;
  start(): Promise<void>;
}

function endings(name: string, part: Part, lastsMs: number): readonly Fault[] {
  return [
    {
      what: `${name} is killed, and comes back`,
      async play(begin) {
        await begin();
        await part.kill();
        await sleep(lastsMs);
        await part.start();
      },
    },
    {
      what: `${name} is stopped for a while`,
      async play(begin) {
        await begin();
        part.signal("SIGSTOP");
        await sleep(lastsMs);
        part.signal("SIGCONT");
      },
    },
  ];
}

function serverFaults(server: MeshServer, lastsMs: number): readonly Fault[] {
  const { name } = server;
  return [
    ...endings(name, server, lastsMs),
    {
      what: `${name} is upgraded: it ends as it is told to, and comes back`,
      async play(begin) {
        await begin();
        await server.stop();
        await server.start();
      },
    },
    {
      what: `${name} is stopped and then killed: its clients come to others with what is old`,
      async play(begin) {
        await begin();
        server.signal("SIGSTOP");
        await sleep(lastsMs);
        server.kill();
        await server.start();
      },
    },
  ];
}

/** None where a place cannot be cut off. `address` is that of something that listens there. */
export function cutOff(name: string, { link }: Place, address: string, lastsMs: number): readonly Fault[] {
  if (link === undefined) return [];
  return [
    {
      what: `${name} is cut off from all others for a while`,
      async play(begin) {
        await begin();
        await link.cut();
        assert.equal(await isReachable(address, Math.min(lastsMs, 500)), false, `${name} can be reached`);
        await sleep(lastsMs);
        await link.join();
      },
    },
  ];
}

function isReachable(address: string, withinMs: number): Promise<boolean> {
  const [host = "", port = ""] = address.split(":");
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), timeout: withinMs });
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on("connect", () => end(true));
    socket.on("timeout", () => end(false));
    socket.on("error", () => end(false));
  });
}
