import { printable } from "@xdskit/api";
import { statusCode } from "@xdskit/protocol";
import { dropOldest, type ServerEvent } from "@xdskit/server";
import type { Trouble } from "../contract/admin-options.js";
import { addressOfPeer } from "../log/event-log.js";
import { largeText } from "../log/large-text.js";

/** How long a trouble is told after it was seen last, in milliseconds: clients come back every few seconds. */
const reportedMs = 10 * 60_000;
/** Of how many clients it is known. */
const most = 100;

interface SeenTrouble {
  readonly trouble: Trouble;
  readonly times: number;
  readonly last: number;
}

/** Clients that come again and again, and get nowhere. Once is no trouble: a port check, a client that was stopped. */
export class ClientTroubles {
  /** By client and reason, the one that was seen last at the end. */
  readonly #seen = new Map<string, SeenTrouble>();

  note(event: ServerEvent, now: number): void {
    const texts = textsOf(event);
    if (texts === undefined) return;
    const { title, message, key = [title, message.replaceAll(/\d+/g, "0")].join(" ") } = texts;
    const known = this.#seen.get(key);
    const isLasting = known !== undefined && now - known.last <= reportedMs;
    const trouble: Trouble = { kind: "client", severity: "warning", title, message, since: now };
    this.#seen.delete(key);
    const before = isLasting ? known : { trouble, times: 0 };
    this.#seen.set(key, { trouble: before.trouble, times: before.times + 1, last: now });
    dropOldest(this.#seen, most);
  }

  now(now: number): readonly Trouble[] {
    const lasting = [...this.#seen.values()].filter(({ times, last }) => times > 1 && now - last <= reportedMs);
    return lasting.map(({ trouble }) => trouble);
  }
}

interface TroubleTexts extends Pick<Trouble, "message"> {
  readonly title: string;
  /** What tells it from others, if that is not what it says. */
  readonly key?: string;
}

function textsOf(event: ServerEvent): TroubleTexts | undefined {
  if (event.kind === "handshake-failed") {
    return { title: `Connections from ${addressOfPeer(event.peer)} fail`, message: printable(event.reason) };
  }
  if (event.kind === "stream-refused") {
    // A server that stops, or has nothing yet, is no fault of the client's.
    if (event.code === statusCode.unavailable) return undefined;
    const address = addressOfPeer(event.stream.peer);
    const { node, code } = event;
    // It may claim any id, and another one each time: that must not hide the troubles of others.
    const title = node === undefined ? `${address} is refused` : `${printable(node.id)} at ${address} is refused`;
    return { title, message: printable(event.message), key: `refused ${address} ${code}` };
  }
  if (event.kind !== "large-response-unanswered") return undefined;
  const { stream, type } = event;
  return {
    title: `${printable(stream.node.id)} does not take the ${type.name} configuration`,
    message: largeText(event),
  };
}
