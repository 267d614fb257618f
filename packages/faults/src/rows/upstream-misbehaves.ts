// F22: an upstream of the ESB misbehaves in every way while calls go to a good one. Each call to it fails in time, or passes
// as it was sent; none passes cut short; calls to the good one take as long as without it.
import { pause, until } from '../children.ts'
import { rssOf } from '../cpu.ts'
import { type CallKind, type CallRecord, startCaller } from '../esb/caller.ts'
import { type EsbObserved, type LoggedRow, statusesOf, timeAt } from '../esb/checkers.ts'
import { misbehaviours } from '../esb/misbehaviours.ts'
import { defineEsbRow } from '../esb/row.ts'
import { type EsbStage, callHeaders } from '../esb/stage.ts'
import type { Row } from '../row.ts'
import { mutant } from '../plant.ts'

type Observed = EsbObserved & {
  /** Calls to the good upstream with and without calls to the bad one. */
  beside: CallRecord[]
  alone: CallRecord[]
  bad: CallRecord[]
  /** How many connections the bad upstream has in the end. */
  leaked: number
  rssMb: number
}

const goodPerSecond = 200
const badPerSecond = 12
const rounds = 3
const phaseMs = 5_000
const timeoutMs = 1_000
// Beyond the timeout: what the answer takes through a busy machine.
const marginMs = 1_300
// Answers of 10 MiB pass through the same two cores as the neighbours.
const [goodRatio, slackMs] = [1.3, 50]
const quietMs = 15_000

