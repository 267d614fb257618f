// A bounded queue in front of a few workers. Lanes take turns, and so do the owners within a lane.

type Account = { lane: string; owner: string }
type Job = () => void
/** Jobs that wait, by owner; the owner whose turn it is stands first. */
type Lane = Map<string, Job[]>

export type FairQueueOptions = { workers: number; maxPerLane: number; maxPerOwner: number }

/** Places are reserved first and given back by whoever took them; a job runs within a reserved place. */
export function createFairQueue({ workers, maxPerLane, maxPerOwner }: FairQueueOptions) {
  const lanes = new Map<string, Lane>()
  const places = new Map<string, number>()
  let free = workers

  const add = (name: string, by: number): void => {
    const count = (places.get(name) ?? 0) + by
    if (count === 0) places.delete(name)
    else places.set(name, count)
  }
  const startNext = (): void => {
    for (const [name, lane] of lanes) {
      if (free === 0) return
      const [owner, jobs] = lane.entries().next().value as [string, Job[]]
      const job = jobs.shift() as Job
      // To the end of the row, lane and owner both.
      lane.delete(owner)
      if (jobs.length > 0) lane.set(owner, jobs)
      lanes.delete(name)
      if (lane.size > 0) lanes.set(name, lane)
      free--
      job()
    }
  }
  return {
    /** Takes a place; null when the lane is full or the owner has his share of it. */
    reserve: ({ lane, owner }: Account): (() => void) | null => {
      const own = `${lane} ${owner}`
      // Whoever runs has left the queue, so a lane holds as many more as there are workers.
      if ((places.get(lane) ?? 0) >= maxPerLane + workers) return null
      if ((places.get(own) ?? 0) >= maxPerOwner + workers) return null
      for (const name of [lane, own]) add(name, 1)
      return () => {
        for (const name of [lane, own]) add(name, -1)
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
            startNext()
          })
      lane.set(owner, [...(lane.get(owner) ?? []), start])
      lanes.set(name, lane)
      startNext()
      return promise
    },
  }
}
