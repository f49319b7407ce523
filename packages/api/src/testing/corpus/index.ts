export { knownClusters } from "./blocks.js";
export { type Case, type CorpusOptions, corpus, unreached } from "./corpus.js";
export { type Extension, type Extensions, readExtensions } from "./extensions.js";
