import { defaultFrameBytes, defaultWindow, largestWindow } from "./frames.js";
import { ConnectionError, http2Error } from "./http2-errors.js";

/** The peer's settings that matter to a server without push and without a dynamic table (RFC 9113, 6.5.2). */
export interface PeerSettings {
  /** The window of each of its streams at their start. */
  window: number;
  /** The largest payload that it takes. */
  frameBytes: number;
  /**
   * It made the table for our fields smaller, so our next header block must begin with the new size (RFC 7541, 4.2).
   */
  isTableToShrink: boolean;
  /** The size of the table that it was last told, or the default. */
  tableBytes: number;
}

/** The settings until the peer sends its own. */
export function startSettings(): PeerSettings {
  return { window: defaultWindow, frameBytes: defaultFrameBytes, isTableToShrink: false, tableBytes: 4_096 };
}

/**
 * The next header block to send. If the peer's table became smaller, the block begins with the table's new size,
 * without which some peers end the connection.
 */
export function agreeOnTable(settings: PeerSettings, block: Uint8Array): Uint8Array {
  if (!settings.isTableToShrink) return block;
  settings.isTableToShrink = false;
  settings.tableBytes = 0;
  return Buffer.concat([tableOfNothing, block]);
}

const tableOfNothing = Buffer.of(0x20);

/**
 * Reads a SETTINGS frame, whose size was checked, into the peer's settings. Throws a ConnectionError for values that
 * are not allowed.
 */
export function readSettings(payload: Buffer, settings: PeerSettings): void {
  for (let at = 0; at < payload.length; at += 6) {
    const value = payload.readUInt32BE(at + 2);
    switch (payload.readUInt16BE(at)) {
      case 1:
        if (value < settings.tableBytes) settings.isTableToShrink = true;
        break;
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
      // Other settings are about features that we do not have, or are unknown and mean nothing (6.5.2).
    }
  }
}
