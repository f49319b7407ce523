import { type GrpcPort, usualPort } from "../../api/use-ports.js";

/** Where the API is, without what names a view: `http://127.0.0.1:19000/`. */
function base(): string {
  return new URL(".", location.href.replace(/[?#].*/, "")).href;
}

/** A command that asks the API for the same. */
export function curlOf(path: string): string {
  return `curl -sf ${shellWord(`${base()}api/v1/${path}`)}`;
}

/** A command of xdskit that asks this server: `words` are what comes after `xdskit`. */
export function xdskitOf(...words: readonly string[]): string {
  const server = base().replace(/\/$/, "");
  return ["xdskit", ...words, "--server", server].map(shellWord).join(" ");
}

/** A command that asks this server over gRPC, as clients do. Undefined: its port is taken to be the usual one. */
export function overGrpc(ports: GrpcPort | undefined, ...words: readonly string[]): string {
  const { grpc, tls } = ports ?? usualPort;
  // A server that listens everywhere is reached where the page is.
  const server = (grpc ?? usualPort.grpc).replace(/^(0\.0\.0\.0|\[::\]):/, `${location.hostname}:`);
  const secured = tls === "off" ? [] : ["--tls-ca", "FILE"];
  const shown = tls === "mutual" ? ["--tls-cert", "FILE", "--tls-key", "FILE"] : [];
  return ["xdskit", ...words, "--server", server, ...secured, ...shown].map(shellWord).join(" ");
}

/** A word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
