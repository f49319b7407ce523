/** Where a command writes. Standard output holds what programs read; everything for people goes to standard error. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
}

/** The terminal of this process. A reader that went away (`xdskit … | head`) ends nothing: what it no longer reads is dropped. */
export function processTerminal(): Terminal {
  process.stdout.on("error", dropBrokenPipe);
  process.stderr.on("error", dropBrokenPipe);
  return { out: (text) => void process.stdout.write(text), err: (text) => void process.stderr.write(text) };
}

function dropBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}
