import type { Fleet } from "@xdskit/fleet";
import type { Terminal } from "../output/terminal.js";

/** On a terminal one line that is written again; elsewhere a new line now and then. In milliseconds. */
const intervals = { terminal: 250, elsewhere: 5_000 };

/** Writes to standard error until it is ended. */
export function createProgress(terminal: Terminal, fleet: Fleet) {
  const isTerminal = process.stderr.isTTY === true && process.env.TERM !== "dumb";
  const { tally } = fleet;
  let last = { at: performance.now(), messages: 0 };
  const line = () => {
    const now = performance.now();
    const { messages, bytes } = tally.received;
    const rate = Math.round(((messages - last.messages) * 1_000) / Math.max(1, now - last.at));
    last = { at: now, messages };
    const connected = fleet.nodes.reduce((sum, node) => sum + (node.isConnected ? 1 : 0), 0);
    const failed = tally.streams.failed + tally.connections.failed;
    const parts = [
      `${Math.round((now - fleet.startedAt) / 1_000)} s`,
      `${connected} of ${fleet.nodes.length} connected`,
      `${fleet.complete} hold everything`,
      `${tally.changes.count} changes`,
      `${rate} messages/s`,
      `${(bytes / 1e6).toFixed(1)} MB`,
      ...(failed === 0 ? [] : [`${failed} failed: ${tally.errors()[0]?.message ?? ""}`]),
    ];
    const columns = process.stderr.columns ?? 120;
    const text = parts.join(", ");
    terminal.err(isTerminal ? `\r\u001b[2K${text.slice(0, columns - 1)}` : `${text}\n`);
  };
  const timer = setInterval(line, isTerminal ? intervals.terminal : intervals.elsewhere);
  return {
    /** Now, whatever the time. */
    show: line,
    end() {
      clearInterval(timer);
      if (isTerminal) terminal.err("\r\u001b[2K");
    },
  };
}
