import { linkTo, replaceQuery } from "../../router.js";

/** What the query of the fleet's link says. */
export interface FleetFilters {
  readonly q: string;
  readonly state: string;
  readonly group: string;
  readonly client: string;
  readonly replica: string;
  readonly type: string;
  readonly sort: string;
  /** Between which ids: a column of the map. */
  readonly from: string;
  readonly to: string;
}

const names = ["q", "state", "group", "client", "replica", "type", "sort", "from", "to"] as const;

export function filtersOf(query: URLSearchParams): FleetFilters {
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? ""])) as unknown as FleetFilters;
}

/** The same filters as the API takes them. Values may have commas. */
export function apiQuery({ sort: _, ...rest }: FleetFilters, more: Readonly<Record<string, string>> = {}): string {
  const values = (value: string) => value.replaceAll(",", "%2C");
  const given = {
    ...rest,
    group: values(rest.group),
    client: values(rest.client),
    replica: values(rest.replica),
    ...more,
  };
  return new URLSearchParams(Object.entries(given).filter(([, value]) => value !== "")).toString();
}

/** The same with the order of the list: what is worst comes first, if nobody says another one. */
export function rowsQuery(filters: FleetFilters): string {
  const sort = filters.sort === "" ? "state" : filters.sort;
  const order = sort.startsWith("-") ? "desc" : "";
  return apiQuery(filters, { sort: sort.replace(/^-/, ""), order, revisions: "true" });
}

export function setFilters(change: Partial<FleetFilters>): void {
  replaceQuery(change);
}

/** A link to the fleet with these filters alone. */
export function fleetLink(filters: Partial<FleetFilters>): string {
  return linkTo("fleet", [], filters);
}

export function isFiltered({ sort: _, ...filters }: FleetFilters): boolean {
  return Object.values(filters).some((value) => value !== "");
}
