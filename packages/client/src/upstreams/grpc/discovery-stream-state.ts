import type { UpstreamStream } from "./stream-transport.js";

/** Nothing is wanted, or the stream was closed for good. Invariant: no stream, and no timer of this state. */
interface IdleState {
  readonly kind: "idle";
}

/** The current resources are being updated before an attempt. Invariant: nothing starts meanwhile. */
interface PreparingState {
  readonly kind: "preparing";
}

/** Waits for the time of the next attempt. */
interface BackingOffState {
  readonly kind: "backing-off";
  readonly stopTimer: () => void;
}

/** The stream was asked for, and the connection is not up yet. Invariant: nothing is sent or read. */
interface ConnectingState {
  readonly kind: "connecting";
  readonly stream: UpstreamStream;
  /** Milliseconds, as all times here. */
  readonly startedAt: number;
}

/**
 * Requests and responses go. Invariants: at most one request is being written, and at most one response is asked for.
 * While `stopPace` is set, none is.
 */
export interface OpenState {
  readonly kind: "open";
  readonly stream: UpstreamStream;
  readonly startedAt: number;
  readonly openedAt: number;
  /** The server answered, and kept to the protocol. */
  isAnswered: boolean;
  isWriting: boolean;
  isReading: boolean;
  /** When the response was asked for. */
  readAt: number;
  /** Ends the wait of the pace; undefined if the next response may be read. */
  stopPace: (() => void) | undefined;
  /** Ends the time for which a stream that nobody needs stays open. */
  stopLinger: () => void;
}

/**
 * The client is done, and the server must end the stream. Invariant: the machine knows of no stream; what is still
 * read is thrown away.
 */
interface EndingState {
  readonly kind: "ending";
  readonly stream: UpstreamStream;
  isReading: boolean;
  /** Ends the time that the server has. */
  stopFarewell: () => void;
}

/** What a stream to a server is doing. Only `DiscoveryStream` goes from one state to another. */
export type DiscoveryStreamState =
  | IdleState
  | PreparingState
  | BackingOffState
  | ConnectingState
  | OpenState
  | EndingState;

export const idle: IdleState = { kind: "idle" };
export const preparing: PreparingState = { kind: "preparing" };

const nothing = () => {};

/** The connection is up. */
export function opened({ stream, startedAt }: ConnectingState, now: number): OpenState {
  return {
    kind: "open",
    stream,
    startedAt,
    openedAt: now,
    isAnswered: false,
    isWriting: false,
    isReading: false,
    readAt: now,
    stopPace: undefined,
    stopLinger: nothing,
  };
}

/** The client needs the open stream no more. */
export function finished(open: OpenState): EndingState {
  const { stream, isReading } = open;
  return { kind: "ending", stream, isReading, stopFarewell: nothing };
}

/** Of a state that was left. */
export function stopTimers(left: DiscoveryStreamState): void {
  switch (left.kind) {
    case "backing-off":
      left.stopTimer();
      break;
    case "open":
      left.stopPace?.();
      left.stopLinger();
      break;
    case "ending":
      left.stopFarewell();
      break;
  }
}

/** The stream that a state has. */
export function streamOf(state: DiscoveryStreamState): UpstreamStream | undefined {
  return "stream" in state ? state.stream : undefined;
}
