import type { ResourceType, Version } from "@xdskit/api";
import type { LayerChange } from "../layer-change.js";
import type { ReportedStream } from "../nodes/reported-stream.js";

/**
 * Counts, or waits for, what clients do with what they are told.
 *
 * It hears of every stream and every answer, so it must cost nothing while nobody asks it. It changes nothing of the
 * stream that it hears of, and never throws.
 */
export interface Progress {
  /** A change of the configuration made a difference, and is published after this call. Revisions count up by one. */
  published?(revision: number, changes: readonly LayerChange[]): void;
  /** A stream may stand elsewhere now: it was sent something, or its client answered. */
  progressed?(stream: ReportedStream): void;
  /** A stream of the node has ended. */
  left?(stream: ReportedStream, nodeId: string): void;
  /** Hears what one stream of the node sends and is answered; undefined: nobody needs that. */
  recorderOf?(nodeId: string): StreamRecorder | undefined;
}

/** Hears of one stream's responses and answers. `now`: in whole milliseconds of the server's clock. */
export interface StreamRecorder {
  sent(response: SentContent, now: number): void;
  acknowledged(type: ResourceType, version: Version, now: number): void;
}

/** The part of a response that a recorder is told. */
export interface SentContent {
  readonly type: ResourceType;
  readonly version: Version;
  readonly resources: number;
  readonly removed: number;
}
