import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serverChecks } from "xds-conformance";
import { findPeer, root } from "../harness/basics/peers.js";
import { freePort } from "../harness/basics/ports.js";
import { startProcess } from "../harness/basics/process.js";
import { xdskitCommand } from "../harness/xdskit/xdskit.js";
import { type Judgement, judged, together } from "./judgement.js";

/** A server that is held against the protocol. */
export interface JudgedServer {
  readonly name: string;
  /** What is known to fail, with reasons: a file below `reports/known/`. */
  readonly known: string | undefined;
  /** What it is, and how one sees the same: for the report. */
  readonly about: string;
  /** Starts it at the addresses, if it is not its driver that does. Returns what stops it. */
  start(at: Addresses, folder: string): Promise<() => Promise<unknown>>;
  /** For the reports only. */
  readonly isReportOnly?: true;
  /** It answers polls. */
  readonly hasRest: boolean;
  /** Undefined: a program is missing. */
  driver(at: Addresses, folder: string): string | undefined;
}

interface Addresses {
  readonly grpc: string;
  readonly rest: string;
}

const node = JSON.stringify(process.execPath);
const goDriver = join(root, "e2e/peers/go-control-plane/driver.mjs");
const folderDriver = join(root, "packages/conformance/drivers/folder.mjs");

function goControlPlane(name: string, cache: string, args: string): JudgedServer {
  return {
    name,
    known: `reports/known/${name}.txt`,
    about: `go-control-plane 0.14.0, ${cache}: the server of \`e2e/peers/go-control-plane\` with \`${args}\``,
    start: async () => async () => {},
    hasRest: false,
    driver({ grpc }) {
      const program = findPeer("go-control-plane-server");
      return program && `${node} ${JSON.stringify(goDriver)} ${JSON.stringify(program)} ${grpc} ${args}`;
    },
  };
}

/** The link that the folder's driver swaps. */
const linkIn = (folder: string): string => join(folder, "config");

export const judgedServers: readonly JudgedServer[] = [
  {
    name: "xdskit",
    known: undefined,
    about: "`xdskit serve` of this checkout, with a folder",
    async start({ grpc, rest }, folder) {
      mkdirSync(join(folder, "empty"));
      symlinkSync(join(folder, "empty"), linkIn(folder));
      const { command, args } = xdskitCommand();
      const listen = ["--grpc", grpc, "--rest", rest, "--admin", "127.0.0.1:0"];
      const serve = [...args, "serve", linkIn(folder), "--allow-empty", ...listen];
      const server = startProcess({ name: "xdskit serve", command, args: serve });
      await server.line(/^ready$/);
      return () => server.stop();
    },
    hasRest: true,
    driver: ({ rest }, folder) =>
      `${node} ${JSON.stringify(folderDriver)} ${JSON.stringify(linkIn(folder))} http://${rest}`,
  },
  goControlPlane("go-control-plane-snapshot", "snapshot cache", "-cache snapshot -ads=false -ordered"),
  goControlPlane("go-control-plane-linear", "linear caches", "-cache linear"),
  {
    name: "java-control-plane",
    known: "reports/known/java-control-plane.txt",
    about: "java-control-plane 1.0.49, `SimpleCache`: the server of `e2e/peers/java-control-plane`",
    isReportOnly: true,
    start: async () => async () => {},
    hasRest: false,
    driver({ grpc }) {
      const program = findPeer("java-control-plane");
      return program && `${JSON.stringify(program)} ${grpc.split(":")[1]}`;
    },
  },
];

/** Checks that change something wait for each other. So they are dealt out to several servers. */
const parts = 3;

/** Holds a server against all checks. Undefined: a program is missing. */
export async function judgeServer(server: JudgedServer, args: readonly string[] = []): Promise<Judgement | undefined> {
  const ids = serverChecks.map(({ id }) => id);
  const judgements = await Promise.all(
    Array.from({ length: parts }, (_, part) => {
      const some = ids.filter((_, index) => index % parts === part);
      return judgePart(server, ["--only", some.join(), "--parallel", "4", ...args]);
    }),
  );
  const there = judgements.flatMap((part) => part ?? []);
  return there.length < parts ? undefined : together(there, ids);
}

async function judgePart(server: JudgedServer, args: readonly string[]): Promise<Judgement | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-conformance-"));
  const at = { grpc: `127.0.0.1:${await freePort()}`, rest: `127.0.0.1:${await freePort()}` };
  const driver = server.driver(at, folder);
  if (driver === undefined) return undefined;
  const stop = await server.start(at, folder);
  try {
    const known = server.known === undefined ? [] : ["--expected-failures", join(root, server.known)];
    const rest = server.hasRest ? ["--rest", `http://${at.rest}`] : [];
    return await judged(folder, "server", at.grpc, "--driver", driver, ...known, ...rest, ...args);
  } finally {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
