/**
 * A set in a field: nothing, its only member, or a `Set` of several. With one member it costs no extra memory. No
 * member is a `Set`.
 */
export type Few<Member> = Member | Set<Member> | undefined;

/** The set with one more member. Replaces the given set, which may be changed. */
export function fewWith<Member>(few: Few<Member>, member: Member): Few<Member> {
  if (few === undefined || few === member) return member;
  return few instanceof Set ? few.add(member) : new Set([few, member]);
}

/** The set without a member. Replaces the given set, which may be changed. */
export function fewWithout<Member>(few: Few<Member>, member: Member): Few<Member> {
  if (few instanceof Set) few.delete(member);
  else if (few === member) return undefined;
  return few;
}

/** The size of a set. */
export function fewSize<Member>(few: Few<Member>): number {
  return few instanceof Set ? few.size : few === undefined ? 0 : 1;
}

/** Whether a set has a member. */
export function fewHas<Member>(few: Few<Member>, member: Member): boolean {
  return few instanceof Set ? few.has(member) : few !== undefined && few === member;
}

/** The current members, in insertion order. */
export function fewMembers<Member>(few: Few<Member>): readonly Member[] {
  return few === undefined ? [] : few instanceof Set ? [...few] : [few];
}
