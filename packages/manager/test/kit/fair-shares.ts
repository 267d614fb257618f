// A quiet project beside hostile ones: everything it does succeeds, and takes hardly longer than without them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Flood, floods } from './hostile-projects.ts'
import { type SharedScene, acts, startSharedScene } from './shared-scene.ts'

type Row = {
  what: string
  flood: Flood
  /** How long the flood lasts before the quiet project is measured. */
  floodMs: number
  act: (scene: SharedScene) => Promise<number>
  times: number
}
// Transfers are judged by their last five seconds.
const transferMs = 6_500
const otherMs = 2_000
const rows: Row[] = [
  {
    what: 'bundles that clients read slowly',
    flood: floods.slowReaders,
    floodMs: transferMs,
    act: acts.bundle,
    times: 20,
  },
  { what: 'uploads that crawl', flood: floods.slowUploads, floodMs: transferMs, act: acts.upload, times: 20 },
  {
    what: 'callbacks that take 25 seconds',
    flood: floods.slowBackends,
    floodMs: otherMs,
    act: acts.firstAttempt,
    times: 4,
  },
  { what: 'wrong passwords', flood: floods.wrongPasswords, floodMs: otherMs, act: acts.basicLogin, times: 5 },
  { what: 'large notifications', flood: floods.largeEmits, floodMs: otherMs, act: acts.emit, times: 30 },
  {
    what: 'changes that wait for their audit chain',
    flood: floods.slowChanges,
    floodMs: otherMs,
    act: acts.query,
    times: 30,
  },
  {
    what: 'calls that a partner does not answer',
    flood: floods.hangingCalls,
    floodMs: otherMs,
    act: acts.call,
    times: 30,
  },
  {
    what: 'large renderings',
    flood: floods.largeRenderings,
    floodMs: otherMs,
    act: acts.transform,
    times: 20,
  },
]
/** Several hashes of the thread of low priority, each of which takes long on a busy machine: only in the night, and once. */
const ownFlood: Row = {
  what: 'wrong passwords at its own application',
  flood: (scene) => floods.wrongPasswords({ ...scene, hostile: [scene.quiet] }),
  floodMs: otherMs,
  act: acts.basicLogin,
  times: 5,
}
/** One hash takes 0.15 s of the only thread for hashes. */
const maxLoginMs = 5_000
const allowedMs = 250

const p99 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] as number
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function repeat(scene: SharedScene, { act, times }: Row): Promise<number[]> {
  const taken: number[] = []
  for (let index = 0; index < times; index++) {
    taken.push(await act(scene))
    await pause(50)
  }
  return taken
}

/** The tests, with so many hostile projects. */
export function testFairShares(hostileCount: number): void {
  let scene: SharedScene
  beforeAll(async () => {
    scene = await startSharedScene(hostileCount)
    for (const { act } of rows) await act(scene)
  }, 300_000)
  afterAll(async () => await scene.close())

  // Each needs its flood to have lasted for some seconds.
  const tested = hostileCount === 2 ? [...rows, ownFlood] : rows
  test.each(tested)(`beside ${hostileCount} hostile projects: $what`, { timeout: 300_000 }, async (row) => {
    const alone = p99(await repeat(scene, row))
    const stop = await row.flood(scene)
    let beside: number
    try {
      await pause(row.floodMs)
      beside = p99(await repeat(scene, row))
    } finally {
      await stop()
    }
    const most = row.act === acts.basicLogin ? maxLoginMs : 2 * alone + allowedMs
    process.stdout.write(
      `${hostileCount} hostile, ${row.what}: p99 ${alone.toFixed(0)} ms alone, ${beside.toFixed(0)} ms beside them (at most ${most.toFixed(0)})\n`,
    )
    expect(beside).toBeLessThanOrEqual(most)
  })
}
