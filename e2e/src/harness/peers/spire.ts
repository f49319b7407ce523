import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../basics/ports.js";
import type { Scene } from "../basics/scene.js";
import { eventually } from "../basics/wait.js";

/** Who gets which SPIFFE ID: the program at a path of this machine. */
export interface Workload {
  /** `spiffe://mesh.example/ID`. */
  readonly id: string;
  readonly program: string;
  readonly ttlSeconds: number;
  readonly dns?: string;
}

/** A SPIRE server and its agent, which give workloads of this machine certificates. */
export interface Spire {
  /** The agent's, for SDS and the Workload API. */
  readonly socket: string;
  /** The agent hears of it within seconds. */
  register(workload: Workload): void;
  /** The certificate files that the agent gives to its own program, by SPIFFE ID. Undefined: it has none for it yet. */
  fetched(id: string): { readonly cert: string; readonly key: string; readonly bundle: string } | undefined;
  stopAgent(): Promise<unknown>;
  startAgent(): void;
}

const domain = "mesh.example";

/** Starts both, with the paths of their programs. */
export async function startSpire(scene: Scene, programs: Record<"server" | "agent", string>): Promise<Spire> {
  const at = (...names: readonly string[]) => join(scene.directory, "spire", ...names);
  for (const folder of ["server", "agent"]) mkdirSync(at(folder), { recursive: true });
  const [port, socket, api] = [await freePort(), at("agent.sock"), at("server.sock")];
  writeFileSync(
    at("server.conf"),
    `server {
  bind_address = "127.0.0.1"
  bind_port = "${port}"
  socket_path = "${api}"
  trust_domain = "${domain}"
  data_dir = "${at("server")}"
  ca_key_type = "ec-p256"
  log_level = "WARN"
}
plugins {
  DataStore "sql" { plugin_data { database_type = "sqlite3", connection_string = "${at("server", "data")}" } }
  KeyManager "memory" { plugin_data {} }
  NodeAttestor "join_token" { plugin_data {} }
}
`,
  );
  writeFileSync(
    at("agent.conf"),
    `agent {
  data_dir = "${at("agent")}"
  server_address = "127.0.0.1"
  server_port = "${port}"
  socket_path = "${socket}"
  trust_domain = "${domain}"
  insecure_bootstrap = true
  log_level = "WARN"
}
plugins {
  KeyManager "disk" { plugin_data { directory = "${at("agent")}" } }
  NodeAttestor "join_token" { plugin_data {} }
  WorkloadAttestor "unix" { plugin_data { discover_workload_path = true } }
}
`,
  );
  const command = (...args: readonly string[]) =>
    spawnSync(programs.server, [...args, "-socketPath", api], { encoding: "utf8" });
  const ask = (...args: readonly string[]): string => {
    const { status, stdout, stderr } = command(...args);
    assert.equal(status, 0, stdout + stderr);
    return stdout;
  };
  scene.start({ name: "spire-server", command: programs.server, args: ["run", "-config", at("server.conf")] });
  await eventually("SPIRE's server", async () => command("healthcheck").status === 0, { withinMs: 60_000 });
  const parent = `spiffe://${domain}/agent`;
  const [, token = ""] = /Token: (\S+)/.exec(ask("token", "generate", "-spiffeID", parent)) ?? [];
  const startAgent = () =>
    scene.start({
      name: "spire-agent",
      command: programs.agent,
      args: ["run", "-config", at("agent.conf"), "-joinToken", token],
    });
  let agent = startAgent();
  return {
    socket,
    register({ id, program, ttlSeconds, dns }) {
      const names = dns === undefined ? [] : ["-dns", dns];
      const whom = ["-parentID", parent, "-selector", `unix:path:${program}`];
      ask(
        "entry",
        "create",
        ...whom,
        "-spiffeID",
        `spiffe://${domain}/${id}`,
        ...names,
        "-x509SVIDTTL",
        `${ttlSeconds}`,
      );
    },
    fetched(id) {
      const to = at("fetched");
      mkdirSync(to, { recursive: true });
      const fetch = ["api", "fetch", "x509", "-socketPath", socket, "-write", to];
      if (spawnSync(programs.agent, fetch).status !== 0) return undefined;
      const found = readdirSync(to).find((name) => {
        if (!/^svid\.\d+\.pem$/.test(name)) return false;
        return new X509Certificate(readFileSync(join(to, name))).subjectAltName?.includes(`spiffe://${domain}/${id}`);
      });
      const number = found?.split(".")[1];
      const file = (kind: string, end: string) => join(to, `${kind}.${number}.${end}`);
      return number === undefined
        ? undefined
        : { cert: file("svid", "pem"), key: file("svid", "key"), bundle: file("bundle", "pem") };
    },
    stopAgent: () => agent.stop(),
    startAgent() {
      agent = startAgent();
    },
  };
}
