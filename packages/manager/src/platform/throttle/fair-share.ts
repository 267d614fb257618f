// Divides a scarce resource between owners: threads, connections, calls in flight or bytes of memory. One eighth is
// reserved for owners that hold nothing. An owner may use the rest while no other owner needs it. While another owner
// waits, and for 5 s after that, no owner gets more than a fair share. Free capacity is assigned to the owner that holds
// least, was served least recently, and has the fewest waiting requests. A slow transfer may be ended to make room.
import { unavailable } from '../errors.ts'
import { type Account, OwnerLevel, compareAccounts } from './owner-level.ts'

/** The size of the resource and the rules for dividing it. */
export type FairShareOptions = {
  /** Total amount, in slots or bytes. */
  capacity: number
  /** The largest single use; 1 for slots. */
  maxItemSize?: number
  /** Maximum amount that one owner on the last level can hold. */
  maxPerOwner?: number
  /**
   * Maximum number of waiting requests. If more requests wait, one request of the owner with the most waiting requests
   * is refused.
   */
  maxWaiting: number
  maxWaitMs: number
  /** Message of the 503 error. */
  overloadMessage: string
  /** Called if a request is refused because too many are waiting. */
  onRefused?: (() => void) | undefined
  /** An owner whose requests are served first within its share. Its waiting requests have a separate limit. */
  preferredOwner?: string
  /** Whether slow transfers may be ended. */
  canEndSlow?: true
  /**
   * If set, only this many of the newest requests are considered, and the oldest of these is served first. During a
   * flood, the callers of older requests have probably timed out. Callers that retry immediately do not delay a newer
   * request. By default, the oldest request is served first.
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
  /** Counts everything that this use holds toward other owners. */
  moveTo: (owners: Owners) => void
  /** Releases everything, and refuses requests of this use that are still waiting. */
  release: () => void
}

type Use = {
  owners: Owners
  accounts: Account[]
  heldAmount: number
  requests: Set<Request>
  transfer: Transfer | null
  /** Time of the last call of `end`. If the transfer continues anyway, it may be ended again. */
  endedAt: number
  isReleased: boolean
}
type Request = { use: Use; size: number; key: string; order: number; settle: (error: Error | null) => void }

const reservedDivisor = 8
const endIntervalMs = 250
const endTimeoutMs = 1_000

/** Creates a share with nothing in use. */
export const createFairShare = (options: FairShareOptions): FairShare => new FairShare(options)

/** Tracks uses and waiting requests, and decides which request is served next. */
export class FairShare {
  readonly #options: FairShareOptions
  readonly #levels: OwnerLevel[] = []
  /** Waiting requests by their owners. */
  readonly #queues = new Map<string, Request[]>()
  readonly #transferUses = new Set<Use>()
  readonly #reservedCapacity: number
  // All refusals share one error, because a stack trace for each refusal costs as much as a small request.
  readonly #fullError: Error
  #usedAmount = 0
  #waitingCount = 0
  #turn = 0
  #endTimer: NodeJS.Timeout | null = null

  constructor(options: FairShareOptions) {
    this.#options = options
    this.#fullError = unavailable(options.overloadMessage)
    const { capacity, maxItemSize = 1, canEndSlow = false } = options
    // The rest of the capacity always has room for two of the largest transfers.
    this.#reservedCapacity = canEndSlow
      ? Math.max(0, Math.min(capacity / reservedDivisor, capacity - 2 * maxItemSize))
      : Math.max(1, capacity / reservedDivisor)
  }

