import { InvalidArgumentError, type Option } from "commander";
import { readDurationWithUnit, readOption, wordOption } from "./arguments.js";

/** The options that every command has which speaks with a running server's API. */
export interface ServerOptions {
  readonly server: URL;
  readonly output: "text" | "json";
}

/** `--server URL`. */
export function serverOption(): Option {
  return readOption(
    "--server <url>",
    "the admin listener of a running server, or unix:/PATH",
    readServer,
    "http://127.0.0.1:19000",
  ).env("XDSKIT_SERVER");
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
