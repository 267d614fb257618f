// F32: a database superuser tampers with the audit trail 1,000 times in random ways. Full verification against external
// checkpoints, and the two verification passes of the service, must report every change at the correct row.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Base, openBase } from '../base.ts'
import { type Mutant, type Row, createRow } from '../row.ts'
import { bySize } from '../schedule.ts'
import { createVerdict } from '../verdict.ts'
import { mutant } from '../plant.ts'

/** The row at which each kind of verification found the change, or null if the change was not found. */
type Tried = { kind: string; expected: number; full: number | null; passes: number | null }
type Observed = { tried: Tried[]; falseAlarms: string[]; rowsPerSecond: number }

// The program tampers and verifies in transactions that it rolls back, which operator commands do not support.
const program = fileURLToPath(import.meta.resolve('@manager/manager/tamper-audit'))

async function observe({ cluster, options, log }: Base): Promise<Observed> {
  const count = bySize(options, 1_000, 100)
  log(`tampering with the audit trail ${count} times`)
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

export const f32: Row = createRow<Observed, Base, object>(
  (_setup, options, log) => openBase({ replicas: 0 }, options, log, () => Promise.resolve({})),
  {
    id: 'F32',
    title: 'a superuser makes 1,000 random changes to the audit trail',
    setup: () => ({}),
    limitSeconds: 600,
    observe,
    judge,
    mutants: [
      planted('full verification finds nothing', 'missed', { full: null }),
      planted('the passes find nothing', 'missed', { passes: null }),
      planted('the wrong row is reported', 'misplaced', { passes: 41 }),
      mutant('an intact trail is reported as broken', 'false_alarms', () => ({ falseAlarms: ['x'] })),
    ],
  },
)