  /** Starts a use that holds nothing yet. */
  begin(owners: Owners, transfer: Transfer | null = null): Lease {
    const use = this.#open(owners, transfer)
    if (transfer !== null) this.#transferUses.add(use)
    return this.#createLease(use)
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

  /** Acquires one slot, or returns null if none is free for the owner, who then counts as waiting for a while. */
  tryTake(owner: string): Lease | null {
    const use = this.#open([owner], null)
    if (this.#waitingCount === 0 && this.#fits(use, 1)) {
      this.#grant(use, 1)
      return this.#createLease(use)
    }
    this.#levels[0]?.recordWait(owner)
    this.#exit(use)
    return null
  }

  /** True if the owner could get one more slot now. */
  hasSlotFor(owner: string): boolean {
    const use = this.#open([owner], null)
    const hasRoom = this.#waitingCount === 0 && this.#fits(use, 1)
    this.#exit(use)
    return hasRoom
  }

  /** Amount that is held now. */
  get usedAmount(): number {
    return this.#usedAmount
  }

  /** Amount that owners can take who hold something already. The rest is reserved for owners that hold nothing. */
  get unreservedAmount(): number {
    return Math.max(0, Math.floor(this.#options.capacity - this.#reservedCapacity - this.#usedAmount))
  }

  /** Number of waiting requests. */
  get waitingCount(): number {
    return this.#waitingCount
  }

  #open(owners: Owners, transfer: Transfer | null): Use {
    const use: Use = {
      owners,
      accounts: [],
      heldAmount: 0,
      requests: new Set(),
      transfer,
      endedAt: -Infinity,
      isReleased: false,
    }
    this.#enter(use, owners)
    return use
  }

  #enter(use: Use, owners: Owners): void {
    use.owners = owners
    use.accounts = owners.map((name, level) =>
      (this.#levels[level] ??= new OwnerLevel()).enter(name, use.heldAmount),
    )
  }

  #exit(use: Use): void {
    for (const [level, account] of use.accounts.entries()) this.#levels[level]?.exit(account, use.heldAmount)
  }

  #createLease(use: Use): Lease {
    return {
      add: async (size) => {
        if (use.isReleased) throw this.#fullError
        // No waiting request fits, so this request does not overtake one that could be served.
        if (this.#fits(use, size)) this.#grant(use, size)
        else await this.#wait(use, size)
      },
      moveTo: (owners) => {
        if (use.isReleased || use.requests.size > 0) return
        this.#exit(use)
        this.#enter(use, owners)
      },
      release: () => {
        if (use.isReleased) return
        use.isReleased = true
        for (const request of use.requests) this.#leaveQueue(request, this.#fullError)
        this.#transferUses.delete(use)
        this.#usedAmount -= use.heldAmount
        this.#exit(use)
        this.#serve()
      },
    }
  }

  #getShare(level: number): number {
    return this.#options.capacity / ((this.#levels[level]?.activeCount ?? 0) + 1)
  }

  #isWithinShares({ accounts }: Use, size: number): boolean {
    const { maxItemSize = 1, maxPerOwner = Infinity } = this.#options
    const isWithin = (account: Account, level: number): boolean =>
      account.held === 0 ||
      this.#levels[level]?.isWantedByOthers(account) !== true ||
      account.held + size <= Math.max(maxItemSize, this.#getShare(level))
    return (accounts.at(-1) as Account).held + size <= maxPerOwner && accounts.every(isWithin)
  }

  /**
   * Returns the maximum amount in use at which the request still fits. A part is reserved for small uses of owners that
   * hold nothing else.
   */
  #computeRoom(use: Use, size: number): number {
    const owner = use.accounts[0] as Account
    const isSmallStart =
      owner.held === use.heldAmount &&
      use.heldAmount + size <= Math.max(1, this.#reservedCapacity / reservedDivisor)
    return this.#options.capacity - size - (isSmallStart ? 0 : this.#reservedCapacity)
  }

  /** A request of any size fits while no other use holds capacity. */
  #fits(use: Use, size: number): boolean {
    if (this.#usedAmount === use.heldAmount) return true
    return this.#usedAmount <= this.#computeRoom(use, size) && this.#isWithinShares(use, size)
  }

