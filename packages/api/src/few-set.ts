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

/**
 * A set that mostly has one member, and then costs next to nothing: a `Set` takes some 200 bytes. Its members stand in
 * the order in which they came. An iteration does not see what is added or deleted meanwhile.
 */
export class FewSet<Member> implements Iterable<Member> {
  #members: Few<Member>;

  /** How many there are. */
  get size(): number {
    return fewSize(this.#members);
  }

  /** Adds a member, which is no `Set` itself. */
  add(member: Member): void {
    this.#members = fewWith(this.#members, member);
  }

  /** Whether it is a member. */
  has(member: Member): boolean {
    return fewHas(this.#members, member);
  }

  /** False where it was none. */
  delete(member: Member): boolean {
    const wasThere = this.has(member);
    this.#members = fewWithout(this.#members, member);
    return wasThere;
  }

  /** The members as they are now. */
  [Symbol.iterator](): Iterator<Member> {
    return fewMembers(this.#members)[Symbol.iterator]();
  }
}
