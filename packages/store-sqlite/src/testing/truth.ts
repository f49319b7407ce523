/** What a store acknowledged. */
export interface Truth {
  readonly layer: string;
  /** What each revision holds, by its id: contents by the names of resources. */
  readonly revisions: Readonly<Record<string, Readonly<Record<string, string>>>>;
}
