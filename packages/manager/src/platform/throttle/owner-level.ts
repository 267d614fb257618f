// The owners on one level of a fair share: what each holds, and who waits or has waited lately.

export type Account = {
  name: string
  uses: number
  held: number
  waiting: number
  servedAt: number
  /** It holds something or waits. */
  isActive: boolean
}

const rememberedMs = 5_000

/** The owners on one level that hold something or wait, and who else has waited lately. */
export class OwnerLevel {
  readonly #accounts = new Map<string, Account>()
  #active = 0
  #waitingAccounts = 0
  // The last two owners that waited are enough to tell whether one besides any given owner did.
  #latest = { name: '', at: -Infinity }
  #former = { name: '', at: -Infinity }

  /** How many hold something or wait. */
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
    if (this.#latest.name !== name) this.#former = this.#latest
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

  /** True when another owner waits, or has waited within the last seconds. */
  isWantedBesides({ name, waiting }: Account): boolean {
    if (this.#waitingAccounts > (waiting > 0 ? 1 : 0)) return true
    const other = this.#latest.name === name ? this.#former : this.#latest
    return performance.now() - other.at < rememberedMs
  }
}
