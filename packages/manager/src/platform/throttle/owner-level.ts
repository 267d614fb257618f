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

/** The owners on one level that hold something or wait, and the last owners that waited. */
export class OwnerLevel {
  readonly #accounts = new Map<string, Account>()
  #active = 0
  #waitingAccounts = 0
  // The last two owners that waited suffice to tell whether any owner other than a given one waited.
  #latest = { name: '', at: -Infinity }
  #previous = { name: '', at: -Infinity }

  /** Number of owners that hold something or wait. */
  get active(): number {
    return this.#active
  }

  hold(account: Account, size: number): void {
    account.held += size
    this.#note(account)
  }

  #note(account: Account): void {
    const isActive = account.held > 0 || account.waiting > 0
    if (isActive !== account.isActive) this.#active += isActive ? 1 : -1
    account.isActive = isActive
  }

  enter(name: string, held: number): Account {
    let account = this.#accounts.get(name)
    if (account === undefined) {
      account = { name, uses: 0, held: 0, waiting: 0, servedAt: 0, isActive: false }
      this.#accounts.set(name, account)
    }
    account.uses++
    this.hold(account, held)
    return account
  }

  exit(account: Account, held: number): void {
    account.uses--
    this.hold(account, -held)
    if (account.uses === 0) this.#accounts.delete(account.name)
  }

  noteWait(name: string): void {
    if (this.#latest.name !== name) this.#previous = this.#latest
    this.#latest = { name, at: performance.now() }
  }

  beginWait(account: Account): void {
    this.noteWait(account.name)
    account.waiting++
    if (account.waiting === 1) this.#waitingAccounts++
    this.#note(account)
  }

  endWait(account: Account): void {
    this.noteWait(account.name)
    account.waiting--
    if (account.waiting === 0) this.#waitingAccounts--
    this.#note(account)
  }

  /** True if another owner waits, or waited within the last 5 s. */
  isWantedByOthers({ name, waiting }: Account): boolean {
    if (this.#waitingAccounts > (waiting > 0 ? 1 : 0)) return true
    const other = this.#latest.name === name ? this.#previous : this.#latest
    return performance.now() - other.at < recentWaitMs
  }
}
