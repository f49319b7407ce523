/** Where something is wrong, as far as it is known. Everything here may be shown to people: no value of a secret ever is. */
export interface Where {
  readonly file?: string | undefined;
  /** From 1. */
  readonly line?: number | undefined;
  /** From 1. */
  readonly column?: number | undefined;
  /** A field path such as `load_assignment.endpoints[0].locality`, in the proto's own spelling. */
  readonly field?: string | undefined;
  readonly resource?: string | undefined;
  /** A type URL or a type's name. */
  readonly type?: string | undefined;
  readonly node?: string | undefined;
}
