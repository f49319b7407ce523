import { type Command, InvalidArgumentError, Option } from "commander";
import type { ApiServer } from "../api-client/api-server.js";
import { readDurationWithUnit, readOption, wordOption } from "./arguments.js";
import { refuseHalfPair } from "./tls-options.js";

/** The options that every command has which speaks with a running server's API. */
export interface ApiServerOptions {
  readonly server: ApiServer;
  readonly output: "text" | "json";
}

/** The options as commander reads them, before they are one. */
interface ServerArguments extends Omit<ApiServer, "url"> {
  readonly server: URL;
}

/** `--token-file FILE`, for the admin listener. */
export function tokenOption(): Option {
  const what = "a token of the server's settings, to show its admin listener";
  return new Option("--token-file <file>", what).env("XDSKIT_TOKEN_FILE");
}

/** Adds `--server URL`, and what proves who asks. The action gets all of it as `server`. */
export function addServerOptions(command: Command): Command {
  return command
    .addOption(
      readOption(
        "--server <url>",
        "the admin listener of a running server, or unix:/PATH",
        readServer,
        "http://127.0.0.1:19000",
      ).env("XDSKIT_SERVER"),
    )
    .addOption(tokenOption())
    .option("--tls-ca <file>", "https: trust the certificates in this PEM file, and no others")
    .option("--tls-cert <file>", "https: the certificate to show (PEM)")
    .option("--tls-key <file>", "its key (PEM)")
    .hook("preAction", (_, called) => {
      const { server: url, tokenFile, tlsCa, tlsCert, tlsKey } = called.opts<ServerArguments>();
      refuseHalfPair({ tlsCa, tlsCert, tlsKey }, called);
      const server: ApiServer = { url, tokenFile, tlsCa, tlsCert, tlsKey };
      called.setOptionValueWithSource("server", server, called.getOptionValueSource("server") ?? "default");
    });
}

/** `--output text|json`. */
export function outputOption(): Option {
  return wordOption("-o, --output <format>", "for people, or for programs", ["text", "json"], "text");
}

/** `--timeout`, with its default. */
export function waitOption(description: string): Option {
  return readOption("--timeout <duration>", description, readDurationWithUnit, "30s");
}

/** Reads a URL; `HOST:PORT` alone is one of HTTP. */
export function readServer(text: string): URL {
  try {
    const url = new URL(/^unix:|:\/\//.test(text) ? text : `http://${text}`);
    const isKnown = ["http:", "https:"].includes(url.protocol) || /^unix:\/./.test(text);
    if (isKnown && url.search === "" && url.hash === "") return url;
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError("Expected a URL, such as http://127.0.0.1:19000 or unix:/run/xdskit/admin.sock.");
}
