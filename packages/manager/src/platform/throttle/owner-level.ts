// The owners on one level of a fair share: how much each holds, and which of them wait or waited recently.

/** The amount that one owner holds, and the number of its waiting requests. */
export type Account = {
  name: string
  uses: number
  held: number
  waiting: number
  servedAt: number
  /** True if the owner holds something or waits. */
  isActive: boolean
}

const recentWaitMs = 5_000

/** The owners on one level that hold or wait for a share, and those that waited most recently. */
export class OwnerLevel {
  readonly #accounts = new Map<string, Account>()
  #activeCount = 0
  #waitingAccountCount = 0
  // The last two owners that waited. Two are enough to tell whether an owner other than a given owner waited.
  #lastWaiter = { name: '', at: -Infinity }
  #previousWaiter = { name: '', at: -Infinity }

  /** Number of owners that hold something or wait. */
  get activeCount(): number {
    return this.#activeCount
  }

  hold(account: Account, size: number): void {
    account.held += size
    this.#updateActive(account)
  }

  #updateActive(account: Account): void {
    const isActive = account.held > 0 || account.waiting > 0
    if (isActive !== account.isActive) this.#activeCount += isActive ? 1 : -1
    account.isActive = isActive
  }

  enter(name: string, heldAmount: number): Account {
    let account = this.#accounts.get(name)
    if (account === undefined) {
      account = { name, uses: 0, held: 0, waiting: 0, servedAt: 0, isActive: false }
      this.#accounts.set(name, account)
    }
    account.uses++
    this.hold(account, heldAmount)
    return account
  }

  exit(account: Account, heldAmount: number): void {
    account.uses--
    this.hold(account, -heldAmount)
    if (account.uses === 0) this.#accounts.delete(account.name)
  }

  recordWait(name: string): void {
    if (this.#lastWaiter.name !== name) this.#previousWaiter = this.#lastWaiter
    this.#lastWaiter = { name, at: performance.now() }
  }

  beginWait(account: Account): void {
    this.recordWait(account.name)
    account.waiting++
    if (account.waiting === 1) this.#waitingAccountCount++
    this.#updateActive(account)
  }

  endWait(account: Account): void {
    this.recordWait(account.name)
    account.waiting--
    if (account.waiting === 0) this.#waitingAccountCount--
    this.#updateActive(account)
  }

  /** True if another owner waits, or waited within the last 5 s. */
  isWantedByOthers({ name, waiting }: Account): boolean {
    if (this.#waitingAccountCount > (waiting > 0 ? 1 : 0)) return true
    const otherWaiter = this.#lastWaiter.name === name ? this.#previousWaiter : this.#lastWaiter
    return performance.now() - otherWaiter.at < recentWaitMs
  }
}

/** Compares the owners of two requests level by level. The result is negative if the first owner uses less. */
export function compareAccounts(
  accounts: readonly Account[],
  otherAccounts: readonly Account[],
  by: readonly ('held' | 'servedAt' | 'waiting')[],
): number {
  for (const [level, account] of accounts.entries())
    for (const field of by) {
      const difference = account[field] - (otherAccounts[level] as Account)[field]
      if (difference !== 0) return difference
    }
  return 0
}
