import type { Readable } from "node:stream";

/** Told of names that come and go. */
export interface NameCommands {
  subscribe(name: string): void;
  unsubscribe(name: string): void;
  /** A line of another form. */
  unknown(line: string): void;
}

/** The longest line of standard input; a longer one is not a name. */
const longestInput = 65_536;

/**
 * Reads `+NAME` and `-NAME`, one on each line; the end of the input changes nothing. Returns a function that stops it.
 */
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
    if (rest.length > longestInput) {
      commands.unknown(rest);
      rest = "";
    }
  };
  const onEnd = () => take(rest);
  // A terminal or pipe that went away counts as the end.
  const onError = () => {};
  input.setEncoding("utf8").on("data", onData).once("end", onEnd).on("error", onError);
  return () => {
    input.off("data", onData).off("end", onEnd).pause();
    input.destroy();
  };
}
