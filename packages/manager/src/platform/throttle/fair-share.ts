// Divides a scarce resource between owners: threads, connections, calls in flight or bytes of memory. One eighth is
// reserved for owners that hold nothing. An owner may use the rest while no other owner needs it. While another owner
// waits, and for 5 s after that, no owner gets more than a fair share. Free capacity goes to the owner that holds
// least, was served least recently, and has the fewest waiting requests, in this order. A slow transfer may be ended to
// make room for a waiting request.
import { unavailable } from '../errors.ts'
import { type Account, OwnerLevel } from './owner-level.ts'

/** The size of the resource and the rules for dividing it. */
export type FairShareOptions = {
  /** Total amount, in slots or bytes. */
  capacity: number
  /** The largest single use; 1 for slots. */
  item?: number
  /** Limit for the amount that one owner of the last level holds. */
  maxEach?: number
  /** Maximum number of waiting requests. Beyond it, the owner with the most waiting requests loses one. */
  maxWaiting: number
  maxWaitMs: number
  /** Message of the 503 error. */
  full: string
  /** Called if a request is refused because too many are waiting. */
  onRefused?: (() => void) | undefined
  /** An owner whose requests are served first within its share. Its waiting requests have a separate limit. */
  preferred?: string
  /** Whether slow transfers may be ended. */
  canEndSlow?: true
  /**
   * Among equals, the oldest of this many newest requests is served first. During a flood, the callers of older
   * requests have probably timed out. Callers that retry immediately do not delay a newer request. By default, the
   * oldest request is served first.
   */
  newestWindow?: number
}
/** The owner of a use, followed by further levels on which the resource is divided too, such as clients. */
export type Owners = readonly [string, ...string[]]
/** A transfer that holds a part of the resource; `end` must cause its release. */
export type Transfer = { isSlow: () => boolean; end: () => void }
/** A use of the resource. It holds nothing until `add` resolves. */
export type Lease = {
  /** Acquires more capacity, and waits until it is free; throws 503 if none is free in time. */
  add: (size: number) => Promise<void>
  /** Assigns the use to other owners. */
  moveTo: (owners: Owners) => void
  /** Releases everything, and refuses requests of this use that are still waiting. */
  release: () => void
}

type Use = {
  owners: Owners
  accounts: Account[]
  held: number
  requests: Set<Request>
  transfer: Transfer | null
  /** Time of the last call of `end`; a transfer that continues anyway may be ended again. */
  endedAt: number
  isOver: boolean
}
type Request = { use: Use; size: number; key: string; order: number; settle: (error: Error | null) => void }

const reservedDivisor = 8
const endEveryMs = 250
const endsWithinMs = 1_000

/** Creates a share with nothing in use. */
export const createFairShare = (options: FairShareOptions): FairShare => new FairShare(options)

/** Tracks uses and waiting requests, and decides which request is served next. */
export class FairShare {
  readonly #options: FairShareOptions
  readonly #levels: OwnerLevel[] = []
  /** Waiting requests by their owners. */
  readonly #queues = new Map<string, Request[]>()
  readonly #transfers = new Set<Use>()
  readonly #reserved: number
  // All refusals share one error, because a stack trace for each refusal costs as much as a small request.
  readonly #full: Error
  #used = 0
  #waiting = 0
  #turn = 0
  #ending: NodeJS.Timeout | null = null

  constructor(options: FairShareOptions) {
    this.#options = options
    this.#full = unavailable(options.full)
    const { capacity, item = 1, canEndSlow = false } = options
    // Two of the largest transfers always fit.
    this.#reserved = canEndSlow
      ? Math.max(0, Math.min(capacity / reservedDivisor, capacity - 2 * item))
      : Math.max(1, capacity / reservedDivisor)
  }

  /** Starts a use that holds nothing yet. */
  begin(owners: Owners, transfer: Transfer | null = null): Lease {
    const use = this.#open(owners, transfer)
    if (transfer !== null) this.#transfers.add(use)
    return this.#leaseOf(use)
  }

  /** Starts a use and acquires its whole size; throws 503 if there is no free capacity in time. */
  async take(owners: Owners, size = 1): Promise<Lease> {
    const lease = this.begin(owners)
    try {
      await lease.add(size)
    } catch (error) {
      lease.release()
      throw error
    }
    return lease
  }

  /** Runs the work while holding one slot. */
  async run<T>(owners: Owners, work: () => Promise<T>): Promise<T> {
    const lease = await this.take(owners)
    try {
      return await work()
    } finally {
      lease.release()
    }
  }

  /** Returns one slot if the owner may have it now. Otherwise the owner counts as waiting for a while. */
  tryTake(owner: string): Lease | null {
    const use = this.#open([owner], null)
    if (this.#waiting === 0 && this.#fits(use, 1)) {
      this.#grant(use, 1)
      return this.#leaseOf(use)
    }
    this.#levels[0]?.noteWait(owner)
    this.#exit(use)
    return null
  }

