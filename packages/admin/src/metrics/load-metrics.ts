import type { Row, Scrape } from "./scrape.js";

/** Load reports (LRS). */
export function addLoadMetrics(scrape: Scrape): void {
  scrape.gauge("xdskit_load_report_streams_open", "Open streams of load reports (LRS).", ["api"], () =>
    scrape.loads.streams.map(({ api, open }) => [api, open]),
  );
  scrape.counter("xdskit_load_reports_total", "Load reports received.", ["api"], () =>
    scrape.loads.streams.map(({ api, reports }) => [api, reports]),
  );
  const nodes = "Nodes whose load report is kept.";
  scrape.gauge("xdskit_load_report_nodes", nodes, [], () => [[scrape.loads.nodes]]);
  const labels = ["cluster", "region", "zone", "sub_zone"];
  const localities = (field: "successful" | "errors" | "issued" | "inProgress", ...result: readonly string[]) =>
    scrape.loads.localities.map(
      ({ cluster, locality: { region, zone, subZone }, [field]: value }): Row => [
        cluster,
        region,
        zone,
        subZone,
        ...result,
        value,
      ],
    );
  const ended = "Requests that ended with success or error, as clients reported them.";
  scrape.counter("xdskit_load_requests_total", ended, [...labels, "result"], () => [
    ...localities("successful", "success"),
    ...localities("errors", "error"),
  ]);
  const issued = "Requests that began, as clients reported them.";
  scrape.counter("xdskit_load_requests_issued_total", issued, labels, () => localities("issued"));
  const inProgress = "Requests in progress, as clients with a stream last reported.";
  scrape.gauge("xdskit_load_requests_in_progress", inProgress, labels, () => localities("inProgress"));
  const drops = "Requests that clients dropped on purpose; (none) means no category, such as circuit breaking.";
  scrape.counter("xdskit_load_drops_total", drops, ["cluster", "category"], () =>
    scrape.loads.drops.map(({ cluster, category, count }) => [cluster, category, count]),
  );
}
