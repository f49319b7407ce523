import { createRequire } from "node:module";
import type { Socket } from "node:net";

/** What is used of the package koffi, which calls functions of C libraries. */
interface Koffi {
  load(library: null): { func(declaration: string): (...values: readonly unknown[]) => number };
}

type GetOption = (descriptor: number, level: number, name: number, value: Uint32Array, length: Uint32Array) => number;

/** `SOL_SOCKET` and `SO_PEERCRED` of Linux, whose value is a process, a user and a group of 32 bits each. */
const peerCredentials = [1, process.arch === "ppc64" ? 21 : 17] as const;

let getOption: GetOption | undefined;

/**
 * Makes users of Unix sockets known (`unixUserOf`), and returns why that cannot be; undefined: they are known. Node
 * cannot ask the kernel who called, so the package `koffi` must be installed beside this one, on Linux.
 */
export function knowUnixUsers(): string | undefined {
  if (process.platform !== "linux") return "which user calls over a Unix socket is known on Linux only";
  if (getOption !== undefined) return undefined;
  try {
    const koffi = createRequire(import.meta.url)("koffi") as Koffi;
    getOption = koffi.load(null).func("int getsockopt(int, int, int, _Out_ uint32_t *, _Inout_ uint32_t *)");
  } catch {
    return "which user calls over a Unix socket is known only with the package koffi: npm install koffi beside xdskit";
  }
  return undefined;
}

/**
 * The number of the user who connected to a Unix socket, as the kernel says; undefined: the connection has ended, or
 * nobody called `knowUnixUsers` with success.
 */
export function unixUserOf(socket: Socket): number | undefined {
  // Node has no public name for it.
  const { fd = -1 } = (socket as { readonly _handle?: { readonly fd?: number } | null })._handle ?? {};
  if (getOption === undefined || fd < 0) return undefined;
  const value = new Uint32Array(3);
  return getOption(fd, ...peerCredentials, value, Uint32Array.of(value.byteLength)) === 0 ? value[1] : undefined;
}
