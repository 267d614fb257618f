// F06: every PostgreSQL session is terminated once per second. The service reconnects and retries reads, and no caller
// waits longer than its timeout.
import { writeTimes, writeRecoveryMs } from '../mixed/checkers.ts'
import { callMs } from '../mixed/client.ts'
import { type MixedObserved, defineMixedRow } from '../mixed/row.ts'
import type { MixedStage } from '../mixed/stage.ts'
import type { Row } from '../row.ts'
import { writesNeverRecover } from '../mixed/spans.ts'
import { mutant } from '../plant.ts'

type Observed = MixedObserved & { terminatedSessions: number }

const intervalMs = 1_000
const firstMs = 5_000
const faultMs = 30_000
const lastMs = 8_000

async function observe(stage: MixedStage): Promise<Observed> {
  const load = await stage.startLoad((firstMs + faultMs + lastMs) / 1_000)
  await load.at(firstMs)
  stage.log('terminating every PostgreSQL session once per second')
  const at = Date.now()
  let sessions = 0
  for (let round = 0; round < faultMs / intervalMs; round++) {
    await load.at(firstMs + round * intervalMs)
    const { rowCount } = await stage.cluster.sql.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'manager%'",
    )
    sessions += rowCount ?? 0
  }
  const until = Date.now()
  await load.end()
  return {
    ...(await load.settle()),
    terminatedSessions: sessions,
    faults: [{ name: 'sessions are terminated', at, until }],
  }
}

/** Returns calls without a response within the caller's timeout. */
const findHungCalls = ({ operations }: MixedObserved): string[] =>
  operations
    .filter(({ start, end, op }) => op !== 'login' && end - start >= callMs)
    .map(({ op, start, end }) => `${op} ${end - start} ms`)

export const f06: Row = defineMixedRow<Observed>({
  id: 'F06',
  title: 'pg_terminate_backend of every session, once per second for 30 s',
  setup: () => ({ replicas: 3 }),
  limitSeconds: 240,
  observe,
  judge: (figures, observed) => {
    figures.none('hung', findHungCalls(observed))
    figures.atLeast('sessions', observed.terminatedSessions, 100)
    const during = observed.operations.filter(({ start }) =>
      observed.faults.some(({ at, until }) => start >= at && start < until),
    )
    const failed = during.filter(({ outcome }) => outcome === 'unknown')
    figures.show('err_pct', (100 * failed.length) / Math.max(1, during.length))
    const last = observed.faults.at(-1)
    const after = { at: last?.until ?? 0, until: Infinity }
    figures.recovery('recover_ms', {
      ms: writeRecoveryMs(writeTimes(observed.operations), after),
      max: 3_000,
    })
  },
  mutants: [
    mutant('a call never completes', 'hung', (observed) => ({
      operations: observed.operations.map((one, index) =>
        index === 0 ? { ...one, end: one.start + callMs + 1 } : one,
      ),
    })),
    writesNeverRecover('recover_ms', 1_000),
  ],
})
