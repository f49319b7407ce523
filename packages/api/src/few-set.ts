/**
 * A set that mostly has one member, and then costs next to nothing: one of `Set` takes some 200 bytes. In the order in which members came. What is added or
 * deleted while it is gone through is not seen by who goes through it.
 */
export class FewSet<Member> implements Iterable<Member> {
  #members: Member | Set<Member> | undefined;

  /** How many there are. */
  get size(): number {
    const members = this.#members;
    return members === undefined ? 0 : members instanceof Set ? members.size : 1;
  }

  /** Adds a member, which is no `Set` itself. */
  add(member: Member): void {
    const members = this.#members;
    if (members === undefined) this.#members = member;
    else if (members instanceof Set) members.add(member);
    else if (members !== member) this.#members = new Set([members, member]);
  }

  /** Whether it is a member. */
  has(member: Member): boolean {
    const members = this.#members;
    return members instanceof Set ? members.has(member) : members !== undefined && members === member;
  }

  /** False where it was none. */
  delete(member: Member): boolean {
    const members = this.#members;
    if (members instanceof Set) return members.delete(member);
    if (members === undefined || members !== member) return false;
    this.#members = undefined;
    return true;
  }

  /** The members as they are now. */
  [Symbol.iterator](): Iterator<Member> {
    const members = this.#members;
    if (members === undefined) return [][Symbol.iterator]();
    return (members instanceof Set ? [...members] : [members])[Symbol.iterator]();
  }
}
