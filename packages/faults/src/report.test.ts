// Checks that the table of a run shows which scenarios passed, their recovery times, and whether every planted mistake
// was found.
import { expect, test } from 'vitest'
import { ownNumbers } from './base.ts'
import { playAll, type Played } from './program.ts'
import { renderTable } from './report.ts'
import type { Row } from './row.ts'
import { createVerdict } from './verdict.ts'

const options = {
  seed: 7,
  size: 'short' as const,
  ...ownNumbers,
  keep: false,
}

/** Creates a scenario with these losses. `isFound` determines whether its mutant is found. */
const rowOf = (id: string, lost: string[], isFound = true): Row => ({
  id,
  title: `row ${id}`,
  schedule: () => [{ what: 'kill', atMs: 1 }],
  play: () => {
    const figures = createVerdict()
    figures.none('lost', lost)
    figures.recovery('recover_ms', { ms: 1_840, max: 5_000, bareMs: 1_200 })
    const mutants = [{ name: 'a planted loss', breaks: 'lost', isFound, figures: ['lost=1'] }]
    return Promise.resolve({ verdict: figures.verdict, mutants, timeline: null, coresStolen: 0 })
  },
})

async function play(rows: Row[], repeat = 1): Promise<{ played: Played[]; lines: string[] }> {
  const lines: string[] = []
  const print = (line: string): void => void lines.push(line)
  return { played: await playAll({ rows, options, repeat, print, keep: () => undefined }), lines }
}

test('a row that holds, and whose mutants are found, passes', async () => {
  const { played, lines } = await play([rowOf('F01', [])])
  expect(lines).toEqual([
    'FAULT F01 lost=0 recover_ms=1840(<=5000) bare_recover_ms=1200 cores_stolen=0.00 schedule=feac26dd seed=7 PASS',
    'MUTANT F01 "a planted loss" lost=1 FOUND',
  ])
  expect(played).toMatchObject([{ isGood: true }])
  expect(renderTable(played).split('\n')).toEqual([
    'row  verdict  took  mutants  recovery (bare engine)   must be 0',
    'F01  PASS     0 s   1/1      recover 1.84 s (1.20 s)  lost=0',
    '1 of 1 rows passed, 1 of 1 mutants found, in 0 s',
  ])
})

test('a row that finds something, one that does not end, and one whose mutant is not found fail', async () => {
  const broken: Row = { ...rowOf('F03', []), play: () => Promise.reject(new Error('took longer than 3 s')) }
  const { played } = await play([rowOf('F01', ['r1']), broken, rowOf('F04', [], false)])
  expect(played.map(({ isGood }) => isGood)).toEqual([false, false, false])
  expect(renderTable(played)).toContain('took longer than 3 s')
  expect(renderTable(played)).toContain('0 of 3 rows passed, 1 of 2 mutants found')
})

test('a row that is played several times has to have one schedule', async () => {
  let times = 0
  const changing: Row = { ...rowOf('F03', []), schedule: () => [{ what: 'kill', atMs: ++times }] }
  const { played, lines } = await play([rowOf('F01', []), changing], 2)
  expect(lines.filter((line) => line.startsWith('SCHEDULE'))).toEqual([
    'SCHEDULE F01 seed=7 feac26dd feac26dd SAME',
    expect.stringMatching(/^SCHEDULE F03 seed=7 \w+ \w+ DIFFERENT$/),
  ])
  expect(played.map(({ isGood }) => isGood)).toEqual([true, true, false, false])
})

/** Creates a scenario whose first run has these losses and is too slow, on a machine with stolen cores. */
const slowAtFirst = (coresStolen: number, lost: string[]): Row => {
  const row = rowOf('F01', [])
  let times = 0
  return {
    ...row,
    play: async (...given) => {
      const good = await row.play(...given)
      if (++times > 1) return good
      const figures = createVerdict()
      figures.none('lost', lost)
      figures.recovery('recover_ms', { ms: 9_000, max: 5_000 })
      return { ...good, verdict: figures.verdict, coresStolen }
    },
  }
}

test('a row that was too slow is played once more where others had the machine, and not otherwise', async () => {
  const { played, lines } = await play([slowAtFirst(0.9, [])])
  expect(lines.filter((line) => !line.startsWith('MUTANT'))).toEqual([
    'FAULT F01 lost=0 recover_ms=9000(<=5000) cores_stolen=0.90 schedule=feac26dd seed=7 FAIL',
    'AGAIN F01: the host stole 0.90 cores',
    'FAULT F01 lost=0 recover_ms=1840(<=5000) bare_recover_ms=1200 cores_stolen=0.00 schedule=feac26dd seed=7 PASS',
  ])
  expect(played).toMatchObject([{ isGood: true }])
  for (const row of [slowAtFirst(0.1, []), slowAtFirst(0.9, ['r1'])])
    expect((await play([row])).played).toMatchObject([{ isGood: false }])
})

test('nor is one that is in time and blind, or that broke a number which has nothing to do with time', async () => {
  const wrong = slowAtFirst(0.9, [])
  const repeated: Row = {
    ...wrong,
    play: async (...given) => {
      const result = await wrong.play(...given)
      const figures = createVerdict()
      figures.atMost('dup_deliv', 2, 1)
      return { ...result, verdict: figures.verdict, coresStolen: 0.9 }
    },
  }
  const good = rowOf('F02', [], false)
  const blind: Row = {
    ...good,
    play: async (...given) => ({ ...(await good.play(...given)), coresStolen: 0.9 }),
  }
  const { played, lines } = await play([repeated, blind])
  expect(played.map(({ isGood }) => isGood)).toEqual([false, false])
  expect(lines.filter((line) => line.startsWith('AGAIN'))).toEqual([])
})
