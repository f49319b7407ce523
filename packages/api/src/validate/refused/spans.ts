/** `google.protobuf.Duration` */
export interface Span {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** Whether both durations are set and the first is shorter. */
export function isShorter(one: Span | undefined, other: Span | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.seconds < other.seconds || (one.seconds === other.seconds && one.nanos < other.nanos);
}
