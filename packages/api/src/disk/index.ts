export { type FolderListener, FolderWatches } from "./folder-watches.js";
export {
  type FollowedLink,
  type FollowedPath,
  followPath,
  type LinkCache,
  linksUnchanged,
  problemText,
  type Turn,
} from "./links.js";
export { lookMs } from "./look-ms.js";
export { contentIdentity, errnoOf, errnoText, fileKindOf, inodeOf, isAbsence, isBelow } from "./metadata.js";
export { type FileBytes, readWholeFile } from "./read-file.js";
export { type FileMode, replaceFile, replaceFiles } from "./replace-file.js";
export { version } from "./version.js";
