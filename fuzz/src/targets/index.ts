import type { FuzzTarget } from "../kit/target.js";
import { answers } from "./answers.js";
import { bodies } from "./bodies.js";
import { bootstraps } from "./bootstraps.js";
import { client } from "./client.js";
import { crowd } from "./crowd.js";
import { files } from "./files.js";
import { http2 } from "./http2.js";
import { names } from "./names.js";
import { rest } from "./rest.js";
import { server } from "./server.js";
import { settings } from "./settings.js";
import { stream } from "./stream.js";
import { wire } from "./wire.js";

/** All targets. */
export const targets: readonly FuzzTarget[] = [
  files,
  bodies,
  settings,
  bootstraps,
  names,
  stream,
  client,
  crowd,
  server,
  wire,
  http2,
  rest,
  answers,
];

/** Those whose clients a server must forget: `leftovers.test.ts` tries them, `fuzz.test.ts` the others. */
export const leavingClients: readonly FuzzTarget[] = [server, wire, rest];
