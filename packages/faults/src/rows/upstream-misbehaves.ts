// F22: an ESB upstream misbehaves in all ways that esb/misbehaviors.ts lists, while other calls use a good
// upstream. Each call to the bad upstream fails in time or returns the unchanged response, never a truncated one.
// Calls to the good upstream are not slower than without the bad one.
import { pause, until } from '../children.ts'
import { rssOf } from '../cpu.ts'
import { type CallKind, type CallRecord, startCaller } from '../esb/caller.ts'
import { type EsbObserved, type LoggedRow, statusesOf, timeAt } from '../esb/checkers.ts'
import { misbehaviors } from '../esb/misbehaviors.ts'
import { defineEsbRow } from '../esb/row.ts'
import { type EsbStage, callHeaders } from '../esb/stage.ts'
import type { Row } from '../row.ts'
import { mutant } from '../plant.ts'

type Observed = EsbObserved & {
  /** Calls to the good upstream with and without calls to the bad one. */
  withBad: CallRecord[]
  withoutBad: CallRecord[]
  bad: CallRecord[]
  /** Number of connections to the bad upstream when the scenario ends. */
  leaked: number
  rssMb: number
}

const goodPerSecond = 200
const badPerSecond = 12
const rounds = 3
const phaseMs = 5_000
const timeoutMs = 1_000
// The time after the timeout in which even a busy machine must return the response.
const marginMs = 1_300
// Responses of 10 MiB use the same two cores as the other calls.
const [goodRatio, slackMs] = [1.3, 50]
const quietMs = 15_000

/** Returns all misbehaviors at two log levels, because FULL reads the forwarded body. */
async function badKinds(stage: EsbStage): Promise<CallKind[]> {
  const endpoints = [
    await stage.endpoint({ url: `${stage.upstreams.badUrl}/target`, logLevel: 'BASIC' }),
    await stage.endpoint({ url: `${stage.upstreams.badUrl}/target`, logLevel: 'FULL' }),
  ]
  return misbehaviors.flatMap(({ name }, number) =>
    endpoints.map(({ path }) => ({
      name,
      url: `${stage.balancer.url}${path}?case=${number}`,
      headers: callHeaders(stage.site),
    })),
  )
}

async function observe(stage: EsbStage): Promise<Observed> {
  const kinds = await badKinds(stage)
  const callGood = async (ms: number): Promise<CallRecord[]> => {
    const calls = await stage.caller.start({ kinds: [stage.goodCall()], perSecond: goodPerSecond })
    await pause(ms)
    return calls.stop()
  }
  const [withoutBad, withBad, bad]: [CallRecord[], CallRecord[], CallRecord[]] = [[], [], []]
  // Hashing large responses keeps a process busy, so a different process makes and times the calls to the good
  // upstream.
  const badCaller = stage.registerPart(await startCaller(stage.folder))
  const startBad = () => badCaller.start({ kinds, perSecond: badPerSecond })
  // The first phase is a warm-up.
  const firstBad = await startBad()
  const first = await callGood(3_000)
  bad.push(...(await firstBad.stop()))
  let rssMb = 0
  for (let round = 0; round < rounds; round++) {
    withoutBad.push(...(await callGood(phaseMs)))
    stage.log('calling the bad upstream too')
    const calls = await startBad()
    await pause(timeoutMs)
    withBad.push(...(await callGood(phaseMs)))
    rssMb = Math.max(rssMb, ...stage.replicas.map(({ pid }) => rssOf(pid)))
    bad.push(...(await calls.stop()))
  }
  await until('all connections to close', quietMs, async () => (await stage.upstreams.open()) === 0).catch(
    () => undefined,
  )
  return {
    ...(await stage.history([...first, ...withoutBad, ...withBad, ...bad])),
    withoutBad,
    withBad,
    bad,
    leaked: await stage.upstreams.open(),
    rssMb,
  }
}

const misbehaviorOf = ({ kind }: CallRecord) => misbehaviors.find(({ name }) => name === kind)

/**
 * Returns whether the call ended as required: it failed visibly, or the caller received the response
 * unchanged.
 */
function isRight(call: CallRecord): boolean {
  const { passes = null, mayFail = false } = misbehaviorOf(call) ?? {}
  const hasPassed = call.status === 200 && call.isComplete && call.digest === passes
  const hasFailed = call.status === 502 || (call.status === 200 && !call.isComplete)
  return passes === null ? hasFailed : hasPassed || (mayFail && hasFailed)
}