  /** True if the owner could get one more slot now. */
  isOpenTo(owner: string): boolean {
    const use = this.#open([owner], null)
    const isOpen = this.#waiting === 0 && this.#fits(use, 1)
    this.#exit(use)
    return isOpen
  }

  /** Amount that is held now. */
  get used(): number {
    return this.#used
  }

  /** Number of waiting requests. */
  get waiting(): number {
    return this.#waiting
  }

  #open(owners: Owners, transfer: Transfer | null): Use {
    const use: Use = {
      owners,
      accounts: [],
      held: 0,
      requests: new Set(),
      transfer,
      endedAt: -Infinity,
      isOver: false,
    }
    this.#enter(use, owners)
    return use
  }

  #enter(use: Use, owners: Owners): void {
    use.owners = owners
    use.accounts = owners.map((name, level) =>
      (this.#levels[level] ??= new OwnerLevel()).enter(name, use.held),
    )
  }

  #exit(use: Use): void {
    for (const [level, account] of use.accounts.entries()) this.#levels[level]?.exit(account, use.held)
  }

  #leaseOf(use: Use): Lease {
    return {
      add: async (size) => {
        if (use.isOver) throw this.#full
        // No waiting request fits, so this one does not overtake a request that could be served.
        if (this.#fits(use, size)) this.#grant(use, size)
        else await this.#wait(use, size)
      },
      moveTo: (owners) => {
        if (use.isOver || use.requests.size > 0) return
        this.#exit(use)
        this.#enter(use, owners)
      },
      release: () => {
        if (use.isOver) return
        use.isOver = true
        for (const request of use.requests) this.#leaveQueue(request, this.#full)
        this.#transfers.delete(use)
        this.#used -= use.held
        this.#exit(use)
        this.#serve()
      },
    }
  }

  #shareOn(level: number): number {
    return this.#options.capacity / ((this.#levels[level]?.active ?? 0) + 1)
  }

  #isContended(level: number, account: Account): boolean {
    return this.#levels[level]?.isWantedByOthers(account) ?? false
  }

  #isWithinShares({ accounts }: Use, size: number): boolean {
    const { item = 1, maxEach = Infinity } = this.#options
    const isWithin = (account: Account, level: number): boolean =>
      account.held === 0 ||
      !this.#isContended(level, account) ||
      account.held + size <= Math.max(item, this.#shareOn(level))
    return (accounts.at(-1) as Account).held + size <= maxEach && accounts.every(isWithin)
  }

  /**
   * Returns how much may already be in use for the request to fit. A part is reserved for small uses of owners that
   * hold nothing else.
   */
  #roomFor(use: Use, size: number): number {
    const { capacity } = this.#options
    const owner = use.accounts[0] as Account
    const isSmallStart =
      owner.held === use.held && use.held + size <= Math.max(1, this.#reserved / reservedDivisor)
    return capacity - size - (isSmallStart ? 0 : this.#reserved)
  }

  /** Any size fits while nothing else is in use. */
  #fits(use: Use, size: number): boolean {
    if (this.#used === use.held) return true
    return this.#used <= this.#roomFor(use, size) && this.#isWithinShares(use, size)
  }

  #grant(use: Use, size: number): void {
    this.#turn++
    this.#used += size
    use.held += size
    for (const [level, account] of use.accounts.entries()) {
      account.servedAt = this.#turn
      this.#levels[level]?.hold(account, size)
    }
  }

  #first(isWanted: (request: Request) => boolean): Request | undefined {
    const { newestWindow = Infinity } = this.#options
    const [next] = this.#preferred()
    if (next !== undefined && isWanted(next)) return next
    let equals: Request[] = []
    for (const queue of this.#queues.values())
      for (const request of newestWindow === Infinity ? queue.slice(0, 1) : queue.slice(-newestWindow)) {
        if (!isWanted(request)) continue
        const difference = compare(request, equals[0] ?? request, ['held', 'servedAt', 'waiting'])
        if (difference < 0) equals = [request]
        else if (difference === 0) equals.push(request)
      }
    return equals
      .toSorted((one, other) => other.order - one.order)
      .slice(0, newestWindow)
      .at(-1)
  }

  #wait(use: Use, size: number): Promise<void> {
    const { maxWaiting, maxWaitMs, canEndSlow = false } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      this.#leaveQueue(request, this.#full)
      this.#serve()
    }, maxWaitMs)
    const settle = (error: Error | null): void => {
      clearTimeout(timer)
      if (error === null) resolve()
      else reject(error)
    }
    const request: Request = { use, size, key: use.owners.join('\0'), order: ++this.#turn, settle }
    const queue = this.#queues.get(request.key)
    if (queue === undefined) this.#queues.set(request.key, [request])
    else queue.push(request)
    this.#waiting++
    use.requests.add(request)
    for (const [level, account] of use.accounts.entries()) this.#levels[level]?.beginWait(account)
    this.#serve()
    if (this.#preferred().length > maxWaiting) this.#refuse(request)
    else if (this.#waiting - this.#preferred().length > maxWaiting) this.#refuseOne()
    if (use.held > 0 && use.requests.has(request)) this.#breakDeadlock()
    if (canEndSlow && use.requests.has(request)) this.#endWhileWaiting()
    return promise
  }

  #leaveQueue(request: Request, error: Error | null): void {
    const { use, key } = request
    const queue = this.#queues.get(key) as Request[]
    queue.splice(queue.indexOf(request), 1)
    if (queue.length === 0) this.#queues.delete(key)
    this.#waiting--
    use.requests.delete(request)
    for (const [level, account] of use.accounts.entries()) this.#levels[level]?.endWait(account)
    request.settle(error)
  }

  #serve(): void {
    while (this.#waiting > 0 && this.#used < this.#options.capacity) {
      const request = this.#first(({ use, size }) => this.#fits(use, size))
      if (request === undefined) return
      this.#grant(request.use, request.size)
      this.#leaveQueue(request, null)
    }
  }

  /** Refuses a request of the owner with the most: the newest, or the oldest if `newestWindow` is set. */
  #refuseOne(): void {
    const isNewestLast = this.#options.newestWindow === undefined
    let last: Request | undefined
    for (const [key, queue] of this.#queues) {
      if (key === this.#options.preferred) continue
      const request = queue.at(isNewestLast ? -1 : 0) as Request
      const more = last === undefined ? 1 : compare(request, last, ['waiting'])
      if (more > 0 || (more === 0 && request.order > (last as Request).order === isNewestLast)) last = request
    }
    if (last !== undefined) this.#refuse(last)
  }

  #refuse(request: Request): void {
    this.#options.onRefused?.()
    this.#leaveQueue(request, this.#full)
  }

  /** Waiting requests of the preferred owner. */
  #preferred(): readonly Request[] {
    const { preferred } = this.#options
    return (preferred === undefined ? undefined : this.#queues.get(preferred)) ?? []
  }

  /** If all uses wait for more, none can continue. Refuses one request of the owner that holds most. */
  #breakDeadlock(): void {
    const growing = [...this.#queues.values()].flat().filter(({ use }) => use.held > 0)
    const stuck = new Set(growing.map(({ use }) => use)).values().reduce((sum, { held }) => sum + held, 0)
    if (stuck < this.#used) return
    const [victim] = growing.toSorted(
      (one, other) => ownerHolds(other) - ownerHolds(one) || one.use.held - other.use.held,
    )
    if (victim !== undefined) this.#leaveQueue(victim, this.#full)
  }

  #endWhileWaiting(): void {
    // A timer limits how often slow transfers are searched for: a search visits all transfers, too costly for each
    // request.
    if (this.#ending !== null) return
    this.#ending = setInterval(() => {
      if (this.#waiting > 0) return this.#endOne()
      clearInterval(this.#ending ?? undefined)
      this.#ending = null
    }, endEveryMs).unref()
    this.#endOne()
  }

  /** Ends the largest slow transfer of the owner furthest above its share, unless ending transfers free enough. */
  #endOne(): void {
    const now = performance.now()
    let [left, victim, most]: [number, Use | null, number] = [this.#used, null, 0]
    for (const use of this.#transfers) {
      if (use.held === 0) continue
      const isEnding = now - use.endedAt < endsWithinMs
      if (isEnding) left -= use.held
      const excess = isEnding || use.transfer?.isSlow() !== true ? 0 : this.#excessOf(use)
      if (excess > most || (excess > 0 && excess === most && use.held > (victim?.held ?? 0)))
        [victim, most] = [use, excess]
    }
    if (victim === null) return
    const { accounts } = victim
    const mayEnd = ({ use, size }: Request): boolean =>
      left > this.#roomFor(use, size) &&
      this.#isWithinShares(use, size) &&
      use.accounts.some(({ held }, level) => held === 0 || (accounts[level] as Account).held > held + size)
    if (this.#first(mayEnd) === undefined) return
    victim.endedAt = now
    victim.transfer?.end()
  }

  /** Returns how far the owner of a use is above its share, on the level where the excess is largest. */
  #excessOf({ accounts }: Use): number {
    return Math.max(...accounts.map(({ held }, level) => held - this.#shareOn(level)))
  }
}

const ownerHolds = ({ use }: Request): number => (use.accounts[0] as Account).held

/** Compares the owners of two requests level by level; negative if the first has less. */
function compare(one: Request, other: Request, by: readonly ('held' | 'servedAt' | 'waiting')[]): number {
  for (const [level, mine] of one.use.accounts.entries())
    for (const what of by) {
      const difference = mine[what] - (other.use.accounts[level] as Account)[what]
      if (difference !== 0) return difference
    }
  return 0
}
