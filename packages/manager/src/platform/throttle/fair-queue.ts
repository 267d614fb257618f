// A bounded queue in front of a few workers. Lanes take turns, and so do the owners within a lane, each with a share of
// the workers where that is wanted.

type Account = { lane: string; owner: string }
type Job = () => void
/** Jobs that wait, by owner; the owner whose turn it is comes first. */
type Lane = Map<string, Job[]>

export type FairQueueOptions = {
  workers: number
  maxPerLane: number
  maxPerOwner: number
  /** Workers that an owner has at once; all of them by default. */
  maxRunningPerOwner?: number
}

const add = (counts: Map<string, number>, name: string, by: number): void => {
  const count = (counts.get(name) ?? 0) + by
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}

/** Places are reserved first and given back by the code that took them; a job runs within a reserved place. */
export function createFairQueue(options: FairQueueOptions) {
  const { workers, maxPerLane, maxPerOwner, maxRunningPerOwner = workers } = options
  const lanes = new Map<string, Lane>()
  const places = new Map<string, number>()
  const running = new Map<string, number>()
  let free = workers

  /** The owner whose turn it is, of those who may have another worker. */
  const nextOf = (name: string, lane: Lane): [string, Job[]] | undefined => {
    for (const entry of lane) if ((running.get(`${name} ${entry[0]}`) ?? 0) < maxRunningPerOwner) return entry
    return undefined
  }
  const startNext = (): void => {
    for (const [name, lane] of lanes) {
      if (free === 0) return
      const next = nextOf(name, lane)
      if (next === undefined) continue
      const [owner, jobs] = next
      const job = jobs.shift() as Job
      // To the end of the queue, lane and owner both.
      lane.delete(owner)
      if (jobs.length > 0) lane.set(owner, jobs)
      lanes.delete(name)
      if (lane.size > 0) lanes.set(name, lane)
      free--
      add(running, `${name} ${owner}`, 1)
      job()
    }
  }
  return {
    /** Takes a place; null when the lane is full or the owner has its share of it. */
    reserve: ({ lane, owner }: Account): (() => void) | null => {
      const own = `${lane} ${owner}`
      // A running job has left the queue, so a lane holds as many more as there are workers.
      if ((places.get(lane) ?? 0) >= maxPerLane + workers) return null
      if ((places.get(own) ?? 0) >= maxPerOwner + Math.min(workers, maxRunningPerOwner)) return null
      for (const name of [lane, own]) add(places, name, 1)
      return () => {
        for (const name of [lane, own]) add(places, name, -1)
      }
    },

    /** Runs the work when it is its turn. */
    run: <T>({ lane: name, owner }: Account, work: () => Promise<T>): Promise<T> => {
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const lane: Lane = lanes.get(name) ?? new Map()
      const start = (): void =>
        void work()
          .then(resolve, reject)
          .finally(() => {
            free++
            add(running, `${name} ${owner}`, -1)
            startNext()
          })
      lane.set(owner, [...(lane.get(owner) ?? []), start])
      lanes.set(name, lane)
      startNext()
      return promise
    },
  }
}
