/** A set in a field: nothing, its only member, or a `Set` of several. With one member it costs the field alone. No member is a `Set`. */
export type Few<Member> = Member | Set<Member> | undefined;

/** A set with one member more, in the place of the one given, which may be changed. */
export function fewWith<Member>(few: Few<Member>, member: Member): Few<Member> {
  if (few === undefined || few === member) return member;
  return few instanceof Set ? few.add(member) : new Set([few, member]);
}

/** A set without a member, in the place of the one given, which may be changed. */
export function fewWithout<Member>(few: Few<Member>, member: Member): Few<Member> {
  if (few instanceof Set) few.delete(member);
  else if (few === member) return undefined;
  return few;
}

/** How many are in a set. */
export function fewSize<Member>(few: Few<Member>): number {
  return few instanceof Set ? few.size : few === undefined ? 0 : 1;
}

/** Whether a set has a member. */
export function fewHas<Member>(few: Few<Member>, member: Member): boolean {
  return few instanceof Set ? few.has(member) : few !== undefined && few === member;
}

/** The members as they are now, in the order in which they came. */
export function fewMembers<Member>(few: Few<Member>): readonly Member[] {
  return few === undefined ? [] : few instanceof Set ? [...few] : [few];
}
