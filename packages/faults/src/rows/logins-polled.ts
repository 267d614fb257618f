// F26: a terminal, or an attacker with its session, sends many concurrent polls to all replicas. Exactly one poll
// receives the token.
import { randomUUID } from 'node:crypto'
import { type Base, openBase } from '../base.ts'
import { pause, until } from '../children.ts'
import { inParallel } from '../pace.ts'
import { type Row, createRow } from '../row.ts'
import { bySize } from '../schedule.ts'
import { createVerdict, lagsAt } from '../verdict.ts'
import { type Terminal, decide, openTerminal } from '@manager/harness/cli-login.ts'
import { changeOne, mutant } from '../plant.ts'

/** Responses to the polls for one login. */
type Polled = {
  code: string
  tokens: string[]
  expired: number
  pending: number
  other: string[]
  ms: number
}
type Observed = {
  sessions: number
  pollsEach: number
  polled: Polled[]
  /** Number of stored logins in each state, and number of revoked tokens. */
  states: Record<string, number>
  revoked: number
}

const pollsEach = 100
const concurrentApprovals = 4
const settleMs = 30_000

type Waiting = { terminal: Terminal; sessionId: string; code: string }

/** Starts and approves a login. Each step uses a different replica. */
async function approve({ replicas }: Base, index: number): Promise<Waiting> {
  const at = (step: number): { url: string } => ({
    url: replicas[(index + step) % replicas.length]?.url ?? '',
  })
  const terminal = await openTerminal(at(0))
  const { session_id: sessionId, user_code: code } = await terminal.login({ token_name: `terminal ${index}` })
  const { status } = await decide(at(1), { id: randomUUID(), name: `person ${index}` }, code, 'approve')
  if (status !== 200) throw new Error(`the approval of ${code} returned ${status}`)
  return { terminal, sessionId, code }
}

async function pollConcurrently({ replicas }: Base, { terminal, sessionId, code }: Waiting): Promise<Polled> {
  const start = performance.now()
  const answers = await Promise.all(
    Array.from({ length: pollsEach }, (_, index) =>
      terminal.poll(sessionId, {}, replicas[index % replicas.length]?.url),
    ),
  )
  const polled: Polled = {
    code,
    tokens: [],
    expired: 0,
    pending: 0,
    other: [],
    ms: performance.now() - start,
  }
  for (const { status, body } of answers)
    if ('sealed_token' in body) polled.tokens.push(terminal.open(body['sealed_token']))
    else if (status === 200 && body['status'] === 'expired') polled.expired++
    // This poll collided with the poll that received the token.
    else if (status === 200 && body['status'] === 'authorization_pending') polled.pending++
    else polled.other.push(`${status} ${JSON.stringify(body)}`)
  return polled
}

async function observe(stage: Base): Promise<Observed> {
  const { cluster, options, log } = stage
  const sessions = options.sessions ?? bySize(options, 200, 20)
  log(`approving ${sessions} logins`)
  const indexes = [...Array(sessions).keys()]
  const waiting = await inParallel(indexes, concurrentApprovals, (index) => approve(stage, index))
  log(`sending ${pollsEach} concurrent polls for each login`)
  const polled: Polled[] = []
  for (const one of waiting) polled.push(await pollConcurrently(stage, one))
  const statesNow = async (): Promise<Record<string, number>> => {
    const { rows } = await cluster.sql.query('select status, count(*)::int from cli_logins group by 1')
    return Object.fromEntries(
      (rows as { status: string; count: number }[]).map(({ status, count }) => [status, count]),
    )
  }
  await until(
    'all logins to settle',
    settleMs,
    async () => (await statesNow())['fetched'] === undefined,
  ).catch(() => log('some logins are not settled'))
  await pause(100)
  const { rows } = await cluster.sql.query(
    'select count(*)::int as count from personal_access_tokens where revoked',
  )
  return {
    sessions,
    pollsEach,
    polled,
    states: await statesNow(),
    revoked: (rows[0] as { count: number }).count,
  }
}

function judge({ sessions, polled, states, revoked }: Observed) {
  const figures = createVerdict()
  figures.atLeast('sessions', polled.length, sessions)
  const tokens = polled.flatMap((one) => one.tokens)
  figures.none(
    'without_winner',
    polled.filter((one) => one.tokens.length === 0).map(({ code }) => code),
  )
  figures.none(
    'several_winners',
    polled.filter((one) => one.tokens.length > 1).map(({ code }) => code),
  )
  figures.atLeast('winners', new Set(tokens).size, sessions)
  figures.none(
    'unexpected',
    polled.flatMap(({ other }) => other),
  )
  figures.atLeast('consumed', states['consumed'] ?? 0, sessions)
  figures.atMost('revoked', revoked, 0)
  figures.show('polls', polled.length * pollsEach)
  figures.show(
    'pending',
    polled.reduce((sum, { pending }) => sum + pending, 0),
  )
  figures.show('polls_per_login_ms', lagsAt(polled.map(({ ms }) => ms).sort((a, b) => a - b)))
  return figures.verdict
}

const withFirst = (observed: Observed, change: (first: Polled) => Polled): Observed => ({
  ...observed,
  polled: changeOne(observed.polled, change),
})

export const f26: Row = createRow<Observed, Base, { replicas: number; env: Record<string, string> }>(
  (setup, options, log) => openBase(setup, options, log, async () => ({})),
  {
    id: 'F26',
    title: '100 concurrent polls for each of 200 approved CLI logins, at three replicas',
    setup: () => ({
      replicas: 3,
      env: {
        SVC_LOG_LEVEL: 'warn',
        // Raises the limits, which are not under test and would reject most of the polls.
        SVC_CLI_LOGIN_POLLS_PER_CLIENT: '1000000',
        SVC_CLI_LOGIN_POLLS_PER_LOGIN: '1000000',
      },
    }),
    limitSeconds: 600,
    observe,
    judge,
    mutants: [
      mutant('two polls receive the token', 'several_winners', (observed) =>
        withFirst(observed, (one) => ({ ...one, tokens: [...one.tokens, ...one.tokens] })),
      ),
      mutant('no poll receives the token', 'without_winner', (observed) =>
        withFirst(observed, (one) => ({ ...one, tokens: [] })),
      ),
      mutant('two logins receive the same token', 'winners', (observed) =>
        withFirst(observed, (one) => ({ ...one, tokens: observed.polled[1]?.tokens ?? one.tokens })),
      ),
      mutant('a poll fails', 'unexpected', (observed) =>
        withFirst(observed, (one) => ({ ...one, other: ['500 {}'] })),
      ),
      mutant('a delivery is not recorded', 'consumed', (observed) => ({
        states: { ...observed.states, consumed: (observed.states['consumed'] ?? 0) - 1 },
      })),
      mutant('a delivered token is revoked', 'revoked', () => ({ revoked: 1 })),
    ],
  },
)
