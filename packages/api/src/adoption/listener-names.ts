import type { JsonObject } from "@bufbuild/protobuf";
import { isObject } from "../text/source-document.js";
import { fieldOf, textOf } from "./form.js";

/**
 * Names for listeners of a bootstrap that have none, which Envoy allows: address and port, `0.0.0.0_8080`, with the
 * prefix `udp_` for UDP. A name stays the same as long as the address does. If it is taken, a number follows.
 */
export class ListenerNames {
  private readonly used: Set<string>;
  /**
   * The next number for each name that is taken, so that a thousand listeners at one address do not try all numbers.
   */
  private readonly numbers = new Map<string, number>();

  constructor(listeners: Iterable<JsonObject>) {
    this.used = new Set();
    for (const listener of listeners) {
      const own = textOf(listener, "name");
      if (own !== undefined) this.used.add(own);
    }
  }

  /** A name for a listener; undefined if it has one, or has no address to derive one from. */
  nameFor(listener: JsonObject): string | undefined {
    if (textOf(listener, "name") !== undefined) return undefined;
    const base = addressName(listener);
    if (base === undefined) return undefined;
    let name = base;
    let number = this.numbers.get(base) ?? 2;
    for (; this.used.has(name); number += 1) name = `${base}_${number}`;
    this.used.add(name);
    this.numbers.set(base, number);
    return name;
  }
}

function addressName(listener: JsonObject): string | undefined {
  const address = fieldOf(listener, "address");
  if (!isObject(address)) return undefined;
  const pipe = fieldOf(address, "pipe");
  if (isObject(pipe)) return textOf(pipe, "path");
  const socket = fieldOf(address, "socket_address");
  const host = isObject(socket) ? textOf(socket, "address") : undefined;
  if (!isObject(socket) || host === undefined) return undefined;
  const port = fieldOf(socket, "port_value") ?? fieldOf(socket, "named_port") ?? 0;
  const isUdp = String(fieldOf(socket, "protocol")).toUpperCase() === "UDP";
  return `${isUdp ? "udp_" : ""}${host}_${port}`;
}
