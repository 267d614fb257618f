// F32: somebody who owns the database tampers with the audit trail, a thousand times in random ways. Full verification against
// checkpoints that were kept outside, and the two passes of the service, have to find each, at the right row.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Base, openBase } from '../base.ts'
import { type Mutant, type Row, playedOn } from '../row.ts'
import { bySize } from '../schedule.ts'
import { createVerdict } from '../verdict.ts'
import { mutant } from '../plant.ts'

/** The rows at which each way of verification found it; null when it did not, or is not meant to. */
type Tried = { kind: string; expected: number; full: number | null; passes: number | null }
type Observed = { tried: Tried[]; falseAlarms: string[]; rowsPerSecond: number }

// Tampers and verifies in transactions that are rolled back, which no command of the operator does.
const program = fileURLToPath(import.meta.resolve('@manager/manager/tamper-audit'))

async function observe({ cluster, options, say }: Base): Promise<Observed> {
  const count = bySize(options, 1_000, 100)
  say(`tampering ${count} times`)
  const args = [program, cluster.adminUrl, String(options.seed), String(count)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 16 * 1_048_576 })
  return JSON.parse(stdout) as Observed
}

const texts = (some: readonly Tried[]): string[] => some.map((one) => JSON.stringify(one))
const isMissed = ({ full, passes }: Tried): boolean => full === null || passes === null

function judge({ tried, falseAlarms, rowsPerSecond }: Observed) {
  const figures = createVerdict()
  const missed = tried.filter(isMissed)
  const isMisplaced = (one: Tried): boolean =>
    !isMissed(one) && (one.full !== one.expected || one.passes !== one.expected)
  figures.show('detected', `${tried.length - missed.length}/${tried.length}`)
  figures.none('missed', texts(missed))
  figures.none('misplaced', texts(tried.filter(isMisplaced)))
  figures.none('false_alarms', falseAlarms)
  figures.show('verify_rows_s', Math.round(rowsPerSecond))
  return figures.verdict
}

const planted = (name: string, breaks: string, found: Partial<Tried>): Mutant<Observed> => ({
  name,
  breaks,
  plant: (observed) => ({
    ...observed,
    tried: observed.tried.map((one, index) => (index === 7 ? { ...one, ...found } : one)),
  }),
})

export const f32: Row = playedOn<Observed, Base, object>(
  (_setup, options, say) => openBase({ replicas: 0 }, options, say, () => Promise.resolve({})),
  {
    id: 'F32',
    title: 'a thousand random tamperings with the audit trail, as superuser',
    setup: () => ({}),
    limitSeconds: 600,
    observe,
    judge,
    mutants: [
      planted('full verification finds nothing', 'missed', { full: null }),
      planted('the passes find nothing', 'missed', { passes: null }),
      planted('another row is named', 'misplaced', { passes: 41 }),
      mutant('something is found where nothing is', 'false_alarms', () => ({ falseAlarms: ['x'] })),
    ],
  },
)
