import type { Progress, StreamRecorder } from "../contracts/parts/progress.js";

/** Tells all of them. */
export function joinedProgress(each: readonly Progress[]): Progress {
  // A push tells each stream's progress: only those are called that want to hear of it.
  const hearing = each.flatMap((one) => (one.progressed === undefined ? [] : [one as Required<Progress>]));
  const recording = each.flatMap((one) => (one.recorderOf === undefined ? [] : [one as Required<Progress>]));
  const [onlyRecording] = recording.length === 1 ? recording : [];
  return {
    published(revision, changes) {
      for (const one of each) one.published?.(revision, changes);
    },
    progressed(stream) {
      for (const one of hearing) one.progressed(stream);
    },
    left(stream, nodeId) {
      for (const one of each) one.left?.(stream, nodeId);
    },
    recorderOf(nodeId) {
      if (onlyRecording !== undefined) return onlyRecording.recorderOf(nodeId);
      const recorders = recording.flatMap((one) => one.recorderOf(nodeId) ?? []);
      return recorders.length > 1 ? joinedRecorder(recorders) : recorders[0];
    },
  };
}

function joinedRecorder(each: readonly StreamRecorder[]): StreamRecorder {
  return {
    sent(response, now) {
      for (const one of each) one.sent(response, now);
    },
    acknowledged(type, version, now) {
      for (const one of each) one.acknowledged(type, version, now);
    },
  };
}
