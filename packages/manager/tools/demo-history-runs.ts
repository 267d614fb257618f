// Lists a month of trigger runs: most are delivered on the first attempt, some after retries, some fail, and Billing
// has had no live backend for three hours.
import { v7 } from 'uuid'
import type { DemoShop } from './demo-data.ts'
import type { MachineIds } from './demo-data-machine.ts'
import { type Past, type Random, createRandom } from './demo-past.ts'
import { type TriggerPlan, triggers } from './demo-world.ts'

/** Hours since the last heartbeat of the Billing backend. */
export const silentHours = 3

const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000]
/** Seconds from the planned time to each attempt, with the default delays of the service. */
const attemptSeconds = [0, 5, 35, 155] as const

type Outcome = {
  outcome: string
  attempts: number
  executed_at: string | null
  finished_at: string
  response_status: number | null
  failure: string | null
}

/** Returns the runs in the range, in no particular order. */
export function listRuns(shop: DemoShop, ids: MachineIds, past: Past) {
  const random = createRandom(2)
  return triggers.flatMap((plan) => {
    const { name, cronExpression, runKey } = plan.input
    const fixed = {
      application_id: shop.applications[plan.application].id,
      trigger_id: ids.triggers.get(runKey) ?? '',
      trigger_name: name,
      cron_expression: cronExpression,
      run_key: runKey,
    }
    return plan.environments.flatMap((environment) =>
      listPlannedTimes(plan, past).map((time) => ({
        ...fixed,
        id: v7({ msecs: time }),
        scheduled_at: new Date(time).toISOString(),
        environment_id: ids.environments[environment] ?? '',
        ...createOutcome(plan, { time, past, random }),
      })),
    )
  })
}

function listPlannedTimes({ everyMinutes }: TriggerPlan, { from, until }: Past): number[] {
  const times: number[] = []
  const stepMs = everyMinutes * minuteMs
  // The attempts of a run must have ended before the present.
  const lastTime = until - 5 * minuteMs
  for (let at = Math.ceil(from / stepMs) * stepMs; at < lastTime; at += stepMs) times.push(at)
  return times
}

type Moment = { time: number; past: Past; random: Random }

function createOutcome({ application }: TriggerPlan, { time, past, random }: Moment): Outcome {
  if (application === 'billing' && past.until - time < silentHours * hourMs)
    return createEndedRun({ outcome: 'skipped_no_backend', attempts: 0 }, time)
  const luck = random.next()
  if (luck < 0.006)
    return createEndedRun({ outcome: 'failed', attempts: 4, status: 503, failure: describeStatus(503) }, time)
  if (luck < 0.009)
    return createEndedRun({ outcome: 'failed', attempts: 1, status: 400, failure: describeStatus(400) }, time)
  if (luck < 0.012) return createEndedRun({ outcome: 'skipped_overlap', attempts: 0 }, time)
  const attempts = luck < 0.04 ? random.between(2, 3) : 1
  return createEndedRun({ outcome: 'delivered', attempts, status: 204 }, time)
}

const describeStatus = (status: number): string => `the backend returned ${status}`

type Ending = { outcome: string; attempts: number; status?: number; failure?: string }

function createEndedRun({ outcome, attempts, status, failure }: Ending, time: number): Outcome {
  const lastAttemptAt = time + (attemptSeconds[attempts - 1] ?? 0) * secondMs
  return {
    outcome,
    attempts,
    executed_at: attempts === 0 ? null : new Date(time + 40).toISOString(),
    finished_at: new Date(lastAttemptAt + (attempts === 0 ? 0 : 120)).toISOString(),
    response_status: status ?? null,
    failure: failure ?? null,
  }
}
