import type { Part } from "./contracts/parts/part.js";
import { addressesPart } from "./parts/addresses/addresses-part.js";
import { arrivalsPart } from "./parts/arrivals/arrivals-part.js";
import { clientStatusPart } from "./parts/client-status/client-status-part.js";
import { loadReportsPart } from "./parts/load-reports/load-reports-part.js";
import { nodeStatusPart } from "./parts/node-status/node-status-part.js";
import { onDemandPart } from "./parts/on-demand/on-demand-part.js";
import { referencesPart } from "./parts/references/references-part.js";
import { rolloutsPart } from "./parts/rollouts/rollouts-part.js";

/**
 * The parts of a server that is made without `parts`. Begin with these to add one of your own:
 * `createServer({ parts: [...defaultParts, mine] })`.
 */
export const defaultParts: readonly Part[] = [
  rolloutsPart,
  onDemandPart,
  referencesPart,
  addressesPart,
  arrivalsPart,
  nodeStatusPart,
  loadReportsPart,
  clientStatusPart,
];
