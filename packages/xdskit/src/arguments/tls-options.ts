import type { Command } from "commander";
import type { TlsOptions } from "../settings/options/tls-options.js";

/** The names of these options in the parsed result. */
export const tlsOptionNames = [
  "tls",
  "tlsCa",
  "tlsCert",
  "tlsKey",
  "tlsServerName",
  "tokenFile",
] as const satisfies readonly (keyof TlsOptions)[];

/** Client and server, as the help calls them. */
interface TlsWords {
  readonly client?: string;
  readonly server?: string;
}

/** Adds the options for TLS to a server. */
export function addTlsOptions(command: Command, { client = "client", server = "server" }: TlsWords = {}): Command {
  return command
    .option("--tls", "use TLS, and trust the certificates that Node.js trusts")
    .option("--tls-ca <file>", "use TLS, and trust the certificates in a PEM file")
    .option("--tls-cert <file>", `the ${client}'s certificate (PEM)`)
    .option("--tls-key <file>", "its key (PEM)")
    .option("--tls-server-name <name>", `the name that the ${server}'s certificate must have`);
}

/** Adds the option of a token; it is read again for `each`. */
export function addTokenOption(command: Command, each: "stream or poll" | "stream" | "connection"): Command {
  return command.option(
    "--token-file <file>",
    `a token to send as authorization: Bearer …; read again for each ${each}`,
  );
}

/** Ends with a usage error where one half of a pair is missing, or content is given instead of a path. */
export function refuseHalfPair(options: TlsOptions, command: Command): void {
  refuseContents(options, command);
  if ((options.tlsCert === undefined) !== (options.tlsKey === undefined))
    command.error("error: --tls-cert and --tls-key need each other");
}

/**
 * Ends with a usage error where the content of a file is given instead of its path: errors show paths, and must not
 * show keys.
 */
export function refuseContents({ tlsCa, tlsCert, tlsKey }: TlsOptions, command: Command): void {
  for (const [option, path] of Object.entries({ "--tls-ca": tlsCa, "--tls-cert": tlsCert, "--tls-key": tlsKey })) {
    if (path?.includes("-----BEGIN "))
      command.error(`error: ${option} wants the path of a file, and not what stands in it`);
  }
}
