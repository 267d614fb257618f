import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BuiltValue, createVersionedCache } from './versioned-cache.ts'

type Value = BuiltValue & { of: string }

/** Creates a project that can change, and a cache of its values; every read is a separate step. */
function createBench(step: (what: string) => Promise<unknown> = () => Promise.resolve()) {
  const project = { version: 1, exists: true, fails: false }
  const outcomes = { hit: 0, miss: 0 }
  const find = createVersionedCache<string, Value>({
    nameOf: (key) => key,
    readVersion: async () => {
      await step('version asked')
      const { version } = project
      await step('version answered')
      return String(version)
    },
    build: async (key) => {
      await step('build asked')
      const { version, exists, fails } = project
      await step('build answered')
      if (fails) throw new Error('the database is away')
      return exists ? { projectId: 'p', version: String(version), bytes: 10, of: key } : null
    },
    maxBytes: 10_000,
    onOutcome: (outcome) => outcomes[outcome]++,
  })
  return { project, outcomes, find }
}

/** Blocks named steps until they are released. */
function createHolder() {
  const held: { what: string; go: () => void }[] = []
  return {
    step: (what: string) => new Promise<void>((resolve) => void held.push({ what, go: resolve })),
    /** Releases the oldest step with this name, as soon as it waits. */
    letGo: async (what: string): Promise<void> => {
      for (;;) {
        const index = held.findIndex((one) => one.what === what)
        if (index >= 0) return held.splice(index, 1)[0]?.go()
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    waitingFor: (what: string): number => held.filter((one) => one.what === what).length,
  }
}

describe('a memory that is never stale', () => {
  test('builds once and answers from memory while the version stands', async () => {
    const { find, outcomes } = createBench()
    const first = await find('a')
    expect(await find('a')).toBe(first)
    expect(await find('b')).toMatchObject({ of: 'b' })
    expect(outcomes).toEqual({ hit: 1, miss: 2 })
  })

  test('builds again when the version has moved, in either direction', async () => {
    const { find, project, outcomes } = createBench()
    for (const version of [2, 3, 1]) {
      project.version = version
      expect(await find('a')).toMatchObject({ version: String(version) })
    }
    expect(outcomes).toEqual({ hit: 0, miss: 3 })
  })

  test('builds once for all who ask at the same time', async () => {
    const { find, outcomes } = createBench()
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => find('a')))
    expect(new Set(answers).size).toBe(1)
    expect(outcomes.miss).toBe(1)
  })

  test('does not give a build that read before the request to the request', async () => {
    const { step, letGo } = createHolder()
    const { find, project, outcomes } = createBench(step)
    const early = find('a')
    await letGo('build asked')
    // The build has read version 1. Now the project changes, and the change is acknowledged.
    await new Promise((resolve) => setImmediate(resolve))
    project.version = 2
    const late = find('a')
    await letGo('build answered')
    expect(await early).toMatchObject({ version: '1' })
    await letGo('version asked')
    await letGo('version answered')
    await letGo('build asked')
    await letGo('build answered')
    expect(await late).toMatchObject({ version: '2' })
    expect(outcomes.miss).toBe(2)
  })

  test('those who were disappointed by the same build share the next one', async () => {
    const { step, letGo, waitingFor } = createHolder()
    const { find, project, outcomes } = createBench(step)
    const early = find('a')
    await letGo('build asked')
    await new Promise((resolve) => setImmediate(resolve))
    project.version = 2
    const late = [find('a'), find('a'), find('a')]
    await letGo('build answered')
    await early
    for (let i = 0; i < 3; i++) await letGo('version asked')
    for (let i = 0; i < 3; i++) await letGo('version answered')
    await letGo('build asked')
    await letGo('build answered')
    for (const answer of await Promise.all(late)) expect(answer).toMatchObject({ version: '2' })
    expect(outcomes.miss).toBe(2)
    expect(waitingFor('build asked')).toBe(0)
  })

  test('remembers neither what is not there nor a failure', async () => {
    const { find, project, outcomes } = createBench()
    project.exists = false
    expect(await find('a')).toBeNull()
    project.exists = true
    project.fails = true
    await expect(find('a')).rejects.toThrow('the database is away')
    project.fails = false
    expect(await find('a')).toMatchObject({ of: 'a' })
    project.exists = false
    project.version = 2
    expect(await find('a')).toBeNull()
    expect(outcomes).toEqual({ hit: 0, miss: 4 })
  })

  test('holds no more than its bytes, and builds anew what it had to let go', async () => {
    const { find, outcomes } = createBench()
    for (let i = 0; i < 200; i++) await find(`key ${i}`)
    expect(outcomes.miss).toBe(200)
    await find('key 199')
    expect(outcomes).toEqual({ hit: 1, miss: 200 })
    await find('key 0')
    expect(outcomes).toEqual({ hit: 1, miss: 201 })
  })

  test('in whatever order reads, builds and changes happen, no answer is older than its request', async () => {
    const commands = fc.array(fc.constantFrom('read', 'read', 'change'), { minLength: 2, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), commands, async (scheduler, order) => {
        const { find, project } = createBench((what) => scheduler.schedule(Promise.resolve(), what))
        const reads: Promise<{ floor: number; seen: number }>[] = []
        scheduler.scheduleSequence(
          order.map((command) => async () => {
            if (command === 'change') project.version++
            else {
              const floor = project.version
              reads.push(find('a').then((value) => ({ floor, seen: Number(value?.version) })))
            }
          }),
        )
        await scheduler.waitIdle()
        const stale = (await Promise.all(reads)).filter(({ floor, seen }) => seen < floor)
        expect(stale).toEqual([])
      }),
      { numRuns: 2_000 },
    )
  })
})
