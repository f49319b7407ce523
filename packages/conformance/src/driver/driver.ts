/** Resources in proto3 JSON, by type URL and name: the whole configuration that the server has to serve. */
export type DrivenContent = Readonly<Record<string, Readonly<Record<string, object>>>>;

/** Changes what the server serves. */
export interface Driver {
  /** Resolves once the server serves exactly this. Throws Failed if the driver cannot. */
  set(content: DrivenContent): Promise<void>;
  /** Whether the driver said that it can restart the server. */
  readonly canRestart: boolean;
  /** Resolves once the restarted server serves what it served. Throws Failed if the driver cannot. */
  restart(): Promise<void>;
  close(): void;
}

/** What is written to a driver. */
export type DriverOrder = { readonly set: DrivenContent } | { readonly restart: true };

/** How long a driver may take. */
export const driverMs = 20_000;
