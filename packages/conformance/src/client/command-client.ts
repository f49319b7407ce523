import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StartClient } from "./client-peer.js";

/** The bootstrap of gRPC's clients. */
function grpcBootstrap(address: string): object {
  const server = { server_uri: address, channel_creds: [{ type: "insecure" }], server_features: ["xds_v3"] };
  return { xds_servers: [server], node: { id: "xds-conformance", locality: {} } };
}

/**
 * A client that is a command. Its environment says where the server is: `XDS_SERVER` has the address, and
 * `GRPC_XDS_BOOTSTRAP` the file that gRPC's clients read. What it prints goes to `err`.
 */
export function commandClient([command = "", ...args]: readonly string[], err: (text: string) => void): StartClient {
  return (address) => {
    const folder = mkdtempSync(join(tmpdir(), "xds-conformance-client-"));
    const file = join(folder, "grpc.json");
    writeFileSync(file, JSON.stringify(grpcBootstrap(address)));
    const env = { ...process.env, XDS_SERVER: address, GRPC_XDS_BOOTSTRAP: file };
    // A group of its own, so that what it starts ends with it.
    // Its input stays open: there are clients that end with it.
    const child = spawn(command, args, { env, stdio: ["pipe", "ignore", "pipe"], detached: true });
    child.stdin?.on("error", () => {});
    child.stderr?.on("data", (text: Buffer) => err(text.toString()));
    child.on("error", (error) => err(`${command} cannot be started: ${error.message}\n`));
    return () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended.
      }
      rmSync(folder, { recursive: true, force: true });
    };
  };
}
