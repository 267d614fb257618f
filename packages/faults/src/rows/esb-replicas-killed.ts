// F23: replicas are killed and replaced one at a time during ESB traffic. The log contains every call that reached
// the partner, and every call whose caller received the partner's response.
import { pause } from '../children.ts'
import type { CallRecord } from '../esb/caller.ts'
import { findRowsWithoutResponse, statusesOf } from '../esb/checkers.ts'
import type { EsbObserved } from '../esb/checkers.ts'
import { defineEsbRow } from '../esb/row.ts'
import type { EsbStage } from '../esb/stage.ts'
import type { FaultSpan } from '../mixed/history.ts'
import type { Replica } from '../replicas.ts'
import type { Row } from '../row.ts'
import type { MakeSchedule, Schedule } from '../schedule.ts'
import { mutant, wrongStatus } from '../plant.ts'

type Observed = EsbObserved & { faults: FaultSpan[] }

const perSecond = 300
const kills = 6
const firstMs = 3_000
const [minApartMs, spreadMs] = [1_500, 1_000]
const lastMs = 3_000
const recoverMs = 3_000
// The tolerance for times that two processes measure and round to milliseconds.
const clockMs = 50
// The load balancer returns 502 if a replica is killed during a call. Otherwise, only 503 is excused.
const excused = new Set([0, 200, 502, 503])

/** Plans the kills. `atMs` is the time since the previous replica was replaced. */
const planKills: MakeSchedule = (random) =>
  Array.from({ length: kills }, () => ({
    atMs: minApartMs + Math.floor(random() * spreadMs),
    what: 'SIGKILL',
  }))

async function observe(stage: EsbStage, schedule: Schedule): Promise<Observed> {
  const queue: Replica[] = [...stage.replicas]
  const calls = await stage.caller.start({ kinds: [stage.goodCall()], perSecond })
  const faults: FaultSpan[] = []
  await pause(firstMs)
  for (const { atMs } of schedule) {
    await pause(atMs)
    const victim = queue.shift() as Replica
    stage.log(`killing ${victim.name}`)
    stage.expectedExits.add(victim.name)
    const at = Date.now()
    victim.signal('SIGKILL')
    await victim.exit
    const next = await stage.startReplica()
    await stage.balancer.add(next)
    await stage.balancer.remove(victim)
    queue.push(next)
    faults.push({ name: `kill of ${victim.name}`, at, until: Date.now() })
  }
  await pause(lastMs)
  const records = await calls.stop()
  return {
    ...(await stage.history(records)),
    faults,
  }
}

const failed = ({ calls }: Observed): CallRecord[] => calls.filter(({ status }) => status !== 200)

/** Returns the longest time from a kill to the start of a call that failed because of it. */
const recoveredMs = (observed: Observed): number =>
  Math.max(
    0,
    ...failed(observed).map(({ start, ms }) => {
      // A kill also ends calls that are already open.
      const kill = observed.faults.findLast(({ at }) => at <= start + ms + clockMs)
      return kill === undefined ? Infinity : start - kill.at
    }),
  )

export const f23: Row = defineEsbRow<Observed>({
  id: 'F23',
  title: `kill -9 of replicas in turn, ${kills} times, at ${perSecond} ESB calls per second`,
  schedule: planKills,
  setup: () => ({ replicas: 3, postgres: 'patroni', withSentinel: true }),
  limitSeconds: 240,
  observe,
  judge: (figures, observed) => {
    const answered = observed.calls.filter(({ isFromPartner, isComplete }) => isFromPartner && isComplete)
    figures.atLeast('kills', observed.faults.length, kills)
    figures.atLeast('answered', answered.length, 500)
    figures.show('rows_without_answer', findRowsWithoutResponse(observed).length)
    figures.show('rows_without_end', observed.rows.filter(({ hasEnd }) => !hasEnd).length)
    figures.none(
      'wrong_status',
      observed.calls
        .filter(({ status }) => !excused.has(status))
        .map(({ status, problem }) => `${status} ${problem}`),
    )
    figures.show('err_pct', (100 * failed(observed).length) / observed.calls.length)
    figures.show(
      'timeouts',
      observed.calls.filter(({ problem }) => problem.startsWith('TimeoutError')).length,
    )
    figures.atMost('recover_ms', recoveredMs(observed), recoverMs)
    figures.show('statuses', statusesOf(observed.calls))
  },
  mutants: [
    wrongStatus(),
    mutant('the load balancer keeps using the dead replica', 'recover_ms', (observed) => {
      const [call] = observed.calls as [CallRecord]
      const start = (observed.faults.at(-1)?.at ?? 0) + recoverMs + 1_000
      return {
        calls: [...observed.calls, { ...call, status: 502, isFromPartner: false, start }],
      }
    }),
  ],
})