/** All ways of misbehaving, at two log levels: FULL reads what passes. */
async function badKinds(stage: EsbStage): Promise<CallKind[]> {
  const endpoints = [
    await stage.endpoint({ url: `${stage.upstreams.badUrl}/target`, logLevel: 'BASIC' }),
    await stage.endpoint({ url: `${stage.upstreams.badUrl}/target`, logLevel: 'FULL' }),
  ]
  return misbehaviours.flatMap(({ name }, number) =>
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
  const [alone, beside, bad]: [CallRecord[], CallRecord[], CallRecord[]] = [[], [], []]
  // Hashing large answers keeps a process busy; those to the good one are called and timed by another.
  const badCaller = stage.ends(await startCaller(stage.folder))
  const startBad = () => badCaller.start({ kinds, perSecond: badPerSecond })
  // What runs for the first time takes longer.
  const firstBad = await startBad()
  const first = await callGood(3_000)
  bad.push(...(await firstBad.stop()))
  let rssMb = 0
  for (let round = 0; round < rounds; round++) {
    alone.push(...(await callGood(phaseMs)))
    stage.say('the bad upstream is called too')
    const calls = await startBad()
    await pause(timeoutMs)
    beside.push(...(await callGood(phaseMs)))
    rssMb = Math.max(rssMb, ...stage.replicas.map(({ pid }) => rssOf(pid)))
    bad.push(...(await calls.stop()))
  }
  await until('the end of all connections', quietMs, async () => (await stage.upstreams.open()) === 0).catch(
    () => undefined,
  )
  return {
    ...(await stage.history([...first, ...alone, ...beside, ...bad])),
    alone,
    beside,
    bad,
    leaked: await stage.upstreams.open(),
    rssMb,
  }
}

const misbehaviourOf = ({ kind }: CallRecord) => misbehaviours.find(({ name }) => name === kind)

/** Whether the call ended as it has to: failed, and its caller knows, or passed byte for byte. */
function isRight(call: CallRecord): boolean {
  const { passes = null, mayFail = false } = misbehaviourOf(call) ?? {}
  const hasPassed = call.status === 200 && call.isWhole && call.digest === passes
  const hasFailed = call.status === 502 || (call.status === 200 && !call.isWhole)
  return passes === null ? hasFailed : hasPassed || (mayFail && hasFailed)
}

/** Answers that seem whole and are not what the upstream sent. */
const isTruncated = (call: CallRecord): boolean =>
  call.status === 200 && call.isWhole && call.digest !== misbehaviourOf(call)?.passes

const described = ({ kind, status, ms, problem }: CallRecord): string =>
  `${kind}: ${status} after ${Math.round(ms)} ms ${problem}`

/** Calls to the bad upstream without exactly one row that tells how they ended. */
function checkRows(bad: readonly CallRecord[], rows: readonly LoggedRow[]): string[] {
  const logged = Map.groupBy(rows, ({ requestId }) => requestId)
  return bad
    .filter(({ key, status, isWhole }) => {
      const [row, ...more] = logged.get(key) ?? []
      const expected = status === 200 && !isWhole ? 502 : status
      return row?.hasEnd !== true || row.status !== expected || more.length > 0
    })
    .map((call) => `${described(call)}, rows: ${JSON.stringify(logged.get(call.key) ?? [])}`)
}

export const f22: Row = defineEsbRow<Observed>({
  id: 'F22',
  title: 'an upstream of the ESB misbehaves in every way beside a good one',
  setup: () => ({ replicas: 3, env: { SVC_ESB_FORWARD_TIMEOUT: `${timeoutMs}ms` } }),
  limitSeconds: 180,
  observe,
  judge: (figures, observed) => {
    const { bad, beside, alone } = observed
    figures.none('wrong_outcome', bad.filter((call) => !isRight(call)).map(described))
    figures.none('truncated_as_200', bad.filter(isTruncated).map(described))
    figures.none('late', bad.filter(({ ms }) => ms > timeoutMs + marginMs).map(described))
    figures.none('rows_differ', checkRows(bad, observed.rows))
    figures.show('rows==answers', `${bad.length - checkRows(bad, observed.rows).length}==${bad.length}`)
    figures.atMost('leaked_sockets', observed.leaked, 0)
    figures.none(
      'neighbours_failed',
      [...beside, ...alone].filter(({ status }) => status !== 200).map(described),
    )
    const [with99, without99] = [timeAt(beside, 0.99), timeAt(alone, 0.99)]
    figures.atMost('neighbour_p99_ms', with99, Math.max(goodRatio * without99, without99 + slackMs))
    figures.show('neighbour_p99_ratio', with99 / without99)
    figures.atLeast('bad_calls', bad.length, 100)
    figures.atLeast('kinds', new Set(bad.map(({ kind }) => kind)).size, misbehaviours.length)
    figures.show('bad_statuses', statusesOf(bad))
    figures.show('cut', bad.filter(({ isWhole }) => !isWhole).length)
    figures.show(
      'refused_100_continue',
      bad.filter((call) => misbehaviourOf(call)?.mayFail === true && call.status === 502).length,
    )
    figures.show('rss_mb', observed.rssMb)
  },
  mutants: [
    mutant('an answer that was cut short passes as whole', 'truncated_as_200', (observed) => ({
      bad: observed.bad.map((call) =>
        call.kind === 'less than announced' ? { ...call, status: 200, isWhole: true, digest: 'hell' } : call,
      ),
    })),
    mutant('a bomb is unpacked', 'wrong_outcome', (observed) => ({
      bad: observed.bad.map((call) => (call.kind === 'a gzip bomb' ? { ...call, digest: 'zeros' } : call)),
    })),
    mutant('an upstream that is silent is waited for', 'late', (observed) => ({
      bad: observed.bad.map((call) => (call.kind === 'silence' ? { ...call, ms: 30_000 } : call)),
    })),
    mutant('a failed call has no row', 'rows_differ', (observed) => {
      const key = observed.bad.find(({ status }) => status === 502)?.key
      return { rows: observed.rows.filter(({ requestId }) => requestId !== key) }
    }),
    mutant('a connection stays', 'leaked_sockets', () => ({ leaked: 1 })),
    mutant(
      'a call to the good upstream fails',
      'neighbours_failed',
      ({ beside: [call, ...rest], ...observed }) => ({
        ...observed,
        beside: [{ ...(call as CallRecord), status: 503, retryAfter: '1' }, ...rest],
      }),
    ),
    mutant('calls to the good upstream wait for the bad one', 'neighbour_p99_ms', (observed) => ({
      beside: observed.beside.map((call, index) => (index % 50 === 0 ? { ...call, ms: 60_000 } : call)),
    })),
  ],
})
