// Which server has a key: always the same one, the master that the sentinels name, or the master of the key's slot.
import type { OpenClient, Place } from './redis-client.ts'
import { createAsker } from './redis-asker.ts'
import { type SlotRange, slotOf, slotTable } from './redis-slots.ts'
import type { Topology } from './redis-topology.ts'

export type Places = {
  /** The master of the key; null while none is known. */
  of(key: string): Place | null
  /** Every master. */
  all(): readonly Place[]
  /** Keys that one command may name together. */
  groups(keys: string[]): string[][]
  /** What is known seems to be wrong or out of date: it is asked for again, soon. */
  doubt(): void
  /** Told when masters or slots may have changed, and when nobody could say. */
  onNews(listener: () => void): void
  close(): void
}

type View = Pick<Places, 'of' | 'all'>
type Openers = { open: OpenClient; openSentinel: OpenClient }

const nowhere: View = { of: () => null, all: () => [] }
const oneMaster = (place: Place): View => {
  const places = [place]
  return { of: () => place, all: () => places }
}
const together = (keys: string[]): string[][] => [keys]

/** How often masters are asked for when nothing seems wrong, and how soon again when something does. */
const sentinelsEveryMs = 1_000
const clusterEveryMs = 5_000
const doubtEveryMs = 300

export function createPlaces(topology: Topology, { open, openSentinel }: Openers): Places {
  if (topology.mode === 'single')
    return {
      ...oneMaster(topology.place),
      groups: together,
      doubt: () => undefined,
      onNews: () => undefined,
      close: () => undefined,
    }
  if (topology.mode === 'sentinel')
    return { ...createPolled(askSentinels(topology, openSentinel), sentinelsEveryMs), groups: together }
  return { ...createPolled(askCluster(topology.nodes, open), clusterEveryMs), groups: bySlot }
}

function bySlot(keys: string[]): string[][] {
  return [...Map.groupBy(keys, slotOf).values()]
}

type Source = {
  /** The present view; null when nobody could say. `isDoubted` when what was said before seems wrong. */
  ask(now: View, isDoubted: boolean): Promise<View | null>
  close(): void
}

/** Keeps the last view while nobody can say. */
function createPolled(source: Source, everyMs: number): Omit<Places, 'groups'> {
  let view = nowhere
  let timer: NodeJS.Timeout | null = null
  let isDoubted = false
  let isAsking = false
  let closed = false
  let lastAskedAt = -Infinity
  const listeners: (() => void)[] = []
  const schedule = (ms: number): void => {
    if (closed || isAsking) return
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(() => void ask(), Math.max(0, ms))
    timer.unref()
  }
  const ask = async (): Promise<void> => {
    isAsking = true
    lastAskedAt = performance.now()
    const doubted = isDoubted
    isDoubted = false
    const found = await source.ask(view, doubted)
    isAsking = false
    if (closed) return
    view = found ?? view
    schedule(isDoubted || found === null ? doubtEveryMs : everyMs)
    for (const listener of listeners) listener()
  }
  void ask()
  return {
    of: (key) => view.of(key),
    all: () => view.all(),
    doubt: () => {
      if (isDoubted) return
      isDoubted = true
      schedule(doubtEveryMs - (performance.now() - lastAskedAt))
    },
    onNews: (listener) => void listeners.push(listener),
    close: () => {
      closed = true
      if (timer !== null) clearTimeout(timer)
      source.close()
    },
  }
}

/** The answer that most give; where others are as many, the present one stays. Null when nobody answers. */
function majority(answers: readonly (string | null)[], present: string | undefined): string | null {
  const votes = Map.groupBy(
    answers.filter((answer) => answer !== null),
    (answer) => answer,
  )
  const weight = (answer: string): number => (votes.get(answer)?.length ?? 0) + (answer === present ? 0.5 : 0)
  return [...votes.keys()].toSorted((a, b) => weight(b) - weight(a))[0] ?? null
}

/** All sentinels are asked, so that one which was cut off from the others does not lead astray. */
function askSentinels(
  { sentinels, masterName }: { sentinels: readonly Place[]; masterName: string },
  open: OpenClient,
): Source {
  const asker = createAsker(open)
  return {
    ask: async (now) => {
      const named = await Promise.all(sentinels.map((sentinel) => asker.masterOf(sentinel, masterName)))
      const [present] = now.all()
      const chosen = majority(named, present)
      if (chosen === null) return null
      return chosen === present ? now : oneMaster(chosen)
    },
    close: asker.close,
  }
}

/** Nodes of a cluster that are asked together when something seems wrong: one may not have heard of a change yet. */
const askedTogether = 5

/** One node is asked for as long as it answers and is not doubted: the others say the same. */
function askCluster(seeds: readonly Place[], open: OpenClient): Source {
  const asker = createAsker(open)
  let preferred: Place | null = null
  let turn = 0
  let present: string | undefined
  const slotsAt = async (place: Place): Promise<string | null> => {
    const slots = await asker.slotsOf(place)
    return slots === null ? null : JSON.stringify(slots)
  }
  return {
    ask: async (now, isDoubted) => {
      const own = preferred === null || isDoubted ? null : await slotsAt(preferred)
      let found = own
      if (own === null) {
        const nodes = [...new Set([...now.all(), ...seeds])]
        const asked = Array.from(
          { length: Math.min(askedTogether, nodes.length) },
          () => nodes[turn++ % nodes.length] as Place,
        )
        const answers = await Promise.all(asked.map(slotsAt))
        found = majority(answers, present)
        preferred = asked[answers.indexOf(found)] ?? null
      }
      if (found === null) return null
      if (found === present) return now
      present = found
      return slotTable(JSON.parse(found) as SlotRange[])
    },
    close: asker.close,
  }
}