/** Returns whether a response seems complete but differs from what the upstream sent. */
const isTruncated = (call: CallRecord): boolean =>
  call.status === 200 && call.isComplete && call.digest !== misbehaviorOf(call)?.passes

const described = ({ kind, status, ms, problem }: CallRecord): string =>
  `${kind}: ${status} after ${Math.round(ms)} ms ${problem}`

/** Returns calls to the bad upstream that do not have exactly one log row with their outcome. */
function checkRows(bad: readonly CallRecord[], rows: readonly LoggedRow[]): string[] {
  const logged = Map.groupBy(rows, ({ requestId }) => requestId)
  return bad
    .filter(({ key, status, isComplete }) => {
      const [row, ...more] = logged.get(key) ?? []
      const expected = status === 200 && !isComplete ? 502 : status
      return row?.hasEnd !== true || row.status !== expected || more.length > 0
    })
    .map((call) => `${described(call)}, rows: ${JSON.stringify(logged.get(call.key) ?? [])}`)
}

export const f22: Row = defineEsbRow<Observed>({
  id: 'F22',
  title: 'one ESB upstream misbehaves in every way while calls use a good upstream',
  setup: () => ({ replicas: 3, env: { SVC_ESB_FORWARD_TIMEOUT: `${timeoutMs}ms` } }),
  limitSeconds: 180,
  observe,
  judge: (figures, observed) => {
    const { bad, withBad, withoutBad } = observed
    figures.none('wrong_outcome', bad.filter((call) => !isRight(call)).map(described))
    figures.none('truncated_as_200', bad.filter(isTruncated).map(described))
    figures.none('late', bad.filter(({ ms }) => ms > timeoutMs + marginMs).map(described))
    figures.none('rows_differ', checkRows(bad, observed.rows))
    figures.show('rows==responses', `${bad.length - checkRows(bad, observed.rows).length}==${bad.length}`)
    figures.atMost('leaked_sockets', observed.leaked, 0)
    figures.none(
      'neighbors_failed',
      [...withBad, ...withoutBad].filter(({ status }) => status !== 200).map(described),
    )
    const [with99, without99] = [timeAt(withBad, 0.99), timeAt(withoutBad, 0.99)]
    figures.atMost('neighbor_p99_ms', with99, Math.max(goodRatio * without99, without99 + slackMs))
    figures.show('neighbor_p99_ratio', with99 / without99)
    figures.atLeast('bad_calls', bad.length, 100)
    figures.atLeast('kinds', new Set(bad.map(({ kind }) => kind)).size, misbehaviors.length)
    figures.show('bad_statuses', statusesOf(bad))
    figures.show('cut', bad.filter(({ isComplete }) => !isComplete).length)
    figures.show(
      'refused_100_continue',
      bad.filter((call) => misbehaviorOf(call)?.mayFail === true && call.status === 502).length,
    )
    figures.show('rss_mb', observed.rssMb)
  },
  mutants: [
    mutant('a truncated response is reported as complete', 'truncated_as_200', (observed) => ({
      bad: observed.bad.map((call) =>
        call.kind === 'less than Content-Length'
          ? { ...call, status: 200, isComplete: true, digest: 'hell' }
          : call,
      ),
    })),
    mutant('a gzip bomb is unpacked', 'wrong_outcome', (observed) => ({
      bad: observed.bad.map((call) => (call.kind === 'a gzip bomb' ? { ...call, digest: 'zeros' } : call)),
    })),
    mutant('a call waits for a silent upstream', 'late', (observed) => ({
      bad: observed.bad.map((call) => (call.kind === 'silence' ? { ...call, ms: 30_000 } : call)),
    })),
    mutant('a failed call has no row', 'rows_differ', (observed) => {
      const key = observed.bad.find(({ status }) => status === 502)?.key
      return { rows: observed.rows.filter(({ requestId }) => requestId !== key) }
    }),
    mutant('a connection leaks', 'leaked_sockets', () => ({ leaked: 1 })),
    mutant(
      'a call to the good upstream fails',
      'neighbors_failed',
      ({ withBad: [call, ...rest], ...observed }) => ({
        ...observed,
        withBad: [{ ...(call as CallRecord), status: 503, retryAfter: '1' }, ...rest],
      }),
    ),
    mutant('calls to the good upstream wait for the bad upstream', 'neighbor_p99_ms', (observed) => ({
      withBad: observed.withBad.map((call, index) => (index % 50 === 0 ? { ...call, ms: 60_000 } : call)),
    })),
  ],
})
