import type { Readable } from "node:stream";

/** Who hears of names that come and go. */
export interface NameCommands {
  subscribe(name: string): void;
  unsubscribe(name: string): void;
  /** A line that says neither. */
  unknown(line: string): void;
}

/** A line of standard input may have so many characters; what is longer is no name. */
const mostCharacters = 65_536;

/** Reads `+NAME` and `-NAME`, one a line; the end of the input changes nothing. Returns what stops it. */
export function followNames(input: Readable, commands: NameCommands): () => void {
  let rest = "";
  const take = (line: string) => {
    const text = line.trim();
    const name = text.slice(1).trim();
    if (text === "") return;
    if (name !== "" && text.startsWith("+")) commands.subscribe(name);
    else if (name !== "" && text.startsWith("-")) commands.unsubscribe(name);
    else commands.unknown(text);
  };
  const onData = (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
    if (rest.length > mostCharacters) {
      commands.unknown(rest);
      rest = "";
    }
  };
  const onEnd = () => take(rest);
  // A terminal or pipe that went away is an end like any other.
  const onError = () => {};
  input.setEncoding("utf8").on("data", onData).once("end", onEnd).on("error", onError);
  return () => {
    input.off("data", onData).off("end", onEnd).pause();
    input.destroy();
  };
}
