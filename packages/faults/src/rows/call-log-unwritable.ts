// F24: the call log is not writable. A call that cannot be logged is not forwarded: the caller receives 503, and the
// upstream receives nothing. Calls succeed again as soon as rows can be written.
import { pause } from '../children.ts'
import { serviceRole } from '../cluster.ts'
import type { CallRecord } from '../esb/caller.ts'
import { statusesOf } from '../esb/checkers.ts'
import type { EsbObserved } from '../esb/checkers.ts'
import { defineEsbRow } from '../esb/row.ts'
import type { EsbStage } from '../esb/stage.ts'
import type { FaultSpan } from '../mixed/history.ts'
import type { Row } from '../row.ts'
import { mutant } from '../plant.ts'

type Observed = EsbObserved & { faults: FaultSpan[] }

const perSecond = 60
const [firstMs, faultMs, pauseMs] = [4_000, 6_000, 4_000]
const recoverMs = 2_000

// Creates the database trigger at the start. Under load, creating it would wait for all callers and block them.
const triggerFunction = (statement: string): string =>
  `create or replace function refuse_row() returns trigger language plpgsql as $$ begin ${statement}; end $$`
const trigger =
  'create trigger refuse_row before insert on esb_audit_logs for each row execute function refuse_row()'
const pass = triggerFunction('return new')
const faultSteps = [
  { name: 'a trigger raises', apply: triggerFunction("raise exception 'no more rows'"), heal: pass },
  {
    name: 'insert is revoked',
    apply: `revoke insert on esb_audit_logs from ${serviceRole}`,
    heal: `grant insert on esb_audit_logs to ${serviceRole}`,
  },
]

async function observe(stage: EsbStage): Promise<Observed> {
  const { sql } = stage.cluster
  await sql.query(`${pass}; ${trigger}`)
  const calls = await stage.caller.start({ kinds: [stage.goodCall()], perSecond })
  const faults: FaultSpan[] = []
  await pause(firstMs)
  for (const { name, apply, heal } of faultSteps) {
    stage.log(name)
    await sql.query(apply)
    const at = Date.now()
    await pause(faultMs)
    const until = Date.now()
    await sql.query(heal)
    faults.push({ name, at, until })
    await pause(pauseMs)
  }
  const records = await calls.stop()
  return {
    ...(await stage.history(records)),
    faults,
  }
}

/** Returns calls that started and ended while no log row could be written. */
const during = ({ calls, faults }: Observed): CallRecord[] =>
  calls.filter(({ start, ms }) => faults.some(({ at, until }) => start > at && start + ms < until))

/** Returns calls that ended long before, or started long after, every fault. */
const outside = ({ calls, faults }: Observed): CallRecord[] =>
  calls.filter(({ start, ms }) =>
    faults.every(({ at, until }) => start + ms < at - 500 || start > until + recoverMs),
  )

/** Returns the longest time from the end of a fault to the first successful call. */
const recoveredMs = ({ calls, faults }: Observed): number =>
  Math.max(
    ...faults.map(({ until }) =>
      Math.min(
        ...calls
          .filter(({ start, status }) => start >= until && status === 200)
          .map(({ start, ms }) => start + ms - until),
      ),
    ),
  )

const described = ({ kind, status, problem }: CallRecord): string => `${kind} ${status} ${problem}`

export const f24: Row = defineEsbRow<Observed>({
  id: 'F24',
  title: 'inserts into the call log fail: first a trigger raises, then INSERT is revoked',
  setup: () => ({ replicas: 3, postgres: 'patroni', withSentinel: true }),
  limitSeconds: 120,
  observe,
  judge: (figures, observed) => {
    const duringFault = during(observed)
    const keys = new Set(duringFault.map(({ key }) => key))
    figures.none(
      'upstream_hits',
      observed.hits.filter((id) => keys.has(id)),
    )
    figures.none('not_rejected', duringFault.filter(({ status }) => status !== 503).map(described))
    figures.none(
      'failed_outside',
      outside(observed)
        .filter(({ status }) => status !== 200)
        .map(described),
    )
    figures.atLeast('refused', duringFault.length, 100)
    figures.atLeast('passed', outside(observed).length, 100)
    figures.atMost('recover_ms', recoveredMs(observed), recoverMs)
    figures.show('statuses', statusesOf(observed.calls))
  },
  mutants: [
    mutant('a call is forwarded without a row', 'upstream_hits', (observed) => ({
      hits: [...observed.hits, during(observed)[0]?.key ?? ''],
    })),
    mutant('a call is accepted while nothing can be logged', 'not_rejected', (observed) => {
      const key = during(observed)[0]?.key
      return {
        calls: observed.calls.map((call) => (call.key === key ? { ...call, status: 200 } : call)),
      }
    }),
    mutant('a call fails before the fault', 'failed_outside', (observed) => {
      const key = outside(observed)[0]?.key
      return {
        calls: observed.calls.map((call) => (call.key === key ? { ...call, status: 500 } : call)),
      }
    }),
    mutant('no call succeeds again', 'recover_ms', (observed) => ({
      calls: observed.calls.filter(({ start }) => start < (observed.faults.at(-1)?.until ?? 0)),
    })),
  ],
})
