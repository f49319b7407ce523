import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { xdskitCommand } from "./xdskit.js";

const execute = promisify(execFile);

/** What `xdskit status --json` says of one client, as far as tests look at it. */
export interface ClientStatus {
  readonly id: string;
  readonly scope: string;
  readonly userAgent: string;
  readonly state: string;
  readonly types: readonly {
    readonly type: string;
    readonly state: string;
    readonly acknowledged?: string;
    readonly rejected?: string;
    readonly behind: number;
    readonly error?: { readonly details: string };
    readonly resources: readonly { readonly name: string; readonly state: string }[];
  }[];
}

/** Asks whoever listens at `server`. */
export async function clientStatus(server: string): Promise<readonly ClientStatus[]> {
  return JSON.parse(await statusText(server, "--json")).nodes;
}

/** What `xdskit status` prints for people, or with other options. */
export async function statusText(server: string, ...options: readonly string[]): Promise<string> {
  const { command, args } = xdskitCommand();
  return (await execute(command, [...args, "status", "--server", server, ...options], { timeout: 30_000 })).stdout;
}
