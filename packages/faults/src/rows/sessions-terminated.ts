// F06: every session of PostgreSQL is ended once a second. Connections are made again, what was read is read again, and
// nobody waits longer than their time.
import { writeTimes, writesBackMs } from '../mixed/checkers.ts'
import { callMs } from '../mixed/client.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import type { MixedStage } from '../mixed/stage.ts'
import type { Row } from '../row.ts'
import { neverRecovers } from '../mixed/spans.ts'
import { mutant } from '../plant.ts'

type Observed = MixedObserved & { ended_sessions: number }

const everyMs = 1_000
const firstMs = 5_000
const harmMs = 30_000
const lastMs = 8_000

async function observe(stage: MixedStage): Promise<Observed> {
  const load = await stage.startLoad((firstMs + harmMs + lastMs) / 1_000)
  await load.at(firstMs)
  stage.say('ending every session of PostgreSQL once a second')
  const at = Date.now()
  let sessions = 0
  for (let round = 0; round < harmMs / everyMs; round++) {
    await load.at(firstMs + round * everyMs)
    const { rowCount } = await stage.cluster.sql.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'manager%'",
    )
    sessions += rowCount ?? 0
  }
  const until = Date.now()
  await load.end()
  return {
    ...(await load.settle()),
    ended_sessions: sessions,
    faults: [{ name: 'sessions ended', at, until }],
  }
}

/** Calls that were not answered within the time of their callers. */
const hung = ({ operations }: MixedObserved): string[] =>
  operations
    .filter(({ start, end, op }) => op !== 'login' && end - start >= callMs)
    .map(({ op, start, end }) => `${op} ${end - start} ms`)

export const f06: Row = defineMixedRow<Observed>({
  id: 'F06',
  title: 'pg_terminate_backend of every session, once a second for 30 s',
  setup: () => ({ replicas: 3 }),
  limitSeconds: 240,
  observe,
  judge: (figures, observed) => {
    figures.none('hung', hung(observed))
    figures.atLeast('sessions', observed.ended_sessions, 100)
    const during = observed.operations.filter(({ start }) =>
      observed.faults.some(({ at, until }) => start >= at && start < until),
    )
    const failed = during.filter(({ outcome }) => outcome === 'unknown')
    figures.show('err_pct', (100 * failed.length) / Math.max(1, during.length))
    const last = observed.faults.at(-1)
    const after = { at: last?.until ?? 0, until: Infinity }
    figures.recovery('recover_ms', { ms: writesBackMs(writeTimes(observed.operations), after), most: 3_000 })
  },
  mutants: [
    mutant('a call never ends', 'hung', (observed) => ({
      operations: observed.operations.map((one, index) =>
        index === 0 ? { ...one, end: one.start + callMs + 1 } : one,
      ),
    })),
    neverRecovers('recover_ms', 1_000),
  ],
})
