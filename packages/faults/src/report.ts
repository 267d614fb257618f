// Output files of a fault run: a table for humans, and figures and schedules for programs.
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Played } from './program.ts'
import { digestOf } from './schedule.ts'
import { drawTimeline } from './timeline.ts'

const folder = new URL('../out/', import.meta.url).pathname

/** Creates the output folder of a run. */
export function createOutFolder(seed: number, now = new Date()): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll('-', '').replaceAll(':', '')
  const path = `${folder}${stamp}-${seed}`
  mkdirSync(path, { recursive: true })
  return path
}

/** Writes the results so far. Call it after each scenario. */
export function writeOut(path: string, played: readonly Played[]): void {
  writeFileSync(`${path}/table.txt`, `${renderTable(played)}\n`)
  const last = played.at(-1)
  if (last !== undefined && last.timeline !== null) {
    const name = last.round === 1 ? last.id : `${last.id}-${last.round}`
    writeFileSync(`${path}/${name}.svg`, drawTimeline(last.timeline))
  }
  writeFileSync(`${path}/rows.json`, `${JSON.stringify(played.map(toJson), null, 2)}\n`)
}

const toJson = (one: Played): object => {
  const { id, title, seed, round, schedule, seconds, isGood, error, mutants, verdict } = one
  return {
    id,
    title,
    seed,
    round,
    isGood,
    seconds,
    error,
    figures: verdict?.figures ?? [],
    broken: verdict?.broken ?? [],
    recoveries: verdict?.recoveries ?? [],
    mutants,
    digest: digestOf(schedule),
    schedule,
  }
}

const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`

/** Renders one line per scenario and a summary line. */
export function renderTable(played: readonly Played[]): string {
  const header = ['row', 'verdict', 'took', 'mutants', 'recovery (bare engine)', 'must be 0']
  const lines = played.map(({ id, round, isGood, seconds: took, mutants, verdict, error }) => [
    round === 1 ? id : `${id} (${round})`,
    isGood ? 'PASS' : 'FAIL',
    `${Math.round(took)} s`,
    `${mutants.filter(({ isFound }) => isFound).length}/${mutants.length}`,
    (verdict?.recoveries ?? [])
      .map(
        ({ figure, ms, bareMs }) =>
          `${figure.replace(/_ms$/, '')} ${inSeconds(ms)} (${bareMs === null ? '-' : inSeconds(bareMs)})`,
      )
      .join(', '),
    (verdict?.counts ?? [error ?? '']).join(' '),
  ])
  const widths = header.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)),
  )
  const render = (line: string[]): string =>
    line
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [render(header), ...lines.map(render), renderSum(played)].join('\n')
}

function renderSum(played: readonly Played[]): string {
  const mutants = played.flatMap((one) => one.mutants)
  const took = played.reduce((sum, one) => sum + one.seconds, 0)
  const good = played.filter(({ isGood }) => isGood).length
  const found = mutants.filter(({ isFound }) => isFound).length
  return `${good} of ${played.length} rows passed, ${found} of ${mutants.length} mutants found, in ${Math.round(took)} s`
}
