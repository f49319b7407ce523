import type { ResourceType, Version, XdskitError } from "@xdskit/api";
import type { BadResource, ResourceUpdate } from "@xdskit/protocol";

/** An event of a client, for logs, metrics and programs. `server` is the address, the URL, or the path of a file. */
export type ClientEvent =
  /** A stream is up, or the first poll was answered. One event a stream, at the latest with its first response. */
  | { readonly kind: "connected"; readonly server: string; readonly type: ResourceType | undefined }
  /** The stream ended. `error` is undefined if the stream is not needed any more, or the server ended it with OK. */
  | {
      readonly kind: "disconnected";
      readonly server: string;
      readonly type: ResourceType | undefined;
      readonly error: { readonly code: number; readonly message: string } | undefined;
    }
  /** An attempt, a poll or a file failed, or a file was rejected (`nack`). */
  | {
      readonly kind: "failed";
      readonly server: string;
      readonly type: ResourceType | undefined;
      readonly error: XdskitError;
      readonly nack: boolean;
    }
  /**
   * A response or a file was read. `good` resources can be taken, including those that did not change. Comes before the
   * events about its changes and rejections.
   */
  | { readonly kind: "responded"; readonly server: string; readonly type: ResourceType; readonly good: number }
  /** The changes of one response, file or moment. Comes before the watchers are called. */
  | { readonly kind: "updated"; readonly server: string; readonly update: ResourceUpdate }
  | {
      readonly kind: "rejected";
      readonly server: string;
      readonly type: ResourceType;
      readonly version: Version;
      readonly message: string;
      readonly bad: readonly BadResource[];
    }
  /** Another server of the list answers from now on (A71). */
  | { readonly kind: "switched"; readonly from: string; readonly to: string }
  /** A watcher threw or took too long. */
  | { readonly kind: "watcher-failed"; readonly type: ResourceType; readonly error: unknown };

/** Receives every event of a client. An error that it throws becomes a warning of the process. */
export type ClientListener = (event: ClientEvent) => void;
