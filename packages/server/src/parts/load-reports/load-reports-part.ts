import { checkServerCall } from "../../configuration/option-tables.js";
import type { Kernel } from "../../contracts/parts/kernel.js";
import type { PluggedPart } from "../../contracts/parts/part.js";
import { createLoadReports, loadReportingServices } from "./load-reports.js";

const off = "load reporting (LRS, load_reports in the settings) is turned off on this server";

/** The load that clients report (LRS). */
export function loadReportsPart(kernel: Kernel): PluggedPart {
  const { options, types, limits, events, groups, calls } = kernel;
  const { method, reports, totals, regrouped, close } = createLoadReports({
    limits,
    groups,
    events,
    defaultNode: options.defaultNode,
    settings: options.loadReports || undefined,
    clusters: types.find("cluster"),
    refused: calls.refused,
  });
  const services = (["v3", "v2"] as const).map((api) => {
    const name = loadReportingServices[api];
    return { name, methods: { StreamLoadStats: method(api, (peer) => calls.info(name, peer)) } };
  });
  return {
    services: [{ services, off: options.loadReports === false ? off : undefined, recordsErrors: true }],
    answers: {
      loadReports(filter = {}) {
        checkServerCall("server.loadReports", filter);
        return reports(filter);
      },
      loadTotals: totals,
    },
    reconfigured: regrouped,
    closed: close,
  };
}
