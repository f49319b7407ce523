import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serverChecks } from "xds-conformance";
import { findPeer, type PeerName, root } from "../harness/basics/peers.js";
import { freePort } from "../harness/basics/ports.js";
import { startProcess } from "../harness/basics/process.js";
import { xdskitCommand } from "../harness/xdskit/xdskit.js";
import { type Judgement, judged, together } from "./judgement.js";

/** A server that is held against the protocol. */
export interface JudgedServer {
  readonly name: string;
  /** What must be installed. */
  readonly needs?: PeerName;
  /** What is known to fail, with reasons: a file below `reports/known/`. */
  readonly known: string | undefined;
  /** What it is, and how one sees the same: for the report. */
  readonly about: string;
  /** Starts it, if it is not its driver that does. Returns what stops it. */
  start?(place: Place): Promise<() => Promise<unknown>>;
  /** For the reports only. */
  readonly isReportOnly?: true;
  /** It answers polls. */
  readonly hasRest: boolean;
  /** The command of its driver. */
  driver(place: Place): string;
}

/** Where a server runs. */
interface Place {
  readonly grpc: string;
  readonly rest: string;
  /** For its files. */
  readonly folder: string;
  /** What it needs; empty if it needs nothing. */
  readonly program: string;
}

const node = JSON.stringify(process.execPath);
const goDriver = join(root, "e2e/peers/go-control-plane/driver.mjs");
const folderDriver = join(root, "packages/conformance/drivers/folder.mjs");

function goControlPlane(name: string, cache: string, args: string): JudgedServer {
  return {
    name,
    needs: "go-control-plane-server",
    known: `reports/known/${name}.txt`,
    about: `go-control-plane 0.14.0, ${cache}: the server of \`e2e/peers/go-control-plane\` with \`${args}\``,
    hasRest: false,
    driver: ({ grpc, program }) => `${node} ${JSON.stringify(goDriver)} ${JSON.stringify(program)} ${grpc} ${args}`,
  };
}

/** The link that the folder's driver swaps. */
const linkIn = (folder: string): string => join(folder, "config");

export const judgedServers: readonly JudgedServer[] = [
  {
    name: "xdskit",
    known: undefined,
    about: "`xdskit serve` of this checkout, with a folder",
    async start({ grpc, rest, folder }) {
      mkdirSync(join(folder, "empty"));
      symlinkSync(join(folder, "empty"), linkIn(folder));
      const { command, args } = xdskitCommand();
      const listen = ["--grpc", grpc, "--rest", rest, "--admin", "127.0.0.1:0"];
      // A link that is swapped is a whole change.
      const serve = [...args, "serve", linkIn(folder), "--allow-empty", "--settle", "10ms", ...listen];
      const server = startProcess({ name: "xdskit serve", command, args: serve });
      await server.line(/^ready$/);
      return () => server.stop();
    },
    hasRest: true,
    driver: ({ rest, folder }) =>
      `${node} ${JSON.stringify(folderDriver)} ${JSON.stringify(linkIn(folder))} http://${rest}`,
  },
  goControlPlane("go-control-plane-snapshot", "snapshot cache", "-cache snapshot -ads=false -ordered"),
  goControlPlane("go-control-plane-linear", "linear caches", "-cache linear"),
  {
    name: "java-control-plane",
    needs: "java-control-plane",
    known: "reports/known/java-control-plane.txt",
    about: "java-control-plane 1.0.49, `SimpleCache`: the server of `e2e/peers/java-control-plane`",
    isReportOnly: true,
    hasRest: false,
    driver: ({ grpc, program }) => `${JSON.stringify(program)} ${grpc.split(":")[1]}`,
  },
];

/** Checks that change something wait for each other. So they are dealt out to several servers. */
const parts = 3;

/** Holds a server against all checks. Undefined: a program is missing. */
export async function judgeServer(server: JudgedServer, args: readonly string[] = []): Promise<Judgement | undefined> {
  const program = server.needs === undefined ? "" : findPeer(server.needs);
  if (program === undefined) return undefined;
  const ids = serverChecks.map(({ id }) => id);
  const judgements = await Promise.all(
    Array.from({ length: parts }, (_, part) => {
      const some = ids.filter((_, index) => index % parts === part);
      return judgePart(server, program, ["--only", some.join(), "--parallel", "4", ...args]);
    }),
  );
  return together(judgements, ids);
}

async function judgePart(server: JudgedServer, program: string, args: readonly string[]): Promise<Judgement> {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-conformance-"));
  const [grpc, rest] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const place = { grpc, rest, folder, program };
  let stop: (() => Promise<unknown>) | undefined;
  try {
    stop = await server.start?.(place);
    const known = server.known === undefined ? [] : ["--expected-failures", join(root, server.known)];
    const polls = server.hasRest ? ["--rest", `http://${rest}`] : [];
    return await judged(folder, "server", grpc, "--driver", server.driver(place), ...known, ...polls, ...args);
  } finally {
    await stop?.();
    rmSync(folder, { recursive: true, force: true });
  }
}
