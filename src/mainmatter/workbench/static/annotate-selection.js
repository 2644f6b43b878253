// @ts-check
/** The active block, and the range of selected blocks. */
export class Selection {
  constructor() {
    this.size = 0;
    this.active = 0;
    this.anchor = 0;
  }

  /** @param {number} size how many blocks there are */
  open(size) {
    this.size = size;
    this.active = 0;
    this.anchor = 0;
  }

  get first() {
    return Math.min(this.active, this.anchor);
  }

  get last() {
    return Math.max(this.active, this.anchor);
  }

  /** The numbers of all selected blocks. */
  get blocks() {
    return this.size ? range(this.first, this.last) : [];
  }

  /** @param {number} block */
  has(block) {
    return this.size > 0 && block >= this.first && block <= this.last;
  }

  /**
   * @param {number} block
   * @param {boolean} [extend] leave the other end of the selection where it is
   */
  goTo(block, extend = false) {
    this.active = Math.max(0, Math.min(block, this.size - 1));
    if (!extend) this.anchor = this.active;
  }

  /**
   * One step from the selection.
   * @param {1 | -1} step
   * @param {boolean} [extend]
   */
  step(step, extend = false) {
    const from = extend ? this.active : step > 0 ? this.last : this.first;
    this.goTo(from + step, extend);
  }
}

/**
 * @param {number} one
 * @param {number} other
 */
export function range(one, other) {
  const first = Math.min(one, other);
  return Array.from({ length: Math.abs(one - other) + 1 }, (_, i) => first + i);
}
