export { type Case, type CorpusOptions, corpus, unreached } from "./corpus.js";
export { configurableExtensions, type Extension, type Extensions } from "./extensions.js";
export { knownClusters } from "./hints/blocks.js";
