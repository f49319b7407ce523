import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import type { Certificate } from "../../../../packages/api/src/testing/certificates.js";
import type { Scene } from "../basics/scene.js";

export interface HandshakeOptions {
  readonly port: number;
  /** The host that the server's certificate must name. */
  readonly host: string;
  /** What the client trusts, as PEM. */
  readonly trusted: string;
  /** What the client shows. */
  readonly client?: Certificate;
}

/**
 * One request over a new connection: the serial number of the certificate that the server showed. Rejects with what
 * went wrong.
 */
export function handshake({ port, host, trusted, client }: HandshakeOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const shown = client === undefined ? {} : { cert: client.certificate, key: client.key };
    const options = { host: "127.0.0.1", port, servername: host, headers: { host }, ca: trusted, ...shown };
    const outgoing = request({ ...options, agent: false, timeout: 5_000 }, (response) => {
      const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate();
      response.on("error", reject).resume();
      if (response.statusCode === 200) response.on("end", () => resolve(serialNumber));
      else reject(new Error(`status ${response.statusCode}`));
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer within 5 s")));
    outgoing.on("error", reject).end();
  });
}

/** New TLS connections, one after the other on several lanes. */
export interface Handshakes {
  /** How many have been made, each with a request that was answered. */
  count(): number;
  /** Everything that went wrong; a test that allows nothing compares with []. */
  failures(): readonly string[];
  /** The serial number of the certificate that was seen last. */
  serial(): string | undefined;
  stop(): Promise<unknown>;
}

const lanes = 8;
const pauseMs = 10;

/** Starts some hundred handshakes a second. */
export function startHandshakes(scene: Scene, options: HandshakeOptions): Handshakes {
  const failures: string[] = [];
  let count = 0;
  let serial: string | undefined;
  let stopping = false;
  const run = async (): Promise<void> => {
    while (!stopping) {
      try {
        serial = await handshake(options);
        count += 1;
      } catch (error) {
        failures.push(`after ${count} handshakes: ${String(error)}`);
      }
      await sleep(pauseMs);
    }
  };
  const done = Promise.all(Array.from({ length: lanes }, run));
  const stop = (): Promise<unknown> => {
    stopping = true;
    return done;
  };
  scene.onEnd(stop);
  return { count: () => count, failures: () => failures, serial: () => serial, stop };
}
