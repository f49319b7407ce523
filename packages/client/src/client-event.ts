import type { ResourceType, Version, XdskitError } from "@xdskit/api";
import type { BadResource, ResourceUpdate } from "@xdskit/protocol";

/** What happens in a client; for logs, metrics, and what is built on it. `server` is the address, the URL, or the path of a file. */
export type ClientEvent =
  /** A stream is up (or, over REST, the first answer came). One event a stream; at the latest with its first response. */
  | { readonly kind: "connected"; readonly server: string; readonly type: ResourceType | undefined }
  /** It ended; `error` is undefined where nobody needs it any more, or the server ended it with OK. */
  | {
      readonly kind: "disconnected";
      readonly server: string;
      readonly type: ResourceType | undefined;
      readonly error: { readonly code: number; readonly message: string } | undefined;
    }
  /** An attempt, a poll or a file failed; a rejected file too (`nack`). */
  | {
      readonly kind: "failed";
      readonly server: string;
      readonly type: ResourceType | undefined;
      readonly error: XdskitError;
      readonly nack: boolean;
    }
  /** A response, or a file, was read: `good` of its resources can be taken, also those that came again as they were. Comes before what it changed and what was rejected of it. */
  | { readonly kind: "responded"; readonly server: string; readonly type: ResourceType; readonly good: number }
  /** What became different by one response, file or moment. Comes before the watchers are called. */
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

/** Hears of everything that happens in a client. What it throws becomes a warning of the process. */
export type ClientListener = (event: ClientEvent) => void;
