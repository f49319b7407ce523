import { largestWindow } from "./frames.js";
import { ConnectionError, http2Error } from "./http2-errors.js";

/** What the peer says of itself that matters to a server which pushes nothing and uses no dynamic table (RFC 9113, 6.5.2). */
export interface PeerSettings {
  /** The window of each of its streams at their start. */
  window: number;
  /** The largest payload that it takes. */
  frameBytes: number;
}

/** Reads a SETTINGS frame, whose size was checked, into what is known. Throws a ConnectionError for values that must not be. */
export function readSettings(payload: Buffer, settings: PeerSettings): void {
  for (let at = 0; at < payload.length; at += 6) {
    const value = payload.readUInt32BE(at + 2);
    switch (payload.readUInt16BE(at)) {
      case 2:
        if (value > 1) throw new ConnectionError(http2Error.protocolError, "ENABLE_PUSH is neither 0 nor 1");
        break;
      case 4:
        if (value > largestWindow) throw new ConnectionError(http2Error.flowControlError, "a window is too large");
        settings.window = value;
        break;
      case 5:
        if (value < 16_384 || value > 16_777_215) {
          throw new ConnectionError(http2Error.protocolError, "MAX_FRAME_SIZE is out of range");
        }
        settings.frameBytes = value;
        break;
      default:
      // Others are about what we do not do, or are not known and mean nothing (6.5.2).
    }
  }
}
