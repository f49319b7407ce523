export type { LayerName, LayerUpdate, Source, SourceSink } from "./source.js";
export type { Accept, Connection, ConnectionHandler, Method, Transport } from "./transport.js";