  #grant(use: Use, size: number): void {
    this.#turn++
    this.#usedAmount += size
    use.heldAmount += size
    for (const [level, account] of use.accounts.entries()) {
      account.servedAt = this.#turn
      this.#levels[level]?.hold(account, size)
    }
  }

  #findFirst(isWanted: (request: Request) => boolean): Request | undefined {
    const { newestWindow = Infinity } = this.#options
    const [next] = this.#getPreferredRequests()
    if (next !== undefined && isWanted(next)) return next
    let bestRequests: Request[] = []
    for (const queue of this.#queues.values())
      for (const request of newestWindow === Infinity ? queue.slice(0, 1) : queue.slice(-newestWindow)) {
        if (!isWanted(request)) continue
        const difference = compare(request, bestRequests[0] ?? request, ['held', 'servedAt', 'waiting'])
        if (difference < 0) bestRequests = [request]
        else if (difference === 0) bestRequests.push(request)
      }
    return bestRequests
      .toSorted((one, other) => other.order - one.order)
      .slice(0, newestWindow)
      .at(-1)
  }

  #wait(use: Use, size: number): Promise<void> {
    const { maxWaiting, maxWaitMs, canEndSlow = false } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      this.#leaveQueue(request, this.#fullError)
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
    this.#waitingCount++
    use.requests.add(request)
    for (const [level, account] of use.accounts.entries()) this.#levels[level]?.beginWait(account)
    this.#serve()
    if (this.#getPreferredRequests().length > maxWaiting) this.#rejectRequest(request)
    else if (this.#waitingCount - this.#getPreferredRequests().length > maxWaiting) this.#rejectOneRequest()
    if (use.heldAmount > 0 && use.requests.has(request)) this.#breakDeadlock()
    if (canEndSlow && use.requests.has(request)) this.#endWhileWaiting()
    return promise
  }

  #leaveQueue(request: Request, error: Error | null): void {
    const { use, key } = request
    const queue = this.#queues.get(key) as Request[]
    queue.splice(queue.indexOf(request), 1)
    if (queue.length === 0) this.#queues.delete(key)
    this.#waitingCount--
    use.requests.delete(request)
    for (const [level, account] of use.accounts.entries()) this.#levels[level]?.endWait(account)
    request.settle(error)
  }

  #serve(): void {
    while (this.#waitingCount > 0 && this.#usedAmount < this.#options.capacity) {
      const request = this.#findFirst(({ use, size }) => this.#fits(use, size))
      if (request === undefined) return
      this.#grant(request.use, request.size)
      this.#leaveQueue(request, null)
    }
  }

  /** Refuses the newest request of the owner with the most requests, or its oldest if `newestWindow` is set. */
  #rejectOneRequest(): void {
    const isNewestLast = this.#options.newestWindow === undefined
    let rejectedRequest: Request | undefined
    for (const [key, queue] of this.#queues) {
      if (key === this.#options.preferredOwner) continue
      const request = queue.at(isNewestLast ? -1 : 0) as Request
      const rank = rejectedRequest === undefined ? 1 : compare(request, rejectedRequest, ['waiting'])
      if (rank > 0 || (rank === 0 && request.order > (rejectedRequest as Request).order === isNewestLast))
        rejectedRequest = request
    }
    if (rejectedRequest !== undefined) this.#rejectRequest(rejectedRequest)
  }

  #rejectRequest(request: Request): void {
    this.#options.onRefused?.()
    this.#leaveQueue(request, this.#fullError)
  }

  /** Waiting requests of the preferred owner. */
  #getPreferredRequests(): readonly Request[] {
    const { preferredOwner: ownerName } = this.#options
    return (ownerName === undefined ? undefined : this.#queues.get(ownerName)) ?? []
  }

  /** If all uses wait for more capacity, none can continue. Then refuses one request of the owner that holds most. */
  #breakDeadlock(): void {
    const requests = [...this.#queues.values()].flat().filter(({ use }) => use.heldAmount > 0)
    const heldSum = new Set(requests.map(({ use }) => use))
      .values()
      .reduce((sum, { heldAmount }) => sum + heldAmount, 0)
    if (heldSum < this.#usedAmount) return
    const [rejectedRequest] = requests.toSorted(
      (one, other) =>
        getOwnerHeldAmount(other) - getOwnerHeldAmount(one) || one.use.heldAmount - other.use.heldAmount,
    )
    if (rejectedRequest !== undefined) this.#leaveQueue(rejectedRequest, this.#fullError)
  }

  #endWhileWaiting(): void {
    // A timer limits how often the share searches for slow transfers, because a search visits all transfers.
    if (this.#endTimer !== null) return
    this.#endTimer = setInterval(() => {
      if (this.#waitingCount > 0) return this.#endOneTransfer()
      clearInterval(this.#endTimer ?? undefined)
      this.#endTimer = null
    }, endIntervalMs).unref()
    this.#endOneTransfer()
  }

  /** Ends the largest slow transfer of the owner that is furthest above its share, unless enough are already ending. */
  #endOneTransfer(): void {
    const now = performance.now()
    let [remainingUse, transferToEnd, maxExcess]: [number, Use | null, number] = [this.#usedAmount, null, 0]
    for (const use of this.#transferUses) {
      if (use.heldAmount === 0) continue
      const isEnding = now - use.endedAt < endTimeoutMs
      if (isEnding) remainingUse -= use.heldAmount
      const excess = isEnding || use.transfer?.isSlow() !== true ? 0 : this.#computeExcess(use)
      if (
        excess > maxExcess ||
        (excess > 0 && excess === maxExcess && use.heldAmount > (transferToEnd?.heldAmount ?? 0))
      )
        [transferToEnd, maxExcess] = [use, excess]
    }
    if (transferToEnd === null) return
    const { accounts } = transferToEnd
    const shouldEnd = ({ use, size }: Request): boolean =>
      remainingUse > this.#computeRoom(use, size) &&
      this.#isWithinShares(use, size) &&
      use.accounts.some(({ held }, level) => held === 0 || (accounts[level] as Account).held > held + size)
    if (this.#findFirst(shouldEnd) === undefined) return
    transferToEnd.endedAt = now
    transferToEnd.transfer?.end()
  }

  /** Returns how far the owner of a use is above its share, on the level where the excess is largest. */
  #computeExcess({ accounts }: Use): number {
    return Math.max(...accounts.map(({ held }, level) => held - this.#getShare(level)))
  }
}

const getOwnerHeldAmount = ({ use }: Request): number => (use.accounts[0] as Account).held

const compare = (one: Request, other: Request, by: Parameters<typeof compareAccounts>[2]): number =>
  compareAccounts(one.use.accounts, other.use.accounts, by)
